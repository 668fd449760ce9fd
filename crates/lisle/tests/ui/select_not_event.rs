//! An arm with the result of a wait.

use lisle::select;

fn main() {
    let (_tx, rx) = lisle::channel::<u32>();
    select! {
        n = rx.recv() => println!("{n:?}"),
        default => (),
    }
}
