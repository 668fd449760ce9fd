//! Ctrl-C leaves no process behind: each child leads a group of its own, and the group is killed
//! with us.

use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, waitpid};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
};
use std::{
    fs,
    io::{self, Write},
    process::{Child, Command, ExitStatus, exit},
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
};

/// The groups of the children that run now.
static RUNNING: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

fn running() -> MutexGuard<'static, Vec<Pid>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends this process, and its children first, when a signal asks for it.
pub(super) fn watch() {
    let mut asked = vec![SIGINT, SIGTERM];
    // Under nohup it is ignored, and stays so.
    if !is_ignored(SIGHUP) {
        asked.push(SIGHUP);
    }
    let mut signals = Signals::new(asked).expect("these signals may be handled");
    thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            // Held until the end, so that no child is started or reaped any more.
            let running = running();
            for &group in running.iter() {
                let _ = kill_process_group(group, Signal::KILL);
                let _ = waitpid(Some(group), WaitOptions::empty());
            }
            // The terminal may be gone.
            let _ = writeln!(io::stderr(), "\nlisle-bench: interrupted");
            exit(128 + signal);
        }
    });
}

/// Whether this process has been started with the signal ignored.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Starts a child that leads its own process group.
pub(super) fn spawn(command: &mut Command) -> io::Result<Child> {
    let mut running = running();
    let child = command.spawn()?;
    running.push(Pid::from_child(&child));
    Ok(child)
}

/// Kills whatever is left of the child's group, and waits for the child.
pub(super) fn reap(mut child: Child) -> io::Result<ExitStatus> {
    let mut running = running();
    let group = Pid::from_child(&child);
    let _ = kill_process_group(group, Signal::KILL);
    let status = child.wait();
    running.retain(|other| *other != group);
    status
}
