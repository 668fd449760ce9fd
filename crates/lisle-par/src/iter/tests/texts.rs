//! Iterators over strings, wherever their loops are divided.

use super::splits::divided;
use crate::prelude::*;
use crate::shim::random::Random;
use std::fmt::Debug;

const SEEDS: u64 = if cfg!(miri) { 2 } else { 1_000 };

/// Returns a text of characters of all lengths, many of which are separators.
fn text(random: &Random) -> String {
    const CHARS: [&str; 14] =
        ["a", "b", ",", ",", "ß", "€", "𝄞", " ", "\n", "\r\n", "\t", "\u{2003}", "\u{85}", "\r"];
    let variety = 1 + random.next() as usize % CHARS.len();
    let first = random.next() as usize;
    let len = random.next() % 4 * (random.next() % 15);
    (0..len).map(|_| CHARS[(first + random.next() as usize % variety) % CHARS.len()]).collect()
}

fn check<I>(seed: u64, iter: impl Fn() -> I, serial: impl Iterator<Item = I::Item>)
where
    I: ParallelIterator<Item: PartialEq + Debug>,
{
    let serial: Vec<_> = serial.collect();
    divided(seed, || {
        assert_eq!(iter().collect::<Vec<_>>(), serial);
        assert_eq!(iter().count(), serial.len());
        assert_eq!(iter().find_first(|_| true).as_ref(), serial.first());
        assert_eq!(iter().find_last(|_| true).as_ref(), serial.last());
        // As a part of another iterator.
        assert!(iter().chain(iter()).collect::<Vec<_>>().iter().eq(serial.iter().chain(&serial)));
    });
}

#[test]
fn characters_and_words_are_those_of_std() {
    for seed in 0..SEEDS {
        let text = &text(&Random::seeded(seed))[..];
        check(seed, || text.par_chars(), text.chars());
        check(seed, || text.par_char_indices(), text.char_indices());
        check(seed, || text.par_bytes(), text.bytes());
        check(seed, || text.par_encode_utf16(), text.encode_utf16());
        check(seed, || text.par_lines(), text.lines());
        check(seed, || text.par_split_whitespace(), text.split_whitespace());
        check(seed, || text.par_split_ascii_whitespace(), text.split_ascii_whitespace());
        assert_eq!(text.par_bytes().len(), text.len());
    }
}

#[test]
fn pieces_are_those_of_std() {
    for seed in 0..SEEDS {
        let random = Random::seeded(seed);
        let text = &text(&random)[..];
        let few = [',', 'ß', '𝄞', '\n'];
        let one = few[random.next() as usize % few.len()];
        macro_rules! check_all {
            ($($method:ident, $par_method:ident;)*) => {$(
                check(seed, || text.$par_method(one), text.$method(one));
                check(seed, || text.$par_method(few), text.$method(few));
                check(seed, || text.$par_method(&few), text.$method(&few));
                check(seed, || text.$par_method(&few[..2]), text.$method(&few[..2]));
                check(seed, || text.$par_method(char::is_alphabetic), text.$method(char::is_alphabetic));
                check(seed, || text.$par_method(|c| c == one), text.$method(|c| c == one));
            )*};
        }
        check_all! {
            split, par_split;
            split_inclusive, par_split_inclusive;
            split_terminator, par_split_terminator;
            matches, par_matches;
            match_indices, par_match_indices;
        }
    }
}

/// A long piece is searched by each block once, and not once more from each block on.
#[test]
fn a_text_without_separators_takes_no_longer() {
    let text = "x".repeat(if cfg!(miri) { 1 << 10 } else { 1 << 20 });
    let looked = std::sync::atomic::AtomicUsize::new(0);
    let is_separator = |c: char| {
        looked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        c == '|'
    };
    assert_eq!(text.par_split(is_separator).grain(64).map(str::len).sum::<usize>(), text.len());
    assert!(looked.into_inner() <= 3 * text.len());
}

#[test]
fn they_are_shown_and_copied() {
    let text = "a b";
    assert_eq!(format!("{:?}", text.par_chars()), r#"Chars { text: "a b" }"#);
    let pieces = text.par_split(|c: char| c == ' ');
    assert_eq!(format!("{pieces:?}"), r#"Split { text: "a b", .. }"#);
    assert!(pieces.clone().eq_items(pieces));
}

trait EqItems: ParallelIterator<Item: PartialEq + Debug> {
    fn eq_items(self, other: Self) -> bool {
        self.collect::<Vec<_>>() == other.collect::<Vec<_>>()
    }
}

impl<I: ParallelIterator<Item: PartialEq + Debug>> EqItems for I {}
