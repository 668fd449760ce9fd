//! Splits a test into words, numbers and symbols, each with the bytes that it covers.
//!
//! Comments become blanks first, so that positions stay the same. In the bodies of C, `(*x)` is an
//! expression, and `//` and `/* */` are comments. Elsewhere `(* *)` is a comment. The text between
//! `<<` and `>>` after a processor's test is a comment, too.

use std::fmt;
use std::ops::Range;

use logos::Logos;

use crate::litmus::error::{ParseError, Source};

/// A token of any of the languages.
#[derive(Debug, Clone, Copy, PartialEq, Logos)]
#[logos(skip r"[ \t\r\n\f]+")]
pub(crate) enum Token<'a> {
    /// A name, an instruction, a register, a keyword.
    #[regex("[A-Za-z_][A-Za-z0-9_]*")]
    Word(&'a str),
    /// A number without its sign.
    #[regex("(0[xX][0-9a-fA-F]+|[0-9]+)[uUlL]*", |lexer| number(lexer.slice()))]
    Number(i64),
    /// Anything else that a test is made of.
    #[regex(r"/\\|\\/|&&|\|\||==|!=|<=|>=|<<|>>|=>|[-+*/%&|^~!<>=(){}\[\];:,.$#@]")]
    Symbol(&'a str),
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(text) | Token::Symbol(text) => write!(f, "`{text}`"),
            Token::Number(value) => write!(f, "`{value}`"),
        }
    }
}

fn number(text: &str) -> Option<i64> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(|value| value as i64),
        None => digits.parse().ok().map(|value: u64| value as i64),
    }
}

/// A token and the bytes that it covers.
pub(crate) type Spanned<'a> = (Token<'a>, Range<usize>);

/// The tokens of `text` from `start` on.
pub(crate) fn tokens<'a>(
    text: &'a str,
    start: usize,
    source: Source<'_>,
) -> Result<Vec<Spanned<'a>>, ParseError> {
    let spans = Token::lexer(&text[start..]).spanned();
    spans
        .map(|(token, span)| {
            let span = span.start + start..span.end + start;
            let wrong =
                |()| source.error(span.clone(), format!("`{}` belongs to no test", &text[span.clone()]));
            Ok((token.map_err(wrong)?, span))
        })
        .collect()
}

/// The text with a blank in place of each byte of a comment.
///
/// # Errors
///
/// If a comment has no end.
pub(crate) fn without_comments(text: &str, is_c: bool) -> Result<String, ParseError> {
    let mut bytes = text.as_bytes().to_vec();
    // The first block holds the initial values. The blocks after it are bodies.
    let (mut depth, mut blocks, mut next) = (0_usize, 0, 0);
    while next < bytes.len() {
        let rest = &text.as_bytes()[next..];
        let in_body = is_c && depth > 0 && blocks > 1;
        let end = match rest {
            [b'{', ..] => {
                blocks += usize::from(depth == 0);
                depth += 1;
                None
            }
            [b'}', ..] => {
                depth = depth.saturating_sub(1);
                None
            }
            [b'(', b'*', ..] if !in_body => Some(end_of_nested(rest)),
            [b'/', b'*', ..] if is_c => {
                Some(rest.windows(2).skip(2).position(|end| end == b"*/").map(|at| at + 4))
            }
            // A drawing for an older tool.
            [b'<', b'<', ..] if !is_c && depth == 0 => {
                Some(rest.windows(2).position(|end| end == b">>").map(|at| at + 2))
            }
            [b'/', b'/', ..] => Some(rest.iter().position(|byte| *byte == b'\n').or(Some(rest.len()))),
            _ => None,
        };
        match end {
            None => next += 1,
            Some(Some(length)) => {
                bytes[next..next + length]
                    .iter_mut()
                    .filter(|byte| **byte != b'\n')
                    .for_each(|byte| *byte = b' ');
                next += length;
            }
            Some(None) => return Err(Source(text).error(next..next + 2, "this comment has no end")),
        }
    }
    // Only whole characters were replaced, for the marks of comments are ASCII.
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// The length of the comment that `rest` begins with. Comments in it are part of it.
fn end_of_nested(rest: &[u8]) -> Option<usize> {
    let (mut depth, mut next) = (0, 0);
    while next + 1 < rest.len() {
        match &rest[next..next + 2] {
            b"(*" => depth += 1,
            b"*)" => depth -= 1,
            _ => {
                next += 1;
                continue;
            }
        }
        next += 2;
        if depth == 0 {
            return Some(next);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_become_blanks() {
        let text = "C a (* b\n(* c *) *) { x=0; } P0(int* x) { int r = (*x); // d\n } exists (* e *) x";
        let expected = "C a     \n           { x=0; } P0(int* x) { int r = (*x);     \n } exists         x";
        let blanked = without_comments(text, true).expect("all comments end");
        assert_eq!(blanked, expected);
        let open = without_comments("X86 a\n(* b (* c *)", false).expect_err("the comment has no end");
        assert_eq!((open.position().line, open.position().column), (2, 1));
    }

    #[test]
    fn tokens_and_their_places() {
        let text = r"MOV [x],$0x1F /\ B.EQ";
        let found = tokens(text, 0, Source(text)).expect("all belong to tests");
        let shown: Vec<String> = found.iter().map(|(token, _)| token.to_string()).collect();
        assert_eq!(shown.join(" "), r"`MOV` `[` `x` `]` `,` `$` `31` `/\` `B` `.` `EQ`");
        assert_eq!(found[6].1, 9..13);
        let wrong = tokens("a\n é", 0, Source("a\n é")).expect_err("not a token");
        assert_eq!((wrong.position().line, wrong.position().column), (2, 2));
    }
}
