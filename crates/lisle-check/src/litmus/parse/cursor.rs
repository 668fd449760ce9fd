//! A position in a test, with the functions for the readers.

use std::ops::Range;

use super::lexer::{Spanned, Token};
use crate::litmus::error::{ParseError, Source, SourcePosition};

/// How deep expressions and blocks may be nested. Far more than a test needs, and far less than the
/// stack has.
const NESTING: usize = 40;

/// A position among tokens, from which the readers take one after another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'a> {
    pub(crate) source: Source<'a>,
    tokens: &'a [Spanned<'a>],
    nesting: usize,
}

impl<'a> Cursor<'a> {
    /// A position before the first of `tokens`.
    pub(crate) fn new(source: Source<'a>, tokens: &'a [Spanned<'a>]) -> Cursor<'a> {
        Cursor { source, tokens, nesting: 0 }
    }

    /// The next token.
    pub(crate) fn peek(&self) -> Option<Token<'a>> {
        self.tokens.first().map(|(token, _)| *token)
    }

    /// The token after the next one.
    pub(crate) fn peek_second(&self) -> Option<Token<'a>> {
        self.tokens.get(1).map(|(token, _)| *token)
    }

    /// Takes the next token.
    pub(crate) fn take(&mut self) -> Option<Token<'a>> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first.0)
    }

    /// Takes the tokens before the first for which `ends` returns `true`.
    pub(crate) fn until(&mut self, ends: impl Fn(Token<'a>) -> bool) -> Cursor<'a> {
        let length = self.tokens.iter().position(|(token, _)| ends(*token)).unwrap_or(self.tokens.len());
        let (before, rest) = self.tokens.split_at(length);
        self.tokens = rest;
        Cursor { tokens: before, ..*self }
    }

    /// The bytes of the next token; at the end the last byte of the text.
    pub(crate) fn span(&self) -> Range<usize> {
        let end = self.source.0.trim_end().len();
        self.tokens.first().map_or(end.saturating_sub(1)..end, |(_, span)| span.clone())
    }

    /// The position of the next token.
    pub(crate) fn position(&self) -> SourcePosition {
        self.source.position(self.span().start)
    }

    /// The error that the next token is wrong.
    pub(crate) fn error(&self, message: impl Into<String>) -> ParseError {
        self.source.error(self.span(), message)
    }

    /// The error that something else should stand here.
    pub(crate) fn expected(&self, wanted: &str) -> ParseError {
        match self.peek() {
            Some(token) => self.error(format!("expected {wanted}, found {token}")),
            None => self.error(format!("expected {wanted}, found the end")),
        }
    }

    /// Returns `true` if the next token is this symbol, and takes it then.
    pub(crate) fn takes(&mut self, symbol: &str) -> bool {
        let found = self.peek() == Some(Token::Symbol(symbol));
        if found {
            self.take();
        }
        found
    }

    /// Returns `true` if the next token is this word, and takes it then.
    pub(crate) fn takes_word(&mut self, word: &str) -> bool {
        let found = self.peek() == Some(Token::Word(word));
        if found {
            self.take();
        }
        found
    }

    /// Takes a symbol that must stand here.
    pub(crate) fn symbol(&mut self, symbol: &str) -> Result<(), ParseError> {
        if self.takes(symbol) { Ok(()) } else { Err(self.expected(&format!("`{symbol}`"))) }
    }

    /// Takes a word that must stand here.
    pub(crate) fn word(&mut self, wanted: &str) -> Result<&'a str, ParseError> {
        match self.peek() {
            Some(Token::Word(word)) => {
                self.take();
                Ok(word)
            }
            _ => Err(self.expected(wanted)),
        }
    }

    /// Takes a number that must stand here, with or without a sign.
    pub(crate) fn number(&mut self) -> Result<i64, ParseError> {
        let negative = self.takes("-");
        match self.peek() {
            Some(Token::Number(value)) => {
                self.take();
                Ok(if negative { value.wrapping_neg() } else { value })
            }
            _ => Err(self.expected("a number")),
        }
    }

    /// Enters a construct that may contain itself; [`leave`](Self::leave) leaves it.
    pub(crate) fn enter(&mut self) -> Result<(), ParseError> {
        self.nesting += 1;
        if self.nesting > NESTING {
            Err(self.error("this is too long, or nested too deeply"))
        } else {
            Ok(())
        }
    }

    /// Leaves a construct that [`enter`](Self::enter) has entered.
    pub(crate) fn leave(&mut self) {
        self.nesting -= 1;
    }

    /// Fails unless all tokens are taken.
    pub(crate) fn end(&self) -> Result<(), ParseError> {
        if self.tokens.is_empty() { Ok(()) } else { Err(self.expected("the end")) }
    }
}
