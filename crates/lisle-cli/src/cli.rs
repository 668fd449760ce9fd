//! The command line: its options, their units, and the messages for mistakes.
//!
//! Sizes are in bytes and take the suffixes K, M and G (powers of 1024). Times are in seconds and
//! may have a fraction. Everything is checked here, so the rest of the program starts from valid
//! values.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use lisle_check::litmus::Model;

use crate::serve::address::Address;

/// A web server and a checker of litmus tests, written on Lisle.
#[derive(Debug, Parser)]
#[command(name = "lisle", version, about, propagate_version = true)]
pub(crate) struct Cli {
    /// The subcommand to run.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the files below a directory over HTTP/1.1
    ///
    /// The server runs until SIGINT, SIGTERM or SIGHUP (SIGHUP does not count if it is ignored at
    /// the start, as under nohup). It then stops accepting, lets the open requests finish, prints
    /// its totals to standard error and exits with 0. A second signal ends the wait at once. On
    /// SIGQUIT it prints the wait graph to standard error, and continues.
    Serve(ServeOptions),
    /// Run litmus tests under memory models
    ///
    /// A test is a file in the format of herd7, for C, X86, X86_64 or AArch64. For one test the
    /// command prints the possible final states as herd7 does; for several tests, a line for each and
    /// the totals. The exit code is 0 if every condition holds as it is written, 1 if one does not, 2
    /// if a file cannot be read, and 3 if there is no verdict on a test, because it uses something
    /// unsupported.
    Check(CheckOptions),
}

/// The options of `lisle check`.
#[derive(Debug, Clone, Args)]
pub(crate) struct CheckOptions {
    /// Tests, and directories of tests, whose names end in .litmus
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// A memory model: sc, tso, rc11 or arm8; may be given several times
    ///
    /// Without it a test runs under the model of its language: rc11 for C, tso for X86, arm8 for
    /// AArch64. A C test under tso or arm8 is compiled by the usual mapping first.
    #[arg(long = "model", value_name = "MODEL")]
    pub(crate) models: Vec<Model>,

    /// Compile the acquire loads of C to LDAPR instead of LDAR under arm8
    #[arg(long)]
    pub(crate) acquire_pc: bool,

    /// The output [default: full for one file, lines for several files or a directory]
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) format: Option<CheckFormat>,
}

/// The output of `lisle check`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// For each test, the same as herd7
    Full,
    /// A line for each test, with the verdict first, and the totals
    Lines,
    /// One JSON object per line for each test, and one with the totals
    Json,
}

/// The format of the access log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Aligned columns, coloured on a terminal unless NO_COLOR is set
    Human,
    /// One JSON object per line
    Json,
    /// No access log
    Off,
}

/// The options of `lisle serve`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ServeOptions {
    /// The directory to serve; nothing outside it is ever served
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,

    /// Address and port to listen on; port 0 takes a free one
    ///
    /// Without an address (`:8080`) the server listens on all interfaces. A name (`localhost:8080`)
    /// stands for all of its addresses that this machine has. The addresses that were bound are
    /// printed to standard error.
    #[arg(long, value_name = "[ADDRESS]:PORT", default_value = "127.0.0.1:8080")]
    pub(crate) addr: Address,

    /// OS threads that serve [default: one per core]
    #[arg(long, value_name = "N", value_parser = domains)]
    pub(crate) domains: Option<NonZeroUsize>,

    /// Keep each thread on a core of its own
    ///
    /// For a machine, or a set of cores, that serves and does little else. Where other programs use
    /// the cores as well, a thread without a core of its own finds a free one sooner.
    #[arg(long)]
    pub(crate) pin: bool,

    /// Access log on standard output
    ///
    /// If standard output is slower than the requests, lines are dropped and counted instead of
    /// delaying requests. The totals contain that count.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = LogFormat::Human)]
    pub(crate) log: LogFormat,

    /// Serve files and directories whose names begin with a dot, too
    ///
    /// Without it they are answered with 404. `/.well-known/` is always served.
    #[arg(long)]
    pub(crate) dotfiles: bool,

    /// How long open requests may take to finish after a signal
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(crate) drain: Duration,

    #[command(flatten)]
    pub(crate) limits: Limits,
}

