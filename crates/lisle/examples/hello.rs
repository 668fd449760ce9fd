//! Fibers, a channel, and a choice between a message and a timeout.
//!
//! Run it with `cargo run -p lisle --example hello`.

use lisle::time::{after, sleep};
use lisle::{Event, channel, choose};
use std::time::Duration;

fn main() {
    lisle::run(|| {
        let (tx, rx) = channel();
        for name in ["Ada", "Grace", "Barbara"] {
            let tx = tx.clone();
            lisle::spawn(move || {
                sleep(Duration::from_millis(10 * name.len() as u64));
                // A rendezvous: `send` returns when the message has been taken.
                tx.send(format!("hello from {name}")).expect("a receiver is left");
            });
        }

        // `tx` is still alive, so the channel stays open and waiting without a timeout would never
        // end. One event is used for all rounds; its timeout starts anew with each performance.
        let next =
            choose((rx.recv_evt().wrap(Result::ok), after(Duration::from_millis(200)).wrap(|()| None)));
        let mut heard = 0;
        while let Some(greeting) = next.sync() {
            println!("{greeting}");
            heard += 1;
        }
        println!("no more within 200 ms");
        assert_eq!(heard, 3);
    });
}
