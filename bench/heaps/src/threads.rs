//! Threads that share work.

use std::ops::Range;
use std::thread;

/// What one of the threads does of the work, which is the same for each number of threads.
#[derive(Clone, Copy)]
pub struct Share {
    pub index: usize,
    pub threads: usize,
}

impl Share {
    pub fn is_first(self) -> bool {
        self.index == 0
    }

    pub fn is_last(self) -> bool {
        self.index + 1 == self.threads
    }

    /// Returns this share of so many things, by their numbers.
    pub fn of(self, things: usize) -> Range<usize> {
        things * self.index / self.threads..things * (self.index + 1) / self.threads
    }
}

/// Calls `f` on so many threads, each with its share, and returns the results in the order of the shares.
pub fn on_threads<T: Send>(threads: usize, f: impl Fn(Share) -> T + Sync) -> Vec<T> {
    let f = &f;
    thread::scope(|t| {
        let threads: Vec<_> =
            (0..threads).map(|index| t.spawn(move || f(Share { index, threads }))).collect();
        threads.into_iter().map(|thread| thread.join().expect("the thread has done its share")).collect()
    })
}
