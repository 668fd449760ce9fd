//! The supervisor: starts all other hosts, waits for a signal, and brings everything to an end in the right order.
//!
//! The order is that of the messages: the listener first, then the connections, which it counts; when the last of them
//! has ended, the scribes and the file components, which serve them; last the output, which serves the scribes. Each step
//! has a deadline, so that a client that does not read or a disk that does not answer cannot hold up the end.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use lisle::channel::Sender;
use lisle::fiber::{self, JoinHandle};
use lisle::net::TcpListener;
use lisle::sync::Condition;
use lisle::time::after;
use lisle::{Event, choose};

use super::files::root::Root;
use super::files::{self, Ask};
use super::listener;
use super::log::line::{Form, LineWriter, Record};
use super::log::output::{self, Batch};
use super::log::scribe::{self, Output};
use super::notice::notice;
use super::shard::{ConnectionLimits, Shard, Shared};
use super::signals::Signals;
use super::stats::Totals;
use crate::cli::ServeOptions;

/// How long a host that has been told to stop at once may take to do so.
const GRACE: Duration = Duration::from_secs(1);

/// How many records may wait for a scribe before a connection waits instead.
const RECORDS: usize = 256;

/// Why the server could not run, or could not go on.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The address cannot be listened on.
    Listen(SocketAddr, io::Error),
    /// The listener has ended without having been told to.
    Listener(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Listen(address, error) => write!(f, "cannot listen on {address}: {error}"),
            Failure::Listener(reason) => write!(f, "the listener has failed: {reason}"),
        }
    }
}

/// Serves until a signal comes, and returns the totals.
pub(crate) fn run(
    options: &ServeOptions,
    root: Root,
    domains: usize,
    form: Option<Form>,
    signals: &Signals,
) -> Result<Totals, Failure> {
    let failed = |error| Failure::Listen(options.addr, error);
    let socket = TcpListener::bind(options.addr).map_err(failed)?;
    let address = socket.local_addr().map_err(failed)?;
    let server = Server::start(options, root, domains, form);
    let stop = Arc::new(Condition::new().named("stop"));
    let listener = {
        let shards = server.shards.clone();
        let (max, stop) = (options.limits.max_connections, Arc::clone(&stop));
        fiber::Builder::new().name("listener").spawn(move || listener::run(socket, shards, max, &stop))
    };
    notice(format_args!("lisle: serving {} on http://{address}/", options.directory.display()));

    let ended = choose((signals.any_evt().wrap(|()| None), listener.join_evt().wrap(Some))).sync();
    if let Some(outcome) = ended {
        return Err(Failure::Listener(
            outcome.map_or_else(|panic| panic.to_string(), |_| "it stopped".to_owned()),
        ));
    }
    stop.signal();
    for shard in &server.shards {
        shard.drain.signal();
    }
    let refused = await_connections(&server.shards, listener, options.drain, signals);
    let mut totals = server.finish();
    totals.refused += refused;
    Ok(totals)
}

/// Waits for the listener, and with it for all connections. How many connections were over the limit.
fn await_connections(
    shards: &[Shared],
    listener: JoinHandle<u64>,
    patience: Duration,
    signals: &Signals,
) -> u64 {
    let finished = choose((
        listener.join_evt().wrap(Some),
        after(patience).wrap(|()| None),
        signals.any_evt().wrap(|()| None),
    ))
    .sync();
    let finished = finished.or_else(|| {
        notice(format_args!("lisle: closing the connections that are still open"));
        for shard in shards {
            shard.halt.signal();
        }
        choose((listener.join_evt().wrap(Some), after(GRACE).wrap(|()| None))).sync()
    });
    match finished {
        Some(outcome) => outcome.unwrap_or(0),
        None => {
            notice(format_args!("lisle: some connections did not end in time"));
            0
        }
    }
}

/// The way to a scribe, and what it leaves when it ends.
type Scribe = (Sender<Record>, JoinHandle<(Totals, Batch)>);