/// The limits for one client, and for all of them together.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct Limits {
    /// Connections at once; a further one is answered with 503 and closed
    ///
    /// If the system allows too few open files, the number is lower, and is printed to standard error.
    #[arg(long, value_name = "N", default_value = "10000", value_parser = connections)]
    pub(crate) max_connections: usize,

    /// Total size of a request's header fields; a larger one is answered with 431
    #[arg(long, value_name = "BYTES", default_value = "16K", value_parser = head_bytes)]
    pub(crate) max_header_bytes: usize,

    /// Length of a request line; a longer one is answered with 414
    #[arg(long, value_name = "BYTES", default_value = "8K", value_parser = head_bytes)]
    pub(crate) max_request_line: usize,

    /// Size of a request's body, which is read and discarded; a larger one is answered with 413
    #[arg(long, value_name = "BYTES", default_value = "1M", value_parser = bytes)]
    pub(crate) max_body: u64,

    /// How long a connection may wait without a request before it is closed
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = timeout)]
    pub(crate) idle_timeout: Duration,

    /// Time for a request's head to arrive, and the same again for its body; a later one is answered with 408
    #[arg(long, value_name = "SECONDS", default_value = "15", value_parser = timeout)]
    pub(crate) header_timeout: Duration,

    /// Time for a client to take each 64 KiB of a response; then the connection is closed
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = timeout)]
    pub(crate) write_timeout: Duration,

    /// Memory for file contents, divided evenly between the threads
    #[arg(long, value_name = "BYTES", default_value = "64M", value_parser = bytes)]
    pub(crate) cache_bytes: u64,

    /// Largest file to keep in memory; larger files are kept open and sent by the kernel
    #[arg(long, value_name = "BYTES", default_value = "256K", value_parser = bytes)]
    pub(crate) max_file_in_cache: u64,

    /// How long a known file is served before it is compared with the directory again
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    pub(crate) recheck: Duration,
}

fn domains(text: &str) -> Result<NonZeroUsize, String> {
    match text.parse::<NonZeroUsize>() {
        Ok(n) if n.get() <= 1024 => Ok(n),
        _ => Err("expected a number from 1 to 1024".to_owned()),
    }
}

fn connections(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(n) if (1..=10_000_000).contains(&n) => Ok(n),
        _ => Err("expected a number from 1 to 10000000".to_owned()),
    }
}

/// Parses a number of bytes, with or without one of the suffixes K, M and G.
fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let shift = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        _ => return Err("expected bytes, such as 65536, 64K, 16M or 1G".to_owned()),
    };
    let count: u64 =
        digits.parse().map_err(|_| "expected bytes, such as 65536, 64K, 16M or 1G".to_owned())?;
    count.checked_mul(1 << shift).filter(|n| *n <= 1 << 50).ok_or_else(|| "too large".to_owned())
}

