//! Keeps panics of checked programs from being printed, except for panics that end the process.

use super::bridge;
use super::executing::message;
use super::leaving;
use std::cell::{Cell, RefCell};
use std::io::{Write as _, stderr};
use std::panic::{PanicHookInfo, set_hook, take_hook};
use std::sync::Once;

/// The messages of panics after which the standard library ends the process.
const LAST: [&str; 2] = ["panic in a destructor during cleanup", "panic in a function that cannot unwind"];

thread_local! {
    /// Panics on this thread are part of an exploration.
    static QUIET: Cell<bool> = const { Cell::new(false) };
    /// The panics of the execution in progress.
    static PANICS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Keeps panics on this thread from being printed, until it is dropped.
pub(super) struct Quiet(());

impl Quiet {
    pub(super) fn new() -> Quiet {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            let print = take_hook();
            set_hook(Box::new(move |info| if QUIET.get() { keep(info) } else { print(info) }));
        });
        QUIET.set(true);
        Quiet(())
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        QUIET.set(false);
    }
}

/// Notes that an execution begins on this thread.
pub(super) fn begins() {
    PANICS.with_borrow_mut(Vec::clear);
}

fn keep(info: &PanicHookInfo<'_>) {
    let text = message(info.payload());
    if LAST.contains(&&*text) {
        // Not by the macro, whose output a test keeps to itself.
        let mut out = stderr().lock();
        let _ = writeln!(out, "the program that is checked ends the process: {text}");
        PANICS.with_borrow(|panics| {
            panics.iter().for_each(|panic| drop(writeln!(out, "it has panicked: {panic}")));
        });
        if let Some(why) = bridge::why_unwound() {
            let _ = writeln!(out, "the rest of an execution was unwound, because {why}");
        }
        drop(out);
        return leaving::leaves();
    }
    let place = info.location().map(|place| format!(", at {place}")).unwrap_or_default();
    PANICS.with_borrow_mut(|panics| panics.push(format!("{text}{place}")));
    bridge::panicked(|| text, info.location());
}
