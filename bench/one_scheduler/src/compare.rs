//! All servers in turn.

use crate::load::{Measured, measure};
use crate::picture;
use std::io::{self, BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A server: its name, whether it is built with the patch, and what it is called in the table.
const SERVERS: [(&str, bool, &str); 5] = [
    ("tokio", false, "tokio and rayon"),
    ("tokio-blocking", false, "tokio and rayon, `spawn_blocking`"),
    ("tokio-blocking", true, "tokio and the patch, `spawn_blocking`"),
    ("lisle", true, "Lisle and the patch"),
    ("lisle-par", true, "Lisle and `lisle::par`"),
];

pub fn run(rayon: &str, patched: &str, seconds: u64, rounds: u64, file: Option<&str>) -> io::Result<()> {
    // The clock of the load must not wait for the servers.
    // SAFETY: it changes numbers of the scheduler.
    if unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -19) } != 0 {
        eprintln!(
            "The load has no precedence: its own waits for a processor are in the times ({}).",
            io::Error::last_os_error()
        );
    }
    let mut measured = SERVERS.map(|_| Vec::new());
    for _ in 0..rounds {
        for ((name, is_patched, _), measured) in SERVERS.iter().zip(&mut measured) {
            let server = Server::start(if *is_patched { patched } else { rayon }, name)?;
            measured.push(measure(server.address.parse().map_err(io::Error::other)?, seconds)?);
        }
    }
    println!("| server | p50 | p99 | p99.9 | heavy requests a second |");
    println!("|---|---|---|---|---|");
    let mut rows = Vec::new();
    for ((_, _, text), measured) in SERVERS.iter().zip(&measured) {
        let row = medians(measured);
        println!(
            "| {text} | {} | {} | {} | {:.1} |",
            time(row.p50),
            time(row.p99),
            time(row.p999),
            row.heavy
        );
        rows.push((*text, row));
    }
    file.map_or(Ok(()), |file| std::fs::write(file, picture::draw(&rows)))
}

fn medians(measured: &[Measured]) -> Measured {
    let median = |of: fn(&Measured) -> f64| {
        let mut all: Vec<_> = measured.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    Measured {
        p50: median(|m| m.p50),
        p99: median(|m| m.p99),
        p999: median(|m| m.p999),
        heavy: median(|m| m.heavy),
    }
}

/// Writes a time that is given in microseconds.
pub fn time(micros: f64) -> String {
    match micros {
        ..1_000.0 => format!("{micros:.0} µs"),
        ..10_000.0 => format!("{:.1} ms", micros / 1e3),
        _ => format!("{:.0} ms", micros / 1e3),
    }
}

struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start(program: &str, name: &str) -> io::Result<Server> {
        let mut command = Command::new(program);
        command.args(["serve", name]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = unprivileged(command).spawn()?;
        let mut address = String::new();
        BufReader::new(process.stdout.take().expect("it is a pipe")).read_line(&mut address)?;
        Ok(Server { process, address: address.trim().to_owned() })
    }
}

/// A server has no precedence.
fn unprivileged(mut command: Command) -> Command {
    use std::os::unix::process::CommandExt;
    // SAFETY: the call is one to the system, between the fork and the program.
    unsafe {
        command.pre_exec(|| {
            libc::setpriority(libc::PRIO_PROCESS, 0, 0);
            Ok(())
        });
    }
    command
}

impl Drop for Server {
    fn drop(&mut self) {
        // It ends at the end of its input.
        drop(self.process.stdin.take());
        self.process.wait().ok();
    }
}
