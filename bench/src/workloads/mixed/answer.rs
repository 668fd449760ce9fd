//! A server's answer: how far its loop is.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

pub(crate) const REQUEST: usize = 8;
pub(crate) const ANSWER: usize = 24;

/// The progress of the loop.
pub(crate) struct Progress {
    rows: AtomicU64,
    /// Of the first picture; 0 as long as there is none.
    checksum: AtomicU64,
}

impl Progress {
    pub(crate) const fn new() -> Self {
        Progress { rows: AtomicU64::new(0), checksum: AtomicU64::new(0) }
    }

    pub(crate) fn row(&self) {
        self.rows.fetch_add(1, Relaxed);
    }

    pub(crate) fn picture(&self, checksum: impl FnOnce() -> u64) {
        if self.checksum.load(Relaxed) == 0 {
            self.checksum.store(checksum(), Relaxed);
        }
    }

    /// The request's own number, the rows that there have been, and the checksum.
    pub(crate) fn answer(&self, request: [u8; REQUEST]) -> [u8; ANSWER] {
        let [rows, checksum] = [&self.rows, &self.checksum].map(|own| own.load(Relaxed).to_le_bytes());
        let mut answer = [0; ANSWER];
        for (own, value) in answer.chunks_exact_mut(8).zip([request, rows, checksum]) {
            own.copy_from_slice(&value);
        }
        answer
    }
}
