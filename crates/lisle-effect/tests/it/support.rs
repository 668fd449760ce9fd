//! Effects and values that the tests share.

use lisle_effect::Effect;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;

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

/// Runs the test of this name alone, in another process, and returns its standard error, and
/// whether it ended well.
pub(crate) fn elsewhere(name: &str) -> Option<(String, bool)> {
    case(name).is_none().then(|| elsewhere_with(name, ""))
}

/// Does the same, with a name of a case for the test, which [`case`] returns there.
pub(crate) fn elsewhere_with(name: &str, case: &str) -> (String, bool) {
    let output = this_program()
        .args(["--exact", name, "--nocapture", "--test-threads", "1"])
        .env(PART, format!("{name} {case}"))
        .output()
        .expect("the test starts itself");
    (String::from_utf8_lossy(&output.stderr).into_owned(), output.status.success())
}

/// The program of these tests once more: by way of the emulator that runs this one, if
/// `LISLE_TEST_RUNNER` names one with its arguments. The system cannot start it otherwise.
fn this_program() -> Command {
    let program = std::env::current_exe().expect("the test knows where it is");
    let runner = std::env::var("LISLE_TEST_RUNNER").unwrap_or_default();
    let mut words = runner.split_whitespace();
    let Some(emulator) = words.next() else { return Command::new(program) };
    let mut command = Command::new(emulator);
    command.args(words).arg(program);
    command
}

const PART: &str = "LISLE_EFFECT_PART";

/// Returns the case that the test of this name is to run in this process, if it was started for that.
pub(crate) fn case(name: &str) -> Option<String> {
    std::env::var(PART).ok()?.strip_prefix(name)?.strip_prefix(' ').map(str::to_owned)
}
