//! The methods of strings.

use super::Pattern;
use super::types::{
    Bytes, CharIndices, Chars, EncodeUtf16, Lines, MatchIndices, Matches, Split, SplitAsciiWhitespace,
    SplitInclusive, SplitTerminator, SplitWhitespace,
};
use crate::iter::{IntoParallelRefIterator, ParallelIterator};

/// Strings that are read piece by piece.
pub trait ParallelString {
    /// Returns the string itself.
    fn as_parallel_string(&self) -> &str;

    /// Returns an iterator over the characters, as [`str::chars`].
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!("smörgåsbord".par_chars().filter(|c| !c.is_ascii()).count(), 2);
    /// ```
    fn par_chars(&self) -> Chars<'_> {
        Chars { text: self.as_parallel_string() }
    }

    /// Returns an iterator over pairs of a position in bytes and a character, as
    /// [`str::char_indices`].
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!("öl!".par_char_indices().collect::<Vec<_>>(), [(0, 'ö'), (2, 'l'), (3, '!')]);
    /// ```
    fn par_char_indices(&self) -> CharIndices<'_> {
        CharIndices { text: self.as_parallel_string() }
    }

    /// Returns an iterator over the bytes, as [`str::bytes`]. Their number is known.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let checksum = "text".par_bytes().map(u32::from).sum::<u32>();
    /// assert_eq!(checksum, 453);
    /// ```
    fn par_bytes(&self) -> Bytes<'_> {
        self.as_parallel_string().as_bytes().par_iter().copied()
    }

    /// Returns an iterator over the UTF-16 code units, as [`str::encode_utf16`].
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let units: Vec<u16> = "𝄞!".par_encode_utf16().collect();
    /// assert_eq!(units, [0xd834, 0xdd1e, 0x21]);
    /// ```
    fn par_encode_utf16(&self) -> EncodeUtf16<'_> {
        EncodeUtf16 { text: self.as_parallel_string() }
    }

    /// Returns an iterator over the pieces between the matches of `separator`, as [`str::split`].
    ///
    /// A [`Pattern`] is a character, some characters, or a function. It is not another string.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let sum: u32 = "1, 2, 3".par_split(',').map(|n| n.trim().parse::<u32>().unwrap()).sum();
    /// assert_eq!(sum, 6);
    /// assert_eq!(",a,".par_split(',').collect::<Vec<_>>(), ["", "a", ""]);
    /// ```
    fn par_split<P: Pattern>(&self, separator: P) -> Split<'_, P> {
        Split { text: self.as_parallel_string(), pattern: separator }
    }

    /// Returns an iterator over the pieces that end with a match of `separator`, as
    /// [`str::split_inclusive`].
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let lines: Vec<&str> = "one\ntwo".par_split_inclusive('\n').collect();
    /// assert_eq!(lines, ["one\n", "two"]);
    /// ```
    fn par_split_inclusive<P: Pattern>(&self, separator: P) -> SplitInclusive<'_, P> {
        SplitInclusive { text: self.as_parallel_string(), pattern: separator }
    }

    /// Returns an iterator over the pieces before the matches of `terminator`, as
    /// [`str::split_terminator`]. It does as [`par_split`](ParallelString::par_split), but an empty
    /// piece at the end is left out.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// assert_eq!("a;;b;".par_split_terminator(';').collect::<Vec<_>>(), ["a", "", "b"]);
    /// ```
    fn par_split_terminator<P: Pattern>(&self, terminator: P) -> SplitTerminator<'_, P> {
        SplitTerminator { text: self.as_parallel_string(), pattern: terminator }
    }

    /// Returns an iterator over the lines, which end with `"\n"` or `"\r\n"`, as [`str::lines`].
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let longest = "one\r\nthree\ntwo\n".par_lines().max_by_key(|line| line.len());
    /// assert_eq!(longest, Some("three"));
    /// ```
    fn par_lines(&self) -> Lines<'_> {
        Lines { text: self.as_parallel_string() }
    }

    /// Returns an iterator over the words between whitespace, as [`str::split_whitespace`].
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let words: Vec<&str> = "  few\n words".par_split_whitespace().collect();
    /// assert_eq!(words, ["few", "words"]);
    /// ```
    fn par_split_whitespace(&self) -> SplitWhitespace<'_> {
        SplitWhitespace { text: self.as_parallel_string() }
    }

    /// Returns an iterator over the words between ASCII whitespace, as
    /// [`str::split_ascii_whitespace`].
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let words: Vec<&str> = " a\u{2003}b c".par_split_ascii_whitespace().collect();
    /// assert_eq!(words, ["a\u{2003}b", "c"]);
    /// ```
    fn par_split_ascii_whitespace(&self) -> SplitAsciiWhitespace<'_> {
        SplitAsciiWhitespace { text: self.as_parallel_string() }
    }

    /// Returns an iterator over the matches of `pattern`, as [`str::matches`].
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let digits: String = "a1b22".par_matches(|c: char| c.is_ascii_digit()).collect();
    /// assert_eq!(digits, "122");
    /// ```
    fn par_matches<P: Pattern>(&self, pattern: P) -> Matches<'_, P> {
        Matches { text: self.as_parallel_string(), pattern }
    }

    /// Returns an iterator over pairs of a position in bytes and a match of `pattern`, as
    /// [`str::match_indices`].
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::prelude::*;
    ///
    /// let last = "ab-cd-e".par_match_indices('-').max();
    /// assert_eq!(last, Some((5, "-")));
    /// ```
    fn par_match_indices<P: Pattern>(&self, pattern: P) -> MatchIndices<'_, P> {
        MatchIndices { text: self.as_parallel_string(), pattern }
    }
}

impl ParallelString for str {
    fn as_parallel_string(&self) -> &str {
        self
    }
}
