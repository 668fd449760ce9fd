//! The outcomes of a program: the notes of its threads, in every schedule.

use lisle_check::{Checker, Ending};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The notes of the threads of one execution so far. The checker does not see them: each thread has
/// its own line, and reads no other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    /// Adds to the line of a thread.
    pub(crate) fn add(&self, thread: usize, what: impl fmt::Display) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() <= thread {
            lines.resize_with(thread + 1, String::new);
        }
        lines[thread].push_str(&what.to_string());
    }

    fn outcome(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).join(" ")
    }
}

/// Returns all outcomes of a program. That it blocks is one.
///
/// # Panics
///
/// If the program panics in a schedule, or cannot be explored to the end.
#[track_caller]
pub(crate) fn all(program: impl Fn(&Notes) + Send + Sync + 'static) -> BTreeSet<String> {
    let last = Arc::new(Mutex::new(Notes::default()));
    let of_program = last.clone();
    let mut all = BTreeSet::new();
    let program = move || {
        let notes = Notes::default();
        *of_program.lock().unwrap_or_else(PoisonError::into_inner) = notes.clone();
        program(&notes);
    };
    let verdict = Checker::new().past_failures().explore_each(program, |ending| {
        let outcome = last.lock().unwrap_or_else(PoisonError::into_inner).outcome();
        all.insert(outcome + if ending == Ending::Blocked { " blocked" } else { "" });
    });
    assert!(verdict.is_exhaustive() && verdict.counts().failed == 0, "{verdict}");
    all
}
