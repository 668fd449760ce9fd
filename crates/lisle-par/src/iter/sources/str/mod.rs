//! Parallel iterators over strings.
//!
//! A step of such a loop is a byte: this is what [`grain`](crate::iter::ParallelIterator::grain)
//! and a [`Progress`](crate::Progress) count. A text is divided only between two characters, or
//! after a separator.

pub(super) mod forms;
mod pattern;
mod text;
mod types;

pub use pattern::Pattern;
pub use text::ParallelString;
pub use types::{
    Bytes, CharIndices, Chars, EncodeUtf16, Lines, MatchIndices, Matches, Split, SplitAsciiWhitespace,
    SplitInclusive, SplitTerminator, SplitWhitespace,
};
