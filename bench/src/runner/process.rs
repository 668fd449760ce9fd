//! A process of ours: it leads a group of its own, is limited in time, and leaves nothing behind.

use super::interrupt;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{Pid, PidfdFlags, Signal, getpid, getppid, pidfd_open, set_parent_process_death_signal},
};
use std::{
    io::{self, Read},
    os::unix::process::CommandExt,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

/// How many bytes are kept of each output of a process.
const KEPT: u64 = 64 * 1024;

pub(crate) struct Ended {
    /// `None`: it had not ended in time, and was killed.
    pub(crate) status: Option<ExitStatus>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `command` to its end, or for `limit` at most. Then kills the rest of its process group.
///
/// Must be called by the main thread: the kernel ends the process when the thread that started it
/// is gone.
pub(crate) fn run(command: &mut Command, limit: Duration) -> io::Result<Ended> {
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    end_with_us(command);
    let mut child = interrupt::spawn(command)?;
    let stdout = read(child.stdout.take().expect("it is piped"));
    let stderr = read(child.stderr.take().expect("it is piped"));
    let in_time = wait(&child, limit);
    let status = interrupt::reap(child)?;
    Ok(Ended { status: in_time?.then_some(status), stdout: text(&stdout), stderr: text(&stderr) })
}

/// Has the kernel end the process when we are killed and cannot end it ourselves.
pub(crate) fn end_with_us(command: &mut Command) {
    let us = getpid();
    // SAFETY: between fork and exec only these two system calls are made, and nothing is allocated.
    unsafe {
        command.pre_exec(move || {
            // A process that has workers of its own, as some servers do, ends them on SIGTERM.
            set_parent_process_death_signal(Some(Signal::TERM))?;
            // We may have been killed before that.
            if getppid() == Some(us) { Ok(()) } else { Err(Errno::CHILD.into()) }
        });
    }
}

/// Whether it has ended in time. It is not reaped: until then, no other process can get its number.
fn wait(child: &Child, limit: Duration) -> io::Result<bool> {
    let pidfd = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    let deadline = Instant::now() + limit;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
        match poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], Some(&left)) {
            Ok(ready) => return Ok(ready > 0),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Reads to the end, so that the process is never held up, and sends the first part of it.
fn read(mut from: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.by_ref().take(KEPT).read_to_end(&mut bytes);
        let _ = io::copy(&mut from, &mut io::sink());
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

/// The text that was read. A process that has left the group may hold the pipe open: this does not
/// wait for it.
fn text(output: &mpsc::Receiver<String>) -> String {
    output.recv_timeout(Duration::from_secs(1)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    fn shell(script: &str, limit: Duration) -> Ended {
        run(Command::new("sh").args(["-c", script]), limit).unwrap()
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn both_outputs_and_the_status_are_kept() {
        let ended = shell("echo out; echo err >&2; exit 7", LONG);
        assert_eq!(ended.status.and_then(|status| status.code()), Some(7));
        assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("out\n", "err\n"));
    }

    #[test]
    fn a_process_that_kills_itself_is_told_apart() {
        assert_eq!(shell("kill -9 $$", LONG).status.and_then(|status| status.signal()), Some(9));
    }

    #[test]
    fn a_process_that_hangs_is_killed_with_its_children() {
        let ended = shell("sleep 1000 & echo started; wait", Duration::from_millis(200));
        assert!(ended.status.is_none());
        // The pipe has been closed at all ends.
        assert_eq!(ended.stdout, "started\n");
    }

    #[test]
    fn a_flood_is_cut() {
        let ended = shell("yes | head -c 1000000", LONG);
        assert_eq!(ended.stdout.len() as u64, KEPT);
        assert!(ended.status.unwrap().success());
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        let error = run(&mut Command::new("/no/such/program"), LONG).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
