//! `lisle serve`: a server for static files, put together from fibers that talk only through events.
//!
//! ```text
//!   supervisor ── starts, and at the end stops ──▶ all others
//!   listener ─── spawns ──▶ connection ── Ask ──▶ files      (one a domain: the cache)
//!      ▲                     │     ▲                │ spawns, for what is not in the cache
//!      └───── End ───────────┘     └── Answer ──────┘──▶ loader ── blocking pool
//!                            └── Record ──▶ scribe           (one a domain: counts, lines)
//!                                             └── Batch ──▶ output ──▶ standard output
//! ```
//!
//! A connection, and the files and the scribe it talks to, are on one domain, so that a request is served without any
//! message to another. Invariant: no fiber here shares a lock or a counter with another; what looks like one (the limit
//! on connections, the totals) belongs to one fiber, which the others send messages to.

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

/// How long the runtime may take to end, once the server has.
const GRACE: Duration = Duration::from_secs(1);

/// Why there is no server.
#[derive(Debug)]
pub(crate) enum Error {
    /// The directory cannot be served.
    Directory(PathBuf, io::Error),
    /// The system does not give what is needed to begin.
    Start(io::Error),
    /// The system allows too few descriptors.
    Descriptors(TooFew),
    /// It could not run, or not go on.
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

/// Serves until a signal ends it.
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
            "lisle: at most {} connections at once instead of {wanted}, for only {allowed} open files are allowed \
             (ulimit -Hn)",
            shares.connections
        ));
    }
    let form = match options.log {
        LogFormat::Off => None,
        LogFormat::Json => Some(Form::Json),
        LogFormat::Human => Some(Form::Human { colour: wants_colour() }),
    };
    // What the server is doing is most wanted when it does nothing, so it is asked of no fiber.
    let builder = lisle::Runtime::builder().domains(domains).dump_on(lisle::signal::SIGQUIT);
    // The library itself would wait for standard error, and hold it meanwhile.
    let builder = builder.on_report(|report| notice(format_args!("lisle: {report}")));
    let runtime = builder.start().map_err(Error::Start)?;
    let log = options.log;
    let serve = || supervisor::run(&options, root, domains, shares, form, &signals);
    let Outcome { totals, output_waits } = runtime.run(serve).map_err(Error::Run)?;
    match log {
        LogFormat::Json => notice(format_args!("{}", totals.json())),
        LogFormat::Human | LogFormat::Off => notice(format_args!("lisle: {totals}")),
    }
    // One fiber is known to wait for ever then, and nobody is to wait for it.
    let (patience, known) = if output_waits { (Duration::ZERO, 1) } else { (GRACE, 0) };
    let shutdown = runtime.shutdown(patience);
    if shutdown.unfinished > known {
        notice(format_args!("lisle: {shutdown}"));
    }
    Ok(())
}

/// Colour is for people at a terminal who have not said that they do not want it (see no-color.org).
fn wants_colour() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
