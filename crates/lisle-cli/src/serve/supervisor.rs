//! The supervisor: starts all other fibers, waits for a signal, and ends everything in the right
//! order.
//!
//! The fibers end in the order in which messages flow. First the listener ends, then the
//! connections, which it counts. When the last connection has ended, the scribes and the file
//! components end, which serve the connections. The output ends last, because it serves the
//! scribes. Each step has a deadline, so a client that does not read or a disk that does not answer
//! cannot delay the end.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lisle::channel::{Receiver, Sender};
use lisle::fiber::{self, JoinHandle};
use lisle::sync::Condition;
use lisle::time::{after, at};
use lisle::{Event, choose};

use super::address::Refused;
use super::descriptors::Shares;
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

/// How long a fiber may take to stop after it was told to stop at once.
const GRACE: Duration = Duration::from_secs(1);

/// If standard output has taken nothing for this long, it is assumed to have no reader. The
/// shutdown does not wait for it.
const NOBODY_READS: Duration = Duration::from_millis(100);

/// The number of records that may wait for a scribe. With more, a connection waits instead.
const RECORDS: usize = 256;

/// The reason why the server could not run or could not continue.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The server cannot listen on the address.
    Listen(Refused),
    /// The listener has ended without having been told to.
    Listener(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Listen(refused) => refused.fmt(f),
            Failure::Listener(reason) => write!(f, "the listener has failed: {reason}"),
        }
    }
}

/// The results of a server that has ended.
pub(crate) struct Outcome {
    pub(crate) totals: Totals,
    /// `true` if the output fiber still waits for standard output and so will not end.
    pub(crate) output_waits: bool,
}

/// Serves until a signal comes.
pub(crate) fn run(
    options: &ServeOptions,
    root: Root,
    domains: usize,
    descriptors: Shares,
    form: Option<Form>,
    signals: &Signals,
) -> Result<Outcome, Failure> {
    let sockets = options.addr.listen().map_err(Failure::Listen)?;
    let places: Vec<String> = sockets
        .iter()
        .filter_map(|socket| socket.local_addr().ok())
        .map(|address| format!("http://{address}/"))
        .collect();
    let server = Server::start(options, root, domains, descriptors, form);
    let stop = Arc::new(Condition::new().named("stop"));
    let listener = {
        let shards = server.shards.clone();
        let stop = Arc::clone(&stop);
        let run = move || listener::run(sockets, shards, descriptors, &stop);
        fiber::Builder::new().name("listener").spawn(run)
    };
    notice(format_args!("lisle: serving {} on {}", options.directory.display(), places.join(" and ")));

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
    let mut outcome = server.finish();
    outcome.totals.refused += refused;
    Ok(outcome)
}

/// Waits for the listener, which waits for all connections. Returns the number of connections over
/// the limit.
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

/// The channel to a scribe, and the scribe's result.
type Scribe = (Sender<Record>, JoinHandle<(Totals, Batch)>);

/// The channel to the output fiber, its signs of life, and the number of lines that it could not
/// write.
struct Log {
    batches: Sender<Batch>,
    signs: Receiver<()>,
    output: JoinHandle<u64>,
}

/// The fibers that serve the connections.
struct Server {
    shards: Vec<Shared>,
    scribes: Vec<Scribe>,
    files: Vec<Sender<Ask>>,
    log: Option<Log>,
}

impl Server {
    fn start(
        options: &ServeOptions,
        root: Root,
        domains: usize,
        descriptors: Shares,
        form: Option<Form>,
    ) -> Server {
        let (log, way) = match form {
            None => (None, None),
            Some(form) => {
                let (batches, taken) = lisle::channel::named::<Batch>("batches", 0);
                let (emptied, spare) = lisle::channel::named("spare batches", domains);
                let (alive, signs) = lisle::channel::named("signs of life", 1);
                let run = move || output::run(&taken, &emptied, &alive);
                let output = fiber::Builder::new().name("output").spawn(run);
                (
                    Some(Log { batches: batches.clone(), signs, output }),
                    Some((form, Output { batches, spare })),
                )
            }
        };
        let budget = options.limits.cache_bytes / domains as u64;
        let settings = files::Settings {
            root: Arc::new(root),
            budget,
            in_memory: options.limits.max_file_in_cache.min(budget),
            open: descriptors.open,
            loaders: descriptors.looks,
            recheck: options.limits.recheck,
            dotfiles: options.dotfiles,
        };
        let mut server = Server { shards: Vec::new(), scribes: Vec::new(), files: Vec::new(), log };
        for domain in 0..domains {
            let (files, asks) = lisle::channel::named("asks", 0);
            let settings = settings.clone();
            fiber("files", domain).spawn(move || files::run(settings, &asks));
            let (records, taken) = lisle::channel::named("records", RECORDS);
            let log = way.clone().map(|(form, output)| (LineWriter::new(form), output));
            let scribe = fiber("scribe", domain).spawn(move || scribe::run(&taken, log));
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

    /// Ends all fibers and adds up their counts. Called when there are no connections any more, or
    /// when the remaining ones have been given up.
    fn finish(self) -> Outcome {
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
        let (lost, output_waits) = self.log.map_or((0, false), |log| log.finish(rest));
        totals.dropped_lines += lost;
        Outcome { totals, output_waits }
    }
}

fn fiber(name: &str, domain: usize) -> fiber::Builder {
    fiber::Builder::new().name(name).domain(domain)
}

impl Log {
    /// Lets the output write the remaining lines for as long as it makes progress. Returns the
    /// number of lines that are known not to have been written, and `true` if the output still
    /// waits.
    fn finish(self, rest: Vec<Batch>) -> (u64, bool) {
        let end = Instant::now() + GRACE;
        let mut left: u64 = rest.iter().map(|batch| batch.lines).sum();
        for batch in rest.into_iter().filter(|batch| batch.lines > 0) {
            let lines = batch.lines;
            let batch = Cell::new(batch);
            match self.while_alive(self.batches.send_with_evt(|| batch.take()), end) {
                Some(Ok(())) => left -= lines,
                Some(Err(_)) => {}
                None => return (left, true),
            }
        }
        self.batches.close();
        match self.while_alive(self.output.join_evt(), end) {
            Some(Ok(unwritten)) => (left + unwritten, false),
            Some(Err(panic)) => {
                notice(format_args!("lisle: the end of the access log is lost: {panic}"));
                (left, false)
            }
            None => (left, true),
        }
    }

    /// Waits for the event until `end`, but no longer than [`NOBODY_READS`] without a sign of life.
    /// Otherwise prints a notice that standard output has no reader, and returns `None`.
    fn while_alive<T: Send>(&self, event: impl Event<Output = T>, end: Instant) -> Option<T> {
        loop {
            let patience = end.min(Instant::now() + NOBODY_READS);
            let next = choose((
                (&event).wrap(|value| Next::Done(value)),
                // An output that has ended gives no signs, and its end will be there in a moment.
                self.signs.recv_evt().wrap(|sign| sign.map_or(Next::Gone, |()| Next::Alive)),
                at(patience).wrap(|()| Next::Silence),
            ));
            match next.sync() {
                Next::Done(value) => return Some(value),
                Next::Gone => return Some(event.sync()),
                Next::Alive if Instant::now() < end => {}
                Next::Alive | Next::Silence => break,
            }
        }
        notice(format_args!("lisle: the end of the access log is lost: standard output is not read"));
        None
    }
}

/// The causes for which the wait at the end of the log wakes up.
enum Next<T> {
    Done(T),
    Alive,
    Gone,
    Silence,
}
