//! The schedule is told also where the process ends in it.

use lisle::spawn;
use lisle::sync::IVar;
use lisle_check::Checker;
use lisle_check::atomic::{AtomicU32, Ordering::SeqCst};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};
use std::sync::Arc;

/// Calls `leave` in those schedules in which the other fiber comes first.
fn leaves_in_some_schedules(leave: fn()) {
    Checker::new().check(move || {
        let value = Arc::new(AtomicU32::new(0));
        let other = value.clone();
        let other = spawn(move || other.store(1, SeqCst));
        if value.load(SeqCst) == 1 {
            leave();
        }
        other.join().unwrap();
    });
}

#[test]
#[ignore = "it is run by another test"]
fn by_exit() {
    leaves_in_some_schedules(|| std::process::exit(7));
}

#[test]
#[ignore = "it is run by another test"]
fn by_an_overflow() {
    fn deeper(n: usize) -> usize {
        let large = std::hint::black_box([n; 1_000]);
        if n == usize::MAX { 0 } else { deeper(n + 1) + large[n % 1_000] }
    }
    leaves_in_some_schedules(|| assert_eq!(deeper(0), 0));
}

struct PanicsInDrop;

impl Drop for PanicsInDrop {
    fn drop(&mut self) {
        panic!("it is dropped too early");
    }
}

#[test]
#[ignore = "it is run by another test"]
fn by_a_destructor() {
    leaves_in_some_schedules(|| {
        let _kept = PanicsInDrop;
        // Nobody puts a value. The waiter is unwound then.
        IVar::<()>::new().get();
    });
}

fn child(name: &str, replay: Option<&str>) -> (Output, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("leaving::{name}"), "--ignored", "--nocapture"]);
    match replay {
        Some(token) => command.env("LISLE_CHECK_REPLAY", token),
        None => command.env_remove("LISLE_CHECK_REPLAY"),
    };
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, text)
}

#[test]
fn a_panic_that_ends_the_process_is_told() {
    let (_, text) = child("by_a_destructor", None);
    assert!(text.contains("ends the process: panic in a destructor during cleanup"), "{text}");
    assert!(text.contains("it has panicked: it is dropped too early, at crates/"), "{text}");
    assert!(text.contains("was unwound, because nothing could go on"), "{text}");
}

/// Returns the token in a child's output.
fn token(text: &str) -> &str {
    let (_, token) = text.split_once("LISLE_CHECK_REPLAY=").unwrap_or_else(|| panic!("no token: {text}"));
    token.lines().next().unwrap()
}

#[test]
fn a_schedule_survives_the_process() {
    let ways =
        [("by_exit", Some(7), None), ("by_an_overflow", None, Some(6)), ("by_a_destructor", None, Some(6))];
    for (name, code, signal) in ways {
        let (output, text) = child(name, None);
        assert_eq!((output.status.code(), output.status.signal()), (code, signal), "{text}");
        assert!(text.contains("leaving.rs:13:20: the process ends in an execution"), "{text}");
        // It leads there again, at once.
        let (output, again) = child(name, Some(token(&text)));
        assert_eq!((output.status.code(), output.status.signal()), (code, signal), "{again}");
        assert_eq!(token(&again), token(&text));
        assert!(token(&text).len() > 6, "it is no schedule of defaults: {text}");
    }
}
