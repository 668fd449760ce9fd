//! The parallel iterators over strings.

use super::forms::{
    BetweenMatches, ByAsciiWords, ByChars, ByIndices, ByLines, ByMatches, ByPlaces, ByUnits, ByWords, Text,
    UpToMatches,
};
use super::pattern::Pattern;
use crate::iter::ParallelIterator;
use crate::iter::shown::shown;
use crate::iter::sources::cuts::CutPart;
use crate::iter::sources::slice;
use crate::iter::stages::Copied;

/// See [`par_bytes`](super::ParallelString::par_bytes).
pub type Bytes<'t> = Copied<slice::Iter<'t, u8>>;

/// Defines iterators over a text.
macro_rules! texts {
    ($($Iter:ident over $Item:ty: $method:ident, $Form:ident;)*) => {$(
        #[doc = concat!(
            "See [`", stringify!($method), "`](super::ParallelString::", stringify!($method), ")."
        )]
        #[must_use = "iterators are lazy and do nothing unless consumed"]
        #[derive(Debug, Clone)]
        pub struct $Iter<'t> {
            pub(super) text: &'t str,
        }

        impl<'t> ParallelIterator for $Iter<'t> {
            type Item = $Item;
            type Part<'a>
                = CutPart<Text<'t, $Form>>
            where
                Self: 'a;

            fn part(&mut self) -> Self::Part<'_> {
                CutPart::new(Text { text: self.text, from: 0, form: $Form })
            }
        }
    )*};
}

/// Defines iterators over a text by a pattern.
macro_rules! patterns {
    ($($Iter:ident over $Item:ty: $method:ident, $Form:ident [$($const:tt)*];)*) => {$(
        #[doc = concat!(
            "See [`", stringify!($method), "`](super::ParallelString::", stringify!($method), ")."
        )]
        #[must_use = "iterators are lazy and do nothing unless consumed"]
        #[derive(Clone)]
        pub struct $Iter<'t, P> {
            pub(super) text: &'t str,
            pub(super) pattern: P,
        }

        shown!([P] $Iter<'_, P>, stringify!($Iter), text);

        impl<'t, P: Pattern> ParallelIterator for $Iter<'t, P> {
            type Item = $Item;
            type Part<'a>
                = CutPart<Text<'t, $Form<'a, P $($const)*>>>
            where
                Self: 'a;

            fn part(&mut self) -> Self::Part<'_> {
                CutPart::new(Text { text: self.text, from: 0, form: $Form(&self.pattern) })
            }
        }
    )*};
}

texts! {
    Chars over char: par_chars, ByChars;
    CharIndices over (usize, char): par_char_indices, ByIndices;
    EncodeUtf16 over u16: par_encode_utf16, ByUnits;
    Lines over &'t str: par_lines, ByLines;
    SplitWhitespace over &'t str: par_split_whitespace, ByWords;
    SplitAsciiWhitespace over &'t str: par_split_ascii_whitespace, ByAsciiWords;
}

patterns! {
    Split over &'t str: par_split, BetweenMatches [];
    SplitInclusive over &'t str: par_split_inclusive, UpToMatches [, true];
    SplitTerminator over &'t str: par_split_terminator, UpToMatches [, false];
    Matches over &'t str: par_matches, ByMatches [];
    MatchIndices over (usize, &'t str): par_match_indices, ByPlaces [];
}
