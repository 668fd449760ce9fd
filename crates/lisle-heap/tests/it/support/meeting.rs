//! Threads of a test that wait for each other, and that all fail when one does.

use std::sync::{Condvar, Mutex};
use std::thread;

/// A barrier that breaks when one of its threads panics: then the others panic too, and do not wait for ever.
pub(crate) struct Meeting {
    threads: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: usize,
    meetings: usize,
    broken: bool,
}

/// Breaks the meeting if its thread panics.
struct Breaks<'a>(&'a Meeting);

impl Drop for Breaks<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.state.lock().unwrap().broken = true;
            self.0.changed.notify_all();
        }
    }
}

impl Meeting {
    fn new(threads: usize) -> Self {
        Self { threads, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Waits until all threads wait here. No thread may be inside a heap meanwhile.
    pub(crate) fn wait(&self) {
        let mut state = self.state.lock().unwrap();
        state.waiting += 1;
        if state.waiting == self.threads {
            state.waiting = 0;
            state.meetings += 1;
            self.changed.notify_all();
        } else {
            let this = state.meetings;
            state = self.changed.wait_while(state, |state| state.meetings == this && !state.broken).unwrap();
        }
        let broken = state.broken;
        drop(state);
        assert!(!broken, "another thread of this test has failed");
    }

    /// Panics if another thread has. A loop that waits for another thread calls this.
    pub(crate) fn check(&self) {
        let broken = self.state.lock().unwrap().broken;
        assert!(!broken, "another thread of this test has failed");
    }
}

/// Calls `f` on so many threads at once, with the number of each and their meeting, and returns the results.
pub(crate) fn together<R: Send>(threads: usize, f: impl Fn(usize, &Meeting) -> R + Sync) -> Vec<R> {
    let meeting = Meeting::new(threads);
    let run = |index| {
        let _breaks = Breaks(&meeting);
        f(index, &meeting)
    };
    thread::scope(|t| {
        let run = &run;
        let threads: Vec<_> = (0..threads).map(|index| t.spawn(move || run(index))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}
