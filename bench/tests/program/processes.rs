//! A run and the processes that it starts, found by a mark in their environment.

use rustix::process::{Pid, Signal, kill_process};
use std::{
    fs, io,
    os::unix::process::CommandExt,
    process::{self, Child, Command, Output, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

pub(crate) struct Run {
    program: Child,
    mark: String,
}

impl Run {
    /// It begins with the signals at their defaults, whatever these tests were started with.
    pub(crate) fn start(command: Command) -> Self {
        Run::start_with(command, libc::SIG_DFL)
    }

    /// As `nohup` would start it.
    pub(crate) fn start_deaf_to_hangups(command: Command) -> Self {
        Run::start_with(command, libc::SIG_IGN)
    }

    fn start_with(mut command: Command, hangup: libc::sighandler_t) -> Self {
        static RUNS: AtomicU32 = AtomicU32::new(0);
        let mark = format!("{}-{}", process::id(), RUNS.fetch_add(1, Ordering::Relaxed));
        command.env(NAME, &mark).stdout(Stdio::piped()).stderr(Stdio::null());
        // SAFETY: between fork and exec only these system calls are made, and nothing is allocated.
        unsafe {
            command.pre_exec(move || {
                dispose(libc::SIGINT, libc::SIG_DFL)?;
                dispose(libc::SIGTERM, libc::SIG_DFL)?;
                dispose(libc::SIGHUP, hangup)
            });
        }
        Run { program: command.spawn().unwrap(), mark }
    }

    /// A process that takes a sample, or builds a program: it leads a group of its own.
    pub(crate) fn child(&self) -> Option<Pid> {
        self.processes().into_iter().find(|pid| stat(*pid).is_some_and(|(_, group)| group == pid.to_string()))
    }

    /// Kills a child that certainly has not ended yet.
    pub(crate) fn kill_child(&self) {
        let stopped = until(|| {
            let child = self.child()?;
            kill_process(child, Signal::STOP).ok()?;
            stat(child).filter(|(state, _)| state == "T").map(|_| child)
        });
        kill_process(stopped, Signal::KILL).unwrap();
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.program), signal).unwrap();
    }

    /// All that are alive.
    pub(crate) fn processes(&self) -> Vec<Pid> {
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let pids = entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
        let mark = format!("{NAME}={}", self.mark).into_bytes();
        let is_marked = |pid: &Pid| {
            // The environment of a process that has ended is empty.
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == mark)
        };
        pids.filter(is_marked).collect()
    }

    /// Waits for the program.
    pub(crate) fn output(self) -> Output {
        self.program.wait_with_output().unwrap()
    }
}

/// Sets the effect of a signal on this process, also after an `exec`.
fn dispose(signal: i32, disposition: libc::sighandler_t) -> io::Result<()> {
    // SAFETY: the disposition is one of the two that name no function: no code of ours is run by
    // it.
    let before = unsafe { libc::signal(signal, disposition) };
    if before == libc::SIG_ERR { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Marks the environment.
const NAME: &str = "LISLE_BENCH_TEST";

/// The state of a process and the number of its group.
fn stat(pid: Pid) -> Option<(String, String)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before may have anything in it, parentheses too.
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split(' ').map(str::to_owned);
    Some((fields.next()?, fields.nth(1)?))
}

/// Waits until `condition` gives a value.
pub(crate) fn until<T>(mut condition: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "it does not come");
        thread::sleep(Duration::from_millis(5));
    }
}
