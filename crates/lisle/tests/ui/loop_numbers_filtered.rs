//! The elements that a filter leaves are numbered.

use lisle::par::prelude::*;

fn main() {
    let numbered: Vec<(usize, u32)> =
        (0..10_u32).into_par_iter().filter(|n| n % 2 == 1).enumerate().collect();
    println!("{numbered:?}");
}
