//! What is searched for in a text.

mod sealed {
    pub trait Sealed {}
    impl Sealed for char {}
    impl Sealed for &[char] {}
    impl<const N: usize> Sealed for [char; N] {}
    impl<const N: usize> Sealed for &[char; N] {}
    impl<F: Fn(char) -> bool> Sealed for F {}
}

/// A pattern of one character: a `char`, some of which any matches (`&[char]`, `[char; N]`), or a
/// function that says whether a character matches.
///
/// ```
/// # use lisle_par::facade as lisle;
/// use lisle::par::prelude::*;
///
/// let text = "a-b c";
/// assert_eq!(text.par_split('-').count(), 2);
/// assert_eq!(text.par_split([' ', '-']).count(), 3);
/// assert_eq!(text.par_split(|c: char| !c.is_alphabetic()).count(), 3);
/// ```
pub trait Pattern: Sync + Send + sealed::Sealed {
    /// Returns the positions of the first and after the last byte of the first match in `text`.
    fn first_in(&self, text: &str) -> Option<(usize, usize)>;
}

/// Returns the place of the first character for which `matches` returns `true`.
pub(super) fn first(text: &str, matches: impl Fn(char) -> bool) -> Option<(usize, usize)> {
    let (at, found) = text.char_indices().find(|&(_, c)| matches(c))?;
    Some((at, at + found.len_utf8()))
}

impl Pattern for char {
    fn first_in(&self, text: &str) -> Option<(usize, usize)> {
        text.find(*self).map(|at| (at, at + self.len_utf8()))
    }
}

impl Pattern for &[char] {
    fn first_in(&self, text: &str) -> Option<(usize, usize)> {
        first(text, |c| self.contains(&c))
    }
}

impl<const N: usize> Pattern for [char; N] {
    fn first_in(&self, text: &str) -> Option<(usize, usize)> {
        first(text, |c| self.contains(&c))
    }
}

impl<const N: usize> Pattern for &[char; N] {
    fn first_in(&self, text: &str) -> Option<(usize, usize)> {
        first(text, |c| self.contains(&c))
    }
}

impl<F: Fn(char) -> bool + Sync + Send> Pattern for F {
    fn first_in(&self, text: &str) -> Option<(usize, usize)> {
        first(text, self)
    }
}
