//! An arm with what has waited already.

use lisle::select;

fn main() {
    let (_tx, rx) = lisle::channel::<u32>();
    select! {
        n = rx.recv() => println!("{n:?}"),
        default => (),
    }
}
