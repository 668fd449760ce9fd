//! The program under test, and waiting for conditions.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::client::{Client, Response};
use rustix::process::{Pid, Resource, Rlimit, Signal};

/// Longer than anything here takes, even on a machine that is busy with other things.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until `condition` holds.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A directory with files to serve.
pub(crate) struct Site {
    place: tempfile::TempDir,
}

impl Site {
    /// With an `index.html` that says `top`, and a secret beside the directory.
    pub(crate) fn new() -> Site {
        let site = Site { place: tempfile::tempdir().expect("a temporary directory") };
        std::fs::create_dir(site.path()).expect("a directory");
        std::fs::write(site.outside("secret.txt"), "secret").expect("a file");
        site.file("index.html", "top");
        site
    }

    /// The served directory.
    pub(crate) fn path(&self) -> PathBuf {
        self.outside("site")
    }

    /// A path beside it.
    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// Writes a file below it.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().expect("it has one")).expect("a directory");
        std::fs::write(path, content).expect("a file");
    }
}

/// A running server. Dropped, it is killed.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    errors: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
    output: File,
}

/// The results of a server that has ended.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Server {
    /// Starts it for `site`. Standard output goes to a file unless `stdout` says otherwise.
    pub(crate) fn start(site: &Site, options: &[&str]) -> Server {
        let output = tempfile::tempfile().expect("a temporary file");
        Server::start_with(&site.path(), options, output.try_clone().expect("a descriptor").into(), output)
    }

    pub(crate) fn start_with(directory: &Path, options: &[&str], stdout: Stdio, output: File) -> Server {
        Server::spawned(command(), directory, options, stdout, output)
    }

    /// The same, by a command of one's own, to which `serve` has been given already.
    pub(crate) fn spawned(
        mut command: Command,
        directory: &Path,
        options: &[&str],
        stdout: Stdio,
        output: File,
    ) -> Server {
        for default in [["--addr", "127.0.0.1:0"], ["--domains", "2"]] {
            if !options.contains(&default[0]) {
                command.args(default);
            }
        }
        let mut child =
            command.args(options).arg(directory).stdout(stdout).spawn().expect("the program starts");
        let errors = Arc::new(Mutex::new(String::new()));
        let lines = BufReader::new(child.stderr.take().expect("it is piped")).lines();
        let collected = Arc::clone(&errors);
        let reader = std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let mut errors = collected.lock().expect("nobody panics with it");
                errors.push_str(&line);
                errors.push('\n');
            }
        });
        let address = || {
            let errors = errors.lock().expect("nobody panics with it");
            let (_, rest) = errors.split_once("http://")?;
            Some(rest.split_once('/')?.0.parse().expect("an address"))
        };
        wait_until("the server has bound its address", || address().is_some());
        let address = address().expect("just seen");
        Server { child, address, errors, reader: Some(reader), output }
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Returns the standard error so far.
    pub(crate) fn stderr(&self) -> String {
        self.errors.lock().expect("nobody panics with it").clone()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn connect(&self) -> Client {
        Client::connect(self.address)
    }

    /// One request on a connection of its own.
    pub(crate) fn get(&self, path: &str) -> Response {
        let mut client = self.connect();
        client.send(&format!("GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n"));
        client.response()
    }

    /// How many descriptors it has open.
    pub(crate) fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).expect("it runs").count()
    }

    /// The same, once all it opens by itself is open: SIGQUIT has been answered.
    #[track_caller]
    pub(crate) fn descriptors_at_rest(&self) -> usize {
        self.signal(Signal::QUIT);
        wait_until("it answers", || self.stderr().contains("wait graph"));
        self.descriptors()
    }

    /// Waits until no more descriptors are open than there were at first.
    #[track_caller]
    pub(crate) fn wait_for_descriptors(&self, at_most: usize) {
        wait_until("all connections are closed", || self.descriptors() <= at_most);
    }

    /// Resident memory in KiB.
    pub(crate) fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("the kernel tells");
        line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
    }

    /// Sets the limit on its descriptors from outside, such that it can open `spare` more.
    pub(crate) fn leave_descriptors(&self, spare: usize) {
        let directory = std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).expect("it runs");
        let numbers =
            directory.map(|entry| entry.expect("it runs").file_name().into_string().expect("digits"));
        let open: HashSet<u64> = numbers.map(|number| number.parse().expect("a number")).collect();
        let limit = (0..).filter(|number| !open.contains(number)).nth(spare);
        let maximum = rustix::process::getrlimit(Resource::Nofile).maximum;
        let limit = Rlimit { current: limit, maximum };
        rustix::process::prlimit(Some(self.pid()), Resource::Nofile, limit).expect("it is ours");
    }

    pub(crate) fn signal(&self, signal: Signal) {
        rustix::process::kill_process(self.pid(), signal).expect("it runs");
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn wait(mut self) -> Ended {
        let mut status = None;
        wait_until("the server has ended", || {
            status = self.child.try_wait().expect("it is our child");
            status.is_some()
        });
        // Its end closes the pipe, which ends the reader.
        self.reader.take().expect("nobody has waited before").join().expect("it does not panic");
        let mut stdout = String::new();
        let mut output = &self.output;
        std::io::Seek::rewind(&mut output).expect("a file");
        output.read_to_string(&mut stdout).expect("readable");
        Ended { status: status.expect("just seen"), stdout, stderr: self.stderr() }
    }

    /// SIGTERM, and its end, which must be a success.
    #[track_caller]
    pub(crate) fn stop(self) -> Ended {
        self.signal(Signal::TERM);
        let ended = self.wait();
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
        assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
        ended
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail if it has ended already, which is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program with `serve`, its standard error piped.
///
/// Signals have their default effects on it, whatever these tests have inherited: under `nohup`
/// SIGHUP is ignored, in the background of a script SIGINT and SIGQUIT are, and the program
/// respects that.
pub(crate) fn command() -> Command {
    command_with_hang_up(libc::SIG_DFL)
}

/// The same, with the given effect of SIGHUP at its start.
pub(crate) fn command_with_hang_up(hang_up: libc::sighandler_t) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lisle"));
    command.arg("serve").stdin(Stdio::null()).stderr(Stdio::piped());
    let prepare = move || {
        for (signal, action) in [
            (libc::SIGHUP, hang_up),
            (libc::SIGINT, libc::SIG_DFL),
            (libc::SIGQUIT, libc::SIG_DFL),
            (libc::SIGTERM, libc::SIG_DFL),
        ] {
            // SAFETY: neither of the two actions is a function of this process.
            if unsafe { libc::signal(signal, action) } == libc::SIG_ERR {
                return Err(std::io::Error::last_os_error());
            }
        }
        Ok(())
    };
    // SAFETY: between fork and exec it only calls `signal`, which is async-signal-safe, and
    // allocates nothing.
    unsafe { command.pre_exec(prepare) };
    command
}

/// The same, with limits on its descriptors, as by `ulimit -Sn` and `ulimit -Hn`.
pub(crate) fn command_with_descriptors(soft: u64, hard: u64) -> Command {
    let mut command = command();
    let prepare = move || {
        let limit = Rlimit { current: Some(soft), maximum: Some(hard) };
        Ok(rustix::process::setrlimit(Resource::Nofile, limit)?)
    };
    // SAFETY: between fork and exec it only makes one system call, and allocates nothing.
    unsafe { command.pre_exec(prepare) };
    command
}

/// Raises this process's own limit on descriptors, and returns the new limit.
pub(crate) fn descriptors_for_tests() -> u64 {
    let limit = rustix::process::getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    // Should the system refuse, the tests make do with the old limit.
    let _ = rustix::process::setrlimit(Resource::Nofile, raised);
    rustix::process::getrlimit(Resource::Nofile).current.unwrap_or(1 << 20)
}
