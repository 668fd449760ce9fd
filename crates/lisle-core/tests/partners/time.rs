//! Deadlines of threads and of futures: the clock thread commits them.

use crate::executor::{block_on, poll_once};
use crate::ways::{WAYS, perform};
use crate::{rounds, start};
use lisle_core::time::{after, ticker};
use lisle_core::{Event, choose};
use std::pin::pin;
use std::thread::scope;
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_micros(100);

#[test]
fn times_come_and_are_left() {
    scope(|scope| {
        for first in start()..start() + 2 {
            scope.spawn(move || {
                for way in first..first + rounds(4 * WAYS, 2) {
                    let begun = Instant::now();
                    let came = perform(way, after(SHORT)).is_some();
                    assert!(!came || begun.elapsed() >= SHORT);
                    poll_once(pin!(choose((after(SHORT), after(Duration::MAX))).future()));
                    block_on(choose((after(SHORT), after(Duration::MAX))).future());
                }
            });
        }
    });
}

#[test]
fn limits_beside_messages() {
    let (tx, rx) = lisle_core::channel::<Box<usize>>();
    scope(|scope| {
        scope.spawn(|| {
            for number in 0..rounds(500, 3) {
                let _ = tx.send_timeout(Box::new(number), SHORT);
            }
        });
        scope.spawn(|| {
            for _ in 0..rounds(500, 3) {
                let _ = rx.recv_timeout(SHORT);
                poll_once(pin!(choose((rx.recv_evt().wrap(|_| ()), after(SHORT))).future()));
            }
        });
    });
}

#[test]
fn ticks_are_shared_by_performers() {
    let ticker = ticker(SHORT);
    scope(|scope| {
        for first in start()..start() + 2 {
            let ticker = &ticker;
            scope.spawn(move || {
                for way in first..first + rounds(2 * WAYS, 2) {
                    perform(way, ticker.tick_evt());
                }
            });
        }
    });
}
