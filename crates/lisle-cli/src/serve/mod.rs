//! `lisle serve`: a server for static files. It consists of fibers, which communicate only through
//! events.
//!
//! ```text
//!   supervisor ── starts, and at the end stops ──▶ all others
//!   listener ─── spawns ──▶ connection ── Ask ──▶ files      (one a domain: the cache)
//!      ▲                     │     ▲                │ spawns, for files not in the cache
//!      └───── End ───────────┘     └── Answer ──────┘──▶ loader ── blocking pool
//!                            └── Record ──▶ scribe           (one a domain: counts, lines)
//!                                             └── Batch ──▶ output ──▶ standard output
//! ```
//!
//! A connection is on one domain with its file component and its scribe, so a request is served
//! without a message to another domain. Invariant: no fiber here shares a lock or a counter with
//! another. Values that look shared (the limit on connections, the totals) belong to one fiber, and
//! the others send it messages.

pub(crate) mod address;
mod connection;
mod descriptors;
mod files;
mod http;
mod listener;
mod local;
mod log;
mod notice;
mod shard;
mod signals;
mod stats;
mod supervisor;

use std::fmt;
use std::io::{self, IsTerminal};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use crate::cli::{LogFormat, ServeOptions};
use descriptors::{Shares, TooFew};
use log::line::Form;
pub(crate) use notice::notice;
use supervisor::Outcome;

/// How long the runtime may take to end after the server has ended.
const GRACE: Duration = Duration::from_secs(1);

/// The reason why the server did not run.
#[derive(Debug)]
pub(crate) enum Error {
    /// The directory cannot be served.
    Directory(PathBuf, io::Error),
    /// The system refuses a resource that is needed to start.
    Start(io::Error),
    /// The system allows too few descriptors.
    Descriptors(TooFew),
    /// The server could not run or could not continue.
    Run(supervisor::Failure),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Directory(path, error) => write!(f, "cannot serve {}: {error}", path.display()),
            Error::Start(error) => write!(f, "cannot start: {error}"),
            Error::Descriptors(few) => write!(f, "cannot start: {few}"),
            Error::Run(failure) => failure.fmt(f),
        }
    }
}

/// Serves until a signal ends the server.
pub(crate) fn run(options: ServeOptions) -> Result<(), Error> {
    let root = files::root::Root::new(&options.directory)
        .map_err(|error| Error::Directory(options.directory.clone(), error))?;
    let allowed = descriptors::raise_limit(|text| notice(format_args!("lisle: {text}")));
    let signals = signals::Signals::catch().map_err(Error::Start)?;
    let domains =
        options.domains.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let wanted = options.limits.max_connections;
    let shares = Shares::of(allowed, domains, wanted).map_err(Error::Descriptors)?;
    if shares.connections < wanted {
        notice(format_args!(
            "lisle: at most {} connections at once instead of {wanted}, because the system allows only {allowed} open \
             files (ulimit -Hn)",
            shares.connections
        ));
    }
    let form = match options.log {
        LogFormat::Off => None,
        LogFormat::Json => Some(Form::Json),
        LogFormat::Human => Some(Form::Human { colour: wants_colour() }),
    };
    // The state of the server is needed most when the server hangs, so the dump does not depend on
    // any fiber.
    let builder = lisle::Runtime::builder().domains(domains).pin(options.pin).dump_on(lisle::signal::SIGQUIT);
    // The library's own report would wait for standard error and hold its lock in the meantime.
    let builder = builder.on_report(|report| notice(format_args!("lisle: {report}")));
    let runtime = builder.start().map_err(Error::Start)?;
    let log = options.log;
    let serve = || supervisor::run(&options, root, domains, shares, form, &signals);
    let Outcome { totals, output_waits } = runtime.run(serve).map_err(Error::Run)?;
    match log {
        LogFormat::Json => notice(format_args!("{}", totals.json())),
        LogFormat::Human | LogFormat::Off => notice(format_args!("lisle: {totals}")),
    }
    // In that case one fiber is known to wait forever, and the shutdown does not wait for it.
    let (patience, known) = if output_waits { (Duration::ZERO, 1) } else { (GRACE, 0) };
    let shutdown = runtime.shutdown(patience);
    if shutdown.unfinished > known {
        notice(format_args!("lisle: {shutdown}"));
    }
    Ok(())
}

/// Returns `true` if standard output is a terminal and the user has not turned colours off (see
/// no-color.org).
fn wants_colour() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
