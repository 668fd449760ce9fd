//! A part of a test that runs in a process of its own, and whose output the test reads meanwhile.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread;

const KEY: &str = "LISLE_HEAP_TEST_CHILD";

/// A child process whose standard error is read. A drop kills it.
pub(crate) struct Running {
    child: Child,
    stderr: BufReader<ChildStderr>,
    said: String,
}

impl Running {
    /// Runs the calling test anew in a process of its own, where it does `f` and this returns `None`.
    pub(crate) fn new(f: impl FnOnce()) -> Option<Self> {
        let test = thread::current().name().expect("a test has a name").to_owned();
        if std::env::var(KEY).is_ok_and(|chosen| chosen == test) {
            f();
            return None;
        }
        let mut child = Command::new(std::env::current_exe().expect("the tests have a path"))
            .args([&test, "--exact", "--nocapture"])
            .env(KEY, &test)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the tests can be run again");
        let stderr = BufReader::new(child.stderr.take().expect("its standard error is a pipe"));
        Some(Self { child, stderr, said: String::new() })
    }

    /// Waits until the child has said all these texts.
    #[track_caller]
    pub(crate) fn until_said(&mut self, all: &[&str]) {
        while !all.iter().all(|text| self.said.contains(text)) {
            let read = self.stderr.read_line(&mut self.said).expect("it says text");
            assert_ne!(read, 0, "it has ended, without {all:?}:\n{}", self.said);
        }
    }

    /// Lets the child go on from [`block_until_let_go`], to its end, which must be a success. Returns all that it has said.
    #[track_caller]
    pub(crate) fn succeeds(mut self) -> String {
        drop(self.child.stdin.take());
        self.stderr.read_to_string(&mut self.said).expect("it says text");
        let status = self.child.wait().expect("it is a child");
        assert!(status.success(), "{status}: {}", self.said);
        std::mem::take(&mut self.said)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// In a child: blocks the thread until the parent lets the child go on.
pub(crate) fn block_until_let_go() {
    std::io::stdin().read_to_end(&mut Vec::new()).expect("the parent keeps the other end");
}
