//! Models of readiness, explored by loom: one thread is kernel and driver, the others are
//! performers. Loom reports an edge that is forgotten, or slept through, as a deadlock.

use super::{Ask, DirectionState, Wakes};
use crate::shim::atomic::{AtomicUsize, Ordering};
use crate::shim::sync::Arc;
use lisle_core::Event;
use loom::thread;
use std::io;

/// Explores `model` with at most `preemptions` forced switches a run.
fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// A descriptor from which units can be read.
struct Descriptor {
    units: AtomicUsize,
    state: DirectionState,
}

impl Descriptor {
    fn new(wakes: Wakes, ready: bool) -> Arc<Self> {
        Arc::new(Descriptor { units: AtomicUsize::new(0), state: DirectionState::new(wakes, ready) })
    }

    /// Plays the kernel, which gets units one after the other, and the driver, which reports each.
    fn supply(&self, units: usize) {
        for _ in 0..units {
            self.units.fetch_add(1, Ordering::AcqRel);
            self.state.edge(false);
        }
    }

    /// Plays the system call: takes up to `most` units.
    fn take(&self, most: usize) -> io::Result<usize> {
        let taken = self.units.fetch_update(Ordering::AcqRel, Ordering::Acquire, |units| {
            (units > 0).then(|| units - units.min(most))
        });
        taken.map(|units| units.min(most)).map_err(|_| io::ErrorKind::WouldBlock.into())
    }

    /// Reads as a socket does, and waits if it must.
    fn read(&self, most: usize) -> usize {
        loop {
            match self.state.attempt(Ask::IfReady, || self.take(most), |&taken| taken < most) {
                Ok(taken) => return taken,
                Err(_) => self.state.ready().sync(),
            }
        }
    }
}

fn every_unit_is_read(preemptions: usize, wakes: Wakes, ready: bool, readers: usize, most: usize) {
    explore(preemptions, move || {
        let descriptor = Descriptor::new(wakes, ready);
        let others: Vec<_> = (1..readers)
            .map(|_| {
                let descriptor = descriptor.clone();
                thread::spawn(move || descriptor.read(1))
            })
            .collect();
        let driver = thread::spawn({
            let descriptor = descriptor.clone();
            move || descriptor.supply(2)
        });
        let mut read = 0;
        while read < 3 - readers {
            read += descriptor.read(most);
        }
        read += others.into_iter().map(|reader| reader.join().unwrap()).sum::<usize>();
        driver.join().unwrap();
        assert_eq!(read, 2);
    });
}

#[test]
fn one_reads_unit_by_unit() {
    every_unit_is_read(3, Wakes::Commit, true, 1, 1);
    every_unit_is_read(3, Wakes::Commit, false, 1, 1);
}

#[test]
fn a_short_read_loses_no_edge() {
    every_unit_is_read(3, Wakes::Commit, true, 1, 2);
    every_unit_is_read(3, Wakes::Commit, false, 1, 3);
}

#[test]
fn two_share_what_comes() {
    every_unit_is_read(2, Wakes::Commit, true, 2, 1);
    every_unit_is_read(2, Wakes::Retry, false, 2, 1);
}
