//! The ways to iterate over a text: where it can be divided, and what the items are.

use super::pattern::{Pattern, first};
use crate::iter::sources::cuts::{Cut, CutPoint};
use std::iter::Map;
use std::ops::Range;
use std::str;

/// A way to iterate over a text.
pub trait Form: Copy + Send {
    /// The type of the items.
    type Item<'t>;
    /// The plain iterator over the items.
    type Items<'t>: Iterator<Item = Self::Item<'t>>;

    /// Whether there is an item also if the text is empty.
    const HAS_END: bool = false;

    /// Returns the first point in these bytes where `text` can be divided.
    fn point(self, text: &str, bytes: Range<usize>) -> Option<CutPoint>;

    /// Returns the items of `text`, whose first byte is byte `from` of the whole.
    fn items(self, text: &str, from: usize) -> Self::Items<'_>;
}

/// A text, and the way to iterate over it.
#[derive(Debug)]
pub struct Text<'t, F> {
    pub(in crate::iter::sources) text: &'t str,
    /// The position of its first byte in the whole text.
    pub(in crate::iter::sources) from: usize,
    pub(in crate::iter::sources) form: F,
}

impl<'t, F: Form> Cut for Text<'t, F> {
    type Item = F::Item<'t>;
    type Items = F::Items<'t>;

    fn steps(&self) -> usize {
        self.text.len() + usize::from(F::HAS_END)
    }

    fn point(&self, steps: Range<usize>) -> Option<CutPoint> {
        self.form.point(self.text, steps)
    }

    fn cut(self, point: CutPoint) -> (Self, Self) {
        let Text { text, from, form } = self;
        (
            Text { text: &text[..point.end], from, form },
            Text { text: &text[point.begin..], from: from + point.begin, form },
        )
    }

    fn items(self) -> Self::Items {
        self.form.items(self.text, self.from)
    }
}

/// Returns the first boundary of a character at or after byte `at`.
fn boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
}

/// Returns the begin and the end of the first match that begins in these bytes.
fn found(
    text: &str,
    bytes: Range<usize>,
    search: impl Fn(&str) -> Option<(usize, usize)>,
) -> Option<(usize, usize)> {
    let from = boundary(text, bytes.start);
    let (begin, end) = search(text.get(from..boundary(text, bytes.end))?)?;
    Some((from + begin, from + end))
}

/// Returns the point with the match that begins and ends here between the halves.
fn around((at, end): (usize, usize)) -> CutPoint {
    CutPoint { at, end: at, begin: end }
}

/// Returns the point after the match that begins and ends here.
fn after((at, end): (usize, usize)) -> CutPoint {
    CutPoint { at, end, begin: end }
}

/// Defines forms whose texts can be divided between any two characters.
macro_rules! between_characters {
    ($(
        $Form:ident [$($param:tt)*] [$($bound:tt)*] $Item:ty, $Items:ty,
        |$this:pat_param, $text:ident, $from:ident| $items:expr;
    )*) => {$(
        impl<$($bound)*> Form for $Form<$($param)*> {
            type Item<'t> = $Item;
            type Items<'t> = $Items;

            fn point(self, text: &str, bytes: Range<usize>) -> Option<CutPoint> {
                let at = boundary(text, bytes.start);
                (at < text.len()).then_some(CutPoint::between(at))
            }

            fn items(self, $text: &str, $from: usize) -> Self::Items<'_> {
                let $this = self;
                $items
            }
        }
    )*};
}

/// Its characters.
#[derive(Debug, Clone, Copy)]
pub struct ByChars;

/// Its characters, each with its position.
#[derive(Debug, Clone, Copy)]
pub struct ByIndices;

/// Its UTF-16 code units.
#[derive(Debug, Clone, Copy)]
pub struct ByUnits;

/// The matches of a pattern.
#[derive(Debug)]
pub struct ByMatches<'p, P>(pub(super) &'p P);

/// The matches of a pattern, each with its position.
#[derive(Debug)]
pub struct ByPlaces<'p, P>(pub(super) &'p P);

/// The pieces between two matches.
#[derive(Debug)]
pub struct BetweenMatches<'p, P>(pub(super) &'p P);

/// The pieces up to and with the next match, or without it if `KEEP` is not set.
#[derive(Debug)]
pub struct UpToMatches<'p, P, const KEEP: bool>(pub(super) &'p P);

/// Its lines.
#[derive(Debug, Clone, Copy)]
pub struct ByLines;

/// The words between whitespace.
#[derive(Debug, Clone, Copy)]
pub struct ByWords;

/// The words between ASCII whitespace.
#[derive(Debug, Clone, Copy)]
pub struct ByAsciiWords;

// A derived implementation would require `P: Clone`.
macro_rules! copied {
    ($($Form:ident [$($generics:tt)*] [$($param:tt)*];)*) => {$(
        impl<$($generics)*> Clone for $Form<$($param)*> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<$($generics)*> Copy for $Form<$($param)*> {}
    )*};
}

copied! {
    ByMatches ['p, P] ['p, P];
    ByPlaces ['p, P] ['p, P];
    BetweenMatches ['p, P] ['p, P];
    UpToMatches ['p, P, const KEEP: bool] ['p, P, KEEP];
}

