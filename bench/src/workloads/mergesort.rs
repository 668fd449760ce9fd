//! Sorting by merging, where the numbers flow over channels.

#[path = "mergesort/merger.rs"]
mod merger;

use crate::{
    forms::{self, Forms, Numbers, checksum},
    job::Job,
    workload::{Case, Unit, Workload, param, size},
};
use lisle::{channel::Sender, spawn_task};
use merger::{Merger, Piece, Step};
use std::{ops::Range, sync::Arc};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "mergesort",
    about: "a million numbers; a thread for each half, down to few numbers, merges what its two halves send",
    follows: forms::FOLLOWS,
    unit: Unit::lower_is_better("ms"),
    units: &[],
    cases: &[Case::new("-", &[size("numbers", 1 << 20, 1 << 14), param("cut-off", 64)])],
    programs: &forms::in_four_forms::<Mergesort>(),
};

struct Mergesort {
    /// A power of two, as is the cut-off: every piece is full.
    numbers: Vec<u32>,
    cut_off: usize,
}

impl Mergesort {
    fn all(&self) -> Range<usize> {
        0..self.numbers.len()
    }

    /// Returns the two halves of many numbers, or few numbers, sorted.
    fn divide(&self, range: Range<usize>) -> Result<[Range<usize>; 2], Vec<u32>> {
        if range.len() > self.cut_off {
            let middle = range.start + range.len() / 2;
            return Ok([range.start..middle, middle..range.end]);
        }
        let mut few = self.numbers[range].to_vec();
        few.sort_unstable();
        Err(few)
    }

    /// The numbers from the pieces that come.
    fn result(&self, pieces: impl Iterator<Item = Piece>) -> u64 {
        let mut sorted = Vec::with_capacity(self.numbers.len());
        pieces.for_each(|piece| sorted.extend(piece));
        checksum(sorted.into_iter().map(u64::from))
    }
}

fn pieces(few: &[u32]) -> impl Iterator<Item = Piece> {
    few.as_chunks().0.iter().copied()
}

fn sort_by_fiber(this: Arc<Mergesort>, range: Range<usize>, out: Sender<Piece>) {
    lisle::spawn(move || {
        let halves = match this.divide(range) {
            Err(few) => return pieces(&few).for_each(|piece| out.send(piece).unwrap()),
            Ok(halves) => halves.map(|half| {
                let (tx, rx) = lisle::channel();
                sort_by_fiber(this.clone(), half, tx);
                rx
            }),
        };
        let mut merger = Merger::new();
        loop {
            match merger.step() {
                Step::Take(half) => merger.put(half, halves[half].recv().ok()),
                Step::Give(piece) => out.send(piece).unwrap(),
                Step::End => break,
            }
        }
    });
}

fn sort_by_task(this: Arc<Mergesort>, range: Range<usize>, out: Sender<Piece>) {
    spawn_task(async move {
        let halves = match this.divide(range) {
            Err(few) => {
                for piece in pieces(&few) {
                    drop(out.send_async_evt(piece).await);
                }
                return;
            }
            Ok(halves) => halves.map(|half| {
                let (tx, rx) = lisle::channel();
                sort_by_task(this.clone(), half, tx);
                rx
            }),
        };
        let mut merger = Merger::new();
        loop {
            match merger.step() {
                Step::Take(half) => merger.put(half, halves[half].recv_evt().await.ok()),
                Step::Give(piece) => drop(out.send_async_evt(piece).await),
                Step::End => break,
            }
        }
    });
}

impl Forms for Mergesort {
    fn input(job: &Job) -> Self {
        let mut numbers = Numbers::new(5);
        // Not the greatest, which stands for the end.
        let numbers = (0..job.param("numbers")).map(|_| numbers.next() >> 1).collect();
        Mergesort { numbers, cut_off: job.param("cut-off") as usize }
    }

    fn serial(&self) -> u64 {
        let mut sorted = self.numbers.clone();
        // The standard library's stable sort merges.
        sorted.sort();
        checksum(sorted.into_iter().map(u64::from))
    }

    fn fibers(self: &Arc<Self>) -> u64 {
        let (tx, rx) = lisle::channel();
        sort_by_fiber(self.clone(), self.all(), tx);
        self.result(rx.iter())
    }

    fn tasks(self: &Arc<Self>) -> u64 {
        let (tx, rx) = lisle::channel();
        sort_by_task(self.clone(), self.all(), tx);
        self.result(rx.iter())
    }
}
