//! Collecting the status of children whose handles have been dropped, so they leave no zombies.
//!
//! One thread waits for all these children, by a choice between their exits and the arrival of another
//! child. The thread ends with the last of them.

use super::exit::Process;
use crate::event::Source;
use crate::fork::PerProcess;
use crate::shim::atomic::AtomicBool;
use crate::{Event, choose, threads};
use lisle_runtime::internal::no_thread;
use std::thread;
use std::time::Duration;

/// The time between attempts if the system does not allow waiting for an exit.
const RETRY: Duration = Duration::from_millis(20);

struct Orphans {
    source: Source<State, Vec<Process>>,
    has_told: AtomicBool,
}

#[derive(Default)]
struct State {
    /// The processes that the thread has not taken over yet.
    fresh: Vec<Process>,
    has_thread: bool,
}

fn orphans() -> &'static Orphans {
    static ORPHANS: PerProcess<Orphans> = PerProcess::new(|| Orphans {
        source: Source::new(State::default()),
        has_told: AtomicBool::new(false),
    });
    ORPHANS.get()
}

/// Takes over a process whose handle is dropped. Does not wait.
pub(super) fn leave(process: Process) {
    if matches!(process.reap(), Ok(None)) {
        orphans().adopt(process);
    }
}

impl Orphans {
    fn adopt(&'static self, process: Process) {
        let thread_is_missing = self.source.update(|state, waiters| {
            state.fresh.push(process);
            if let Err(fresh) = waiters.grant(std::mem::take(&mut state.fresh)) {
                state.fresh = fresh;
            }
            !std::mem::replace(&mut state.has_thread, true)
        });
        if thread_is_missing {
            let purpose = "child processes without a handle";
            if let Err(error) = threads::start("lisle-reaper", purpose, || self.serve()) {
                self.source.update(|state, _| state.has_thread = false);
                let meanwhile = "a child process without a handle stays a zombie after its exit, until another handle is dropped";
                no_thread(&self.has_told, &error, meanwhile);
            }
        }
    }

    fn serve(&self) {
        let mut waiting = Vec::new();
        loop {
            waiting.retain(|process: &Process| matches!(process.reap(), Ok(None)));
            let is_last = waiting.is_empty()
                && self.source.update(|state, _| {
                    state.has_thread = !state.fresh.is_empty();
                    !state.has_thread
                });
            if is_last {
                return;
            }
            let fresh = {
                let come = self
                    .source
                    .event(|state| (!state.fresh.is_empty()).then(|| std::mem::take(&mut state.fresh)));
                let exits: Vec<_> = waiting.iter().map(Process::exit_evt).collect();
                let exited = choose(exits).wrap(|exited| {
                    if exited.is_err() {
                        // The system has no descriptor now, so the thread tries again a little
                        // later.
                        thread::sleep(RETRY);
                    }
                    Vec::new()
                });
                choose((come, exited)).sync()
            };
            waiting.extend(fresh);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{leave, orphans};
    use crate::process::exit::{Process, Watch};
    use std::process::{Command, Stdio};

    #[test]
    fn orphans_are_collected_and_the_thread_ends() {
        for watch in [Watch::new, Watch::by_thread] {
            let mut inputs = Vec::new();
            let mut ids = Vec::new();
            for _ in 0..5 {
                let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
                inputs.push(child.stdin.take());
                ids.push(child.id());
                leave(Process::new(child, watch).unwrap());
            }
            assert!(orphans().source.with(|state| state.has_thread));
            drop(inputs);
            for id in ids {
                // A zombie could still be signalled.
                // SAFETY: signal 0 only checks whether the process exists.
                while unsafe { libc::kill(libc::pid_t::try_from(id).unwrap(), 0) } == 0 {
                    std::thread::yield_now();
                }
            }
            while orphans().source.with(|state| state.has_thread) {
                std::thread::yield_now();
            }
        }
    }
}
