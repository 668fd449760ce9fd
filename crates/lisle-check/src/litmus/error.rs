//! The errors in a litmus file, with their positions.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

/// A line and a column of a file, both counted from 1. The column counts characters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourcePosition {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl fmt::Display for SourcePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// The error of a text that is no litmus test, or uses something unsupported.
///
/// It prints with the line in question, a mark below the position, and the forms that could stand
/// there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    message: String,
    help: Option<String>,
    position: SourcePosition,
    line: String,
    /// The bytes of `line` that are marked.
    mark: Range<usize>,
}

impl ParseError {
    /// Where the text is wrong.
    pub fn position(&self) -> SourcePosition {
        self.position
    }

    /// The fault, in one line.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The error with a hint.
    pub(crate) fn help(mut self, help: impl Into<String>) -> ParseError {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let snippet = Snippet::source(&self.line)
            .line_start(self.position.line)
            .annotation(AnnotationKind::Primary.span(self.mark.clone()));
        let mut group = Level::ERROR.primary_title(&self.message).element(snippet);
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help));
        }
        write!(f, "{}, {}", self.position, Renderer::plain().render(&[group]))
    }
}

impl std::error::Error for ParseError {}

/// A text in which errors are reported by the offsets of its bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a>(pub(crate) &'a str);

impl Source<'_> {
    /// The position of an offset.
    pub(crate) fn position(&self, offset: usize) -> SourcePosition {
        let before = &self.0[..offset];
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        SourcePosition { line: before.matches('\n').count() + 1, column: before[start..].chars().count() + 1 }
    }

    /// The error that the text is wrong at `span`.
    pub(crate) fn error(&self, span: Range<usize>, message: impl Into<String>) -> ParseError {
        let start = self.0[..span.start].rfind('\n').map_or(0, |end| end + 1);
        let end = self.0[span.start..].find('\n').map_or(self.0.len(), |length| span.start + length);
        let mark = span.start - start..span.end.clamp(span.start, end) - start;
        let line = self.0[start..end].trim_end_matches('\r').to_owned();
        ParseError { message: message.into(), help: None, position: self.position(span.start), line, mark }
    }

    /// The error that the text is wrong at `position`, which is one of this text.
    pub(crate) fn error_at(&self, position: SourcePosition, message: impl Into<String>) -> ParseError {
        let start: usize = self.0.split_inclusive('\n').take(position.line - 1).map(str::len).sum();
        let column = self.0[start..].char_indices().nth(position.column - 1).map_or(0, |(column, _)| column);
        let word = |c: char| c.is_alphanumeric() || "_.".contains(c);
        let rest = &self.0[start + column..];
        let width = rest.find(|c| !word(c)).unwrap_or(rest.len()).max(usize::from(!rest.is_empty()));
        self.error(start + column..start + column + width, message)
    }
}
