//! The alternatives of a choice give values of different types.

use lisle::{Event, choose};
use std::time::Duration;

fn main() {
    let (_tx, rx) = lisle::channel::<u32>();
    let _ = choose((rx.recv_evt(), lisle::time::after(Duration::from_secs(1)))).sync();
}
