//! Parts of a test that run in a child process. The child runs this binary again with the same
//! test. The test finds a variable in its environment and plays the child's part.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStderr, Command, ExitStatus, Output, Stdio};

const PART: &str = "LISLE_TEST_PART";

/// Returns the part that the current process plays in a test, or `None` in the parent.
pub(crate) fn part() -> Option<String> {
    let part = std::env::var(PART).ok()?;
    let no_core = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a live value.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const no_core) }, 0);
    Some(part)
}

/// Returns the command of a child that plays `part` in the test at this path.
pub(crate) fn child(test: &str, part: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("the test binary has a path"));
    playing(command.args(arguments(test)), part).env("RUST_BACKTRACE", "0").stdin(Stdio::null());
    command
}

/// Returns the arguments with which this binary runs the test at this path.
pub(crate) fn arguments(test: &str) -> [String; 3] {
    ["--exact".into(), test.into(), "--nocapture".into()]
}

/// Lets the program play this part.
pub(crate) fn playing<'c>(command: &'c mut Command, part: &str) -> &'c mut Command {
    command.env(PART, part)
}

/// The end of a child, and its output.
pub(crate) struct Ended {
    pub(crate) output: Output,
    pub(crate) stderr: String,
}

impl Ended {
    pub(crate) fn of(test: &str, part: &str) -> Self {
        let output = child(test, part).output().expect("the test binary can be run again");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Ended { output, stderr }
    }

    #[track_caller]
    pub(crate) fn says(&self, text: &str) -> &Self {
        assert!(self.stderr.contains(text), "no {text:?} in:\n{}", self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn says_not(&self, text: &str) -> &Self {
        assert!(!self.stderr.contains(text), "{text:?} in:\n{}", self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn aborted(&self) -> &Self {
        assert_eq!(self.output.status.signal(), Some(libc::SIGABRT), "{}", self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn succeeded(&self) -> &Self {
        assert!(self.output.status.success(), "{:?}\n{}", self.output.status, self.stderr);
        self
    }
}

/// A running child whose output is read. Dropping it kills the child.
pub(crate) struct Running {
    pub(crate) child: Child,
    stderr: BufReader<ChildStderr>,
    said: String,
}

impl Running {
    /// Starts a child. It may wait for the end of its standard input, which [`ends`](Running::ends)
    /// causes.
    pub(crate) fn new(test: &str, part: &str) -> Self {
        let mut command = child(test, part);
        command.stdin(Stdio::piped()).stderr(Stdio::piped()).stdout(Stdio::null());
        let mut child = command.spawn().expect("the test binary can be run again");
        let stderr = BufReader::new(child.stderr.take().expect("its standard error is a pipe"));
        Running { child, stderr, said: String::new() }
    }

    /// Waits until the child has printed all these texts, and returns the last line.
    #[track_caller]
    pub(crate) fn until_said(&mut self, all: &[&str]) -> String {
        let mut line = String::new();
        while !all.iter().all(|text| self.said.contains(text)) {
            line.clear();
            let read = self.stderr.read_line(&mut line).expect("what it says is text");
            assert_ne!(read, 0, "it has ended, without {all:?}:\n{}", self.said);
            self.said.push_str(&line);
        }
        line
    }

    /// Lets the child run to its end. Returns its status and its whole output.
    pub(crate) fn ends(mut self) -> (ExitStatus, String) {
        drop(self.child.stdin.take());
        self.stderr.read_to_string(&mut self.said).expect("what it says is text");
        (self.child.wait().expect("it is ours"), std::mem::take(&mut self.said))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Blocks the thread until the parent releases it. For use in a child.
pub(crate) fn block_until_let_go() {
    std::io::stdin().read_to_end(&mut Vec::new()).expect("the parent keeps the other end");
}
