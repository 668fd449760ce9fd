//! Effects and values that the tests share.

use lisle_effect::Effect;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub(crate) struct Ask;
impl Effect for Ask {
    type Answer = u32;
}

pub(crate) struct Add(pub(crate) u32);
impl Effect for Add {
    type Answer = u32;
}

pub(crate) struct Fail(pub(crate) &'static str);
impl Effect for Fail {
    type Answer = u32;
}

pub(crate) struct Yield;
impl Effect for Yield {
    type Answer = ();
}

/// Counts when it is dropped.
pub(crate) struct Counts<'a>(pub(crate) &'a Cell<u32>);

impl Drop for Counts<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

/// Calls `f`, which panics, and returns the message.
pub(crate) fn message_of<T>(f: impl FnOnce() -> T) -> String {
    let Err(panic) = catch_unwind(AssertUnwindSafe(f)) else { panic!("there was no panic") };
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => panic.downcast_ref::<&str>().expect("the payload is text").to_string(),
    }
}

/// Runs the test of this name alone, in another process, and returns what it has written to
/// standard error and whether it ended well.
pub(crate) fn elsewhere(name: &str) -> Option<(String, bool)> {
    const PART: &str = "LISLE_EFFECT_PART";
    if std::env::var(PART).is_ok_and(|part| part == name) {
        return None;
    }
    let this = std::env::current_exe().expect("the test knows where it is");
    let output = std::process::Command::new(this)
        .args(["--exact", name, "--nocapture", "--test-threads", "1"])
        .env(PART, name)
        .output()
        .expect("the test starts itself");
    Some((String::from_utf8_lossy(&output.stderr).into_owned(), output.status.success()))
}