/// Parses a limit on a head. It is also the size of a buffer that each client can make the server
/// allocate.
fn head_bytes(text: &str) -> Result<usize, String> {
    match bytes(text)? {
        n @ 64..=16_777_216 => Ok(n as usize),
        _ => Err("expected at least 64 bytes and at most 16M".to_owned()),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let value: f64 = text.parse().map_err(|_| "expected seconds, such as 10 or 0.5".to_owned())?;
    if !(0.0..=86_400_000.0).contains(&value) {
        return Err("expected seconds from 0 to 86400000".to_owned());
    }
    Ok(Duration::from_secs_f64(value))
}

/// Parses a timeout. A timeout of zero would close every connection, so it is rejected as a
/// mistake.
fn timeout(text: &str) -> Result<Duration, String> {
    match seconds(text)? {
        Duration::ZERO => Err("expected more than 0 seconds".to_owned()),
        some => Ok(some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::error::ErrorKind;

    fn parse(arguments: &[&str]) -> Result<ServeOptions, clap::Error> {
        let line = ["lisle", "serve"].iter().chain(arguments);
        Cli::try_parse_from(line).map(|cli| match cli.command {
            Command::Serve(options) => options,
            other => panic!("not {other:?}"),
        })
    }

    fn parse_check(arguments: &[&str]) -> Result<CheckOptions, clap::Error> {
        let line = ["lisle", "check"].iter().chain(arguments);
        Cli::try_parse_from(line).map(|cli| match cli.command {
            Command::Check(options) => options,
            other => panic!("not {other:?}"),
        })
    }

    #[test]
    fn models() {
        let options =
            parse_check(&["a.litmus", "b", "--model", "sc", "--model", "arm8", "--acquire-pc"]).unwrap();
        assert_eq!(options.files, [PathBuf::from("a.litmus"), PathBuf::from("b")]);
        assert_eq!(options.models, [Model::Sc, Model::Arm8]);
        assert!(options.acquire_pc && !parse_check(&["a"]).unwrap().acquire_pc);
        let error = parse_check(&["a", "--model", "power"]).unwrap_err();
        assert!(error.to_string().contains("expected sc, tso, rc11 or arm8"), "{error}");
        assert_eq!(parse_check(&[]).unwrap_err().kind(), ErrorKind::MissingRequiredArgument);
    }

    #[test]
    fn the_definition_is_sound() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn defaults() {
        let options = parse(&["site"]).unwrap();
        assert_eq!(options.directory, PathBuf::from("site"));
        assert_eq!(options.addr.to_string(), "127.0.0.1:8080");
        assert_eq!(options.domains, None);
        assert!(!options.dotfiles && parse(&["site", "--dotfiles"]).unwrap().dotfiles);
        assert_eq!(options.log, LogFormat::Human);
        assert_eq!(options.drain, Duration::from_secs(10));
        assert_eq!(options.limits.max_header_bytes, 16 << 10);
        assert_eq!(options.limits.cache_bytes, 64 << 20);
        assert_eq!(options.limits.max_file_in_cache, 256 << 10);
    }

    #[test]
    fn units() {
        assert_eq!(bytes("0"), Ok(0));
        assert_eq!(bytes("12"), Ok(12));
        assert_eq!(bytes("64K"), Ok(65_536));
        assert_eq!(bytes("1MiB"), Ok(1 << 20));
        assert_eq!(seconds("0.25"), Ok(Duration::from_millis(250)));
        for bad in ["", "K", "-1", "1.5M", "1T", "99999999999999999999", "9999999999G"] {
            assert!(bytes(bad).is_err(), "{bad:?} is no size");
        }
        for bad in ["", "x", "-1", "NaN", "inf", "1e300"] {
            assert!(seconds(bad).is_err(), "{bad:?} is no time");
        }
    }

    #[test]
    fn mistakes_name_the_option() {
        for (arguments, option) in [
            (&["site", "--addr", "8080"][..], "--addr"),
            (&["site", "--addr", "::1:8080"], "brackets"),
            (&["site", "--domains", "0"], "--domains"),
            (&["site", "--log", "loud"], "--log"),
            (&["site", "--drain", "soon"], "--drain"),
            (&["site", "--max-connections", "0"], "--max-connections"),
            (&["site", "--max-header-bytes", "1"], "--max-header-bytes"),
            (&["site", "--max-body", "1X"], "--max-body"),
            (&["site", "--idle-timeout", "0"], "--idle-timeout"),
        ] {
            let error = parse(arguments).unwrap_err();
            assert_eq!(error.exit_code(), 2);
            assert!(error.to_string().contains(option), "{error} does not name {option}");
        }
        assert_eq!(parse(&[]).unwrap_err().kind(), ErrorKind::MissingRequiredArgument);
    }
}
