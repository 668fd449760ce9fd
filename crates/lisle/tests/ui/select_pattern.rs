//! An arm whose pattern need not match.

use lisle::select;

fn main() {
    let (_tx, rx) = lisle::channel::<u32>();
    select! {
        Ok(n) = rx.recv_evt() => println!("{n}"),
        default => (),
    }
}
