//! An event that nobody performs.

#![deny(unused_must_use)]

use lisle::{Event, choose};

fn main() {
    let (tx, rx) = lisle::channel::<u32>();
    rx.recv_evt();
    tx.send_evt(1).wrap(|sent| sent.unwrap());
    choose((lisle::always(1), lisle::never()));
    lisle::time::after(std::time::Duration::from_secs(1));
}