/// The hosts that serve the connections.
struct Server {
    shards: Vec<Shared>,
    scribes: Vec<Scribe>,
    files: Vec<Sender<Ask>>,
    output: Option<(Sender<Batch>, JoinHandle<u64>)>,
}

impl Server {
    fn start(options: &ServeOptions, root: Root, domains: usize, form: Option<Form>) -> Server {
        let (output, way) = match form {
            None => (None, None),
            Some(form) => {
                let (batches, taken) = lisle::channel::named::<Batch>("batches", 0);
                let (emptied, spare) = lisle::channel::named("spare batches", domains);
                let output =
                    fiber::Builder::new().name("output").spawn(move || output::run(&taken, &emptied));
                (Some((batches.clone(), output)), Some((form, Output { batches, spare })))
            }
        };
        let budget = options.limits.cache_bytes / domains as u64;
        let settings = files::Settings {
            root: Arc::new(root),
            budget,
            in_memory: options.limits.max_file_in_cache.min(budget),
            recheck: options.limits.recheck,
        };
        let mut server = Server { shards: Vec::new(), scribes: Vec::new(), files: Vec::new(), output };
        for domain in 0..domains {
            let (files, asks) = lisle::channel::named("asks", 0);
            let settings = settings.clone();
            host("files", domain).spawn(move || files::run(settings, &asks));
            let (records, taken) = lisle::channel::named("records", RECORDS);
            let log = way.clone().map(|(form, output)| (LineWriter::new(form), output));
            let scribe = host("scribe", domain).spawn(move || scribe::run(&taken, log));
            server.scribes.push((records.clone(), scribe));
            server.files.push(files.clone());
            server.shards.push(Arc::new(Shard {
                files,
                records,
                limits: ConnectionLimits::from(&options.limits),
                drain: Condition::new().named("drain"),
                halt: Condition::new().named("halt"),
            }));
        }
        server
    }

    /// Ends all hosts, and adds up what they have counted. To be called when there are no connections any more, or
    /// when those that are left have been given up.
    fn finish(self) -> Totals {
        let mut totals = Totals::new();
        for files in &self.files {
            files.close();
        }
        let mut rest = Vec::new();
        for (records, scribe) in self.scribes {
            records.close();
            match choose((scribe.join_evt().wrap(Some), after(GRACE).wrap(|()| None))).sync() {
                Some(Ok((counted, lines))) => {
                    totals.add(&counted);
                    rest.push(lines);
                }
                Some(Err(panic)) => notice(format_args!("lisle: the counts of one domain are lost: {panic}")),
                None => notice(format_args!(
                    "lisle: the counts of one domain are lost: its scribe does not answer"
                )),
            }
        }
        if let Some((batches, output)) = self.output {
            totals.dropped_lines += finish_log(&batches, &output, rest);
        }
        totals
    }
}

fn host(name: &str, domain: usize) -> fiber::Builder {
    fiber::Builder::new().name(name).domain(domain)
}

/// Has the output write what is left. How many lines were not written.
fn finish_log(batches: &Sender<Batch>, output: &JoinHandle<u64>, rest: Vec<Batch>) -> u64 {
    let mut lost = 0;
    let mut patience = GRACE;
    for batch in rest.into_iter().filter(|batch| batch.lines > 0) {
        let lines = batch.lines;
        if batches.send_timeout(batch, patience).is_err() {
            lost += lines;
            // It was waited for once; the others need not wait as long again.
            patience = Duration::ZERO;
        }
    }
    batches.close();
    match choose((output.join_evt().wrap(Some), after(GRACE).wrap(|()| None))).sync() {
        Some(Ok(unwritten)) => lost += unwritten,
        Some(Err(panic)) => notice(format_args!("lisle: the end of the access log is lost: {panic}")),
        None => {
            notice(format_args!("lisle: the end of the access log is lost: standard output takes nothing"))
        }
    }
    lost
}
