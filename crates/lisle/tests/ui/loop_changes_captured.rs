//! All participants of a loop change one variable.

use lisle::par::prelude::*;

fn main() {
    let mut sum = 0;
    (0..10).into_par_iter().for_each(|n| sum += n);
    println!("{sum}");
}
