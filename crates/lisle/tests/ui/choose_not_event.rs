//! A choice of the result of a wait, and of a future.

use lisle::{Event, choose};

fn main() {
    let (_tx, rx) = lisle::channel::<u32>();
    let _ = choose((rx.recv(), lisle::never())).sync();
    let _ = choose((async { 1 }, lisle::never())).sync();
}
