//! The sizes of cells. Up to 16 words each number of words has a cell of its own. After that four sizes
//! follow between a power of two and the next, so at most a fifth of a cell is unused.

/// The words of the largest cell, the header included.
pub(crate) const LARGEST_CELL: usize = 128;

/// The smallest cell has a header and one word.
const SMALLEST: usize = 2;
const EACH: usize = 16;

/// The number of sizes.
pub(super) const CLASSES: usize = (EACH - SMALLEST + 1) + 4 * 3;

const WORDS: [usize; CLASSES] = {
    let mut words = [0; CLASSES];
    let mut class = 0;
    while class < CLASSES {
        let small = class + SMALLEST;
        words[class] = if small <= EACH {
            small
        } else {
            let beyond = small - EACH - 1;
            let step = 4 << (beyond / 4);
            4 * step + step * (beyond % 4 + 1)
        };
        class += 1;
    }
    words
};

const CLASS_OF: [u8; LARGEST_CELL + 1] = {
    let mut classes = [0; LARGEST_CELL + 1];
    let (mut words, mut class) = (0, 0);
    while words <= LARGEST_CELL {
        if words > WORDS[class] {
            class += 1;
        }
        classes[words] = class as u8;
        words += 1;
    }
    classes
};

/// Returns the number of the smallest size that has room for so many words.
#[inline]
pub(super) fn class_of(words: usize) -> usize {
    usize::from(CLASS_OF[words])
}

pub(super) fn words_of_class(class: usize) -> usize {
    WORDS[class]
}

#[cfg(test)]
mod tests {
    use super::{CLASSES, LARGEST_CELL, SMALLEST, WORDS, class_of, words_of_class};

    #[test]
    fn each_number_of_words_has_the_smallest_cell_that_is_large_enough() {
        assert!(WORDS.is_sorted() && WORDS[CLASSES - 1] == LARGEST_CELL, "{WORDS:?}");
        for words in SMALLEST..=LARGEST_CELL {
            let class = class_of(words);
            let cell = words_of_class(class);
            assert!(cell >= words && (class == 0 || words_of_class(class - 1) < words), "{words} in {cell}");
            assert!((cell - words) * 5 <= cell, "{words} in {cell}");
        }
    }
}
