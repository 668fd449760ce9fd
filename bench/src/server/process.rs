//! A server as a child process: it is started, its use of time and memory is read, and it is gone
//! at the end.

use super::site::Site;
use crate::runner::process::end_with_us;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    param::clock_ticks_per_second,
    process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open},
};
use std::{
    env,
    fmt::Display,
    fs,
    fs::File,
    io::{self, BufRead, BufReader},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    path::PathBuf,
    process::{Child, Command, Stdio, exit},
    thread::sleep,
    time::{Duration, Instant},
};

/// How long a server may take to listen, and to end when it is asked to.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) struct Server {
    child: Child,
    address: SocketAddr,
}

/// The time and memory that a server and its workers have used.
pub(crate) struct Usage {
    pub(crate) cpu_seconds: f64,
    pub(crate) peak_bytes: u64,
}

impl Server {
    /// For a server that prints `listening ADDRESS` when it accepts.
    pub(crate) fn announced(mut command: Command, site: &Site) -> Result<Self, String> {
        let mut server = start(command.stdout(Stdio::piped()), site)?;
        let mut line = String::new();
        let mut output = BufReader::new(server.child.stdout.take().expect("it is piped"));
        let _ = output.read_line(&mut line);
        let address = line.strip_prefix("listening ").and_then(|address| address.trim().parse().ok());
        server.address = address.ok_or_else(|| failed(site))?;
        Ok(server)
    }

    /// For a server that has been told to listen at `address`.
    pub(crate) fn at(address: SocketAddr, mut command: Command, site: &Site) -> Result<Self, String> {
        let mut server = start(command.stdout(Stdio::null()), site)?;
        server.address = address;
        let begun = Instant::now();
        while TcpStream::connect(address).is_err() {
            let ended = server.child.try_wait().is_ok_and(|status| status.is_some());
            if ended || begun.elapsed() > PATIENCE {
                return Err(failed(site));
            }
            sleep(Duration::from_millis(2));
        }
        Ok(server)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn usage(&self) -> Usage {
        let family = family(Pid::from_child(&self.child));
        Usage {
            cpu_seconds: family.iter().map(|process| process.cpu_seconds()).sum(),
            peak_bytes: family.iter().filter_map(|process| peak_bytes(process.id)).sum(),
        }
    }

    /// Whether it has ended in time.
    fn wait(&mut self) -> io::Result<bool> {
        let pidfd = pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty())?;
        let limit = Timespec { tv_sec: PATIENCE.as_secs().cast_signed(), tv_nsec: 0 };
        Ok(poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], Some(&limit))? > 0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let id = Pid::from_child(&self.child);
        let family = family(id);
        // A parent of workers ends them first.
        let _ = kill_process(id, Signal::TERM);
        if !matches!(self.wait(), Ok(true)) {
            for process in family {
                let _ = kill_process(process.id, Signal::KILL);
            }
        }
        let _ = self.child.wait();
    }
}

fn start(command: &mut Command, site: &Site) -> Result<Server, String> {
    let errors = File::create(errors(site)).map_err(|error| error.to_string())?;
    end_with_us(command.stdin(Stdio::piped()).stderr(errors));
    let child = command.spawn().map_err(|error| format!("the server cannot be started: {error}"))?;
    Ok(Server { child, address: (Ipv4Addr::UNSPECIFIED, 0).into() })
}

/// Where the server writes its complaints: not to our standard error, whose last line says why a
/// sample failed.
fn errors(site: &Site) -> PathBuf {
    site.work("errors")
}

fn failed(site: &Site) -> String {
    let said = fs::read_to_string(errors(site)).unwrap_or_default();
    format!("the server does not listen: {}", said.lines().last().unwrap_or("it says nothing"))
}

/// The value, or the end of this sample with the error.
pub(crate) fn found<T>(found: Result<T, impl Display>) -> T {
    found.unwrap_or_else(|missing| {
        eprintln!("{missing}");
        exit(3)
    })
}

/// An address that nobody listens at now.
pub(crate) fn free_address() -> Result<SocketAddr, String> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map_err(|error| format!("there is no free port: {error}"))
}

/// A program by its name, in `PATH` or where system programs are for users whose `PATH` has them
/// not.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
    env::split_paths(&path).chain(system).map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// One line of `/proc/PID/stat`.
struct Process {
    id: Pid,
    parent: i32,
    ticks: u64,
}

impl Process {
    fn cpu_seconds(&self) -> f64 {
        self.ticks as f64 / clock_ticks_per_second() as f64
    }
}

/// A process and its children.
fn family(head: Pid) -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = entries.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    lines
        .filter_map(|line| parse(&line))
        .filter(|process| process.id == head || process.parent == head.as_raw_nonzero().get())
        .collect()
}

/// `ID (NAME) STATE PARENT ...`, user and system time being fields 14 and 15. A name may have any
/// characters.
fn parse(stat: &str) -> Option<Process> {
    let id = stat.split(' ').next()?.parse().ok()?;
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let number = |nth: usize| fields.get(nth - 3)?.parse::<u64>().ok();
    Some(Process {
        id: Pid::from_raw(id)?,
        parent: i32::try_from(number(4)?).ok()?,
        ticks: number(14)? + number(15)?,
    })
}

fn peak_bytes(id: Pid) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", id.as_raw_nonzero())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_look_like_fields() {
        let line = "4711 (a (b) c 1) S 42 4711 4711 0 -1 4194560 1 2 3 4 250 50 7 8 20 0 3 0 99";
        let process = parse(line).unwrap();
        assert_eq!((process.id.as_raw_nonzero().get(), process.parent, process.ticks), (4711, 42, 300));
    }

    #[test]
    fn a_server_that_ends_at_once_is_reported() {
        let site = Site::new().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "echo no such port >&2; exit 1"]);
        let error = Server::announced(command, &site).err().unwrap();
        assert_eq!(error, "the server does not listen: no such port");
    }

    #[test]
    fn a_server_ends_with_its_handle() {
        let site = Site::new().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "echo listening 127.0.0.1:1; exec sleep 60"]);
        let server = Server::announced(command, &site).unwrap();
        let id = Pid::from_child(&server.child);
        assert_eq!(server.address().port(), 1);
        assert_eq!(family(id).len(), 1);
        drop(server);
        assert!(family(id).is_empty());
    }
}