between_characters! {
    ByChars [] [] char, str::Chars<'t>, |_, text, _from| text.chars();
    ByIndices [] [] (usize, char), Indices<'t>, |_, text, from| Indices { chars: text.char_indices(), from };
    ByUnits [] [] u16, str::EncodeUtf16<'t>, |_, text, _from| text.encode_utf16();
    ByPlaces ['p, P] ['p, P: Pattern] (usize, &'t str), Places<'t, 'p, P>,
        |ByPlaces(pattern), text, from| Places { rest: text, from, pattern };
    ByMatches ['p, P] ['p, P: Pattern] &'t str, Map<Places<'t, 'p, P>, fn((usize, &'t str)) -> &'t str>,
        |ByMatches(pattern), text, from| Places { rest: text, from, pattern }.map(|point| point.1);
}

impl<'p, P: Pattern> Form for BetweenMatches<'p, P> {
    type Item<'t> = &'t str;
    type Items<'t> = Between<'t, 'p, P>;

    const HAS_END: bool = true;

    fn point(self, text: &str, bytes: Range<usize>) -> Option<CutPoint> {
        found(text, bytes, |rest| self.0.first_in(rest)).map(around)
    }

    fn items(self, text: &str, _: usize) -> Self::Items<'_> {
        Between { rest: Some(text), pattern: self.0 }
    }
}

impl<'p, P: Pattern, const KEEP: bool> Form for UpToMatches<'p, P, KEEP> {
    type Item<'t> = &'t str;
    type Items<'t> = UpTo<'t, 'p, P, KEEP>;

    fn point(self, text: &str, bytes: Range<usize>) -> Option<CutPoint> {
        found(text, bytes, |rest| self.0.first_in(rest)).map(after)
    }

    fn items(self, text: &str, _: usize) -> Self::Items<'_> {
        UpTo { rest: text, pattern: self.0 }
    }
}

impl Form for ByLines {
    type Item<'t> = &'t str;
    type Items<'t> = str::Lines<'t>;

    fn point(self, text: &str, bytes: Range<usize>) -> Option<CutPoint> {
        found(text, bytes, |rest| '\n'.first_in(rest)).map(after)
    }

    fn items(self, text: &str, _: usize) -> Self::Items<'_> {
        text.lines()
    }
}

impl Form for ByWords {
    type Item<'t> = &'t str;
    type Items<'t> = str::SplitWhitespace<'t>;

    fn point(self, text: &str, bytes: Range<usize>) -> Option<CutPoint> {
        found(text, bytes, |rest| first(rest, char::is_whitespace)).map(around)
    }

    fn items(self, text: &str, _: usize) -> Self::Items<'_> {
        text.split_whitespace()
    }
}

impl Form for ByAsciiWords {
    type Item<'t> = &'t str;
    type Items<'t> = str::SplitAsciiWhitespace<'t>;

    fn point(self, text: &str, bytes: Range<usize>) -> Option<CutPoint> {
        found(text, bytes, |rest| first(rest, |c| c.is_ascii_whitespace())).map(around)
    }

    fn items(self, text: &str, _: usize) -> Self::Items<'_> {
        text.split_ascii_whitespace()
    }
}

/// The iterator of a [`ByIndices`].
#[derive(Debug)]
pub struct Indices<'t> {
    chars: str::CharIndices<'t>,
    from: usize,
}

impl Iterator for Indices<'_> {
    type Item = (usize, char);

    #[inline]
    fn next(&mut self) -> Option<(usize, char)> {
        let (at, c) = self.chars.next()?;
        Some((self.from + at, c))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.chars.size_hint()
    }
}

/// The iterator of a [`ByPlaces`].
#[derive(Debug)]
pub struct Places<'t, 'p, P> {
    rest: &'t str,
    from: usize,
    pattern: &'p P,
}

impl<'t, P: Pattern> Iterator for Places<'t, '_, P> {
    type Item = (usize, &'t str);

    #[inline]
    fn next(&mut self) -> Option<(usize, &'t str)> {
        let (begin, end) = self.pattern.first_in(self.rest)?;
        let item = (self.from + begin, &self.rest[begin..end]);
        self.rest = &self.rest[end..];
        self.from += end;
        Some(item)
    }
}

/// The iterator of a [`BetweenMatches`].
#[derive(Debug)]
pub struct Between<'t, 'p, P> {
    rest: Option<&'t str>,
    pattern: &'p P,
}

impl<'t, P: Pattern> Iterator for Between<'t, '_, P> {
    type Item = &'t str;

    #[inline]
    fn next(&mut self) -> Option<&'t str> {
        let rest = self.rest.take()?;
        Some(self.pattern.first_in(rest).map_or(rest, |(begin, end)| {
            self.rest = Some(&rest[end..]);
            &rest[..begin]
        }))
    }
}

/// The iterator of an [`UpToMatches`].
#[derive(Debug)]
pub struct UpTo<'t, 'p, P, const KEEP: bool> {
    rest: &'t str,
    pattern: &'p P,
}

impl<'t, P: Pattern, const KEEP: bool> Iterator for UpTo<'t, '_, P, KEEP> {
    type Item = &'t str;

    #[inline]
    fn next(&mut self) -> Option<&'t str> {
        if self.rest.is_empty() {
            return None;
        }
        let (begin, end) = self.pattern.first_in(self.rest).unwrap_or((self.rest.len(), self.rest.len()));
        let (piece, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(if KEEP { piece } else { &piece[..begin] })
    }
}
