//! A serial iterator is used as a parallel one.

use lisle::par::prelude::*;

fn main() {
    let words = vec!["one", "two"];
    let lengths: Vec<usize> = words.iter().into_par_iter().map(|word| word.len()).collect();
    println!("{lengths:?}");
}
