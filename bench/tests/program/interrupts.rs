//! The end of the program ends the processes that it has started.

use super::{
    bench,
    peers::Peers,
    processes::{Run, until},
};
use rustix::process::Signal;
use std::{
    os::unix::process::ExitStatusExt,
    process::{Command, ExitStatus},
};

const SIGNALS: [(Signal, i32); 3] = [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)];

#[test]
fn a_signal_ends_everything_and_is_the_exit_status() {
    for (signal, code) in SIGNALS {
        assert_eq!(end_with(signal).code(), Some(code), "{signal:?}");
    }
}

#[test]
fn a_killed_program_leaves_nothing() {
    assert_eq!(end_with(Signal::KILL).signal(), Some(9));
}

#[test]
fn a_signal_ends_a_compiler() {
    for (signal, code) in SIGNALS {
        let peers = Peers::built_by("#!/bin/sh\nsleep 1000 & wait");
        let run = Run::start(peers.bench(&["spawn-join", "--systems", "go"]));
        assert_eq!(end(run, signal).code(), Some(code), "{signal:?}");
    }
}

#[test]
fn a_hangup_that_was_ignored_from_the_beginning_stays_so() {
    let run = Run::start_deaf_to_hangups(long());
    until(|| run.child());
    run.signal(Signal::HUP);
    // If it had been heeded, the status would be the first signal's.
    assert_eq!(end(run, Signal::TERM).code(), Some(143));
}

/// Sends `signal` to a long run that takes a sample.
fn end_with(signal: Signal) -> ExitStatus {
    end(Run::start(long()), signal)
}

fn long() -> Command {
    bench(&["ping-pong", "--systems", "lisle", "--rounds", "1000"])
}

/// Sends `signal` to a run that has a child, and waits until nothing of it is left.
fn end(run: Run, signal: Signal) -> ExitStatus {
    until(|| run.child());
    run.signal(signal);
    until(|| run.processes().is_empty().then_some(()));
    run.output().status
}
