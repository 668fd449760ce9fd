//! The report that the system refuses a thread.

use super::{Report, here};
use crate::shim::atomic::{AtomicBool, Ordering};
use std::fmt;
use std::io;

/// A report that the system refuses a thread, where no caller can be given the error.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NoThread {
    /// The purpose of the thread, the system's error, and the limits to raise.
    pub error: String,
    /// The consequence until there is a thread.
    pub meanwhile: &'static str,
}

impl NoThread {
    pub(crate) fn new(error: &io::Error, meanwhile: &'static str) -> Self {
        NoThread { error: error.to_string(), meanwhile }
    }
}

impl fmt::Display for NoThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NoThread { error, meanwhile } = self;
        write!(f, "{error}. Meanwhile, {meanwhile}")
    }
}

/// Reports that a thread is refused, to the runtime of the calling thread, if it works for one. Does
/// nothing if `is_said` is set, and sets it.
#[cold]
pub fn no_thread(is_said: &AtomicBool, error: &io::Error, meanwhile: &'static str) {
    if !is_said.swap(true, Ordering::Relaxed) {
        here(&Report::NoThread(NoThread::new(error, meanwhile)));
    }
}
