//! For each domain one fiber that is told of every request: it counts, and writes the lines of the log.
//!
//! To it flows one message a request, on the same domain. From it flow batches of lines to the fiber that owns standard
//! output. A batch is collected for a moment, so that a busy server hands over many lines seldom; then the scribe offers it
//! and listens for records in one choice, and so waits for neither.

use std::cell::Cell;
use std::time::{Duration, Instant, SystemTime};

use lisle::channel::{Receiver, RecvError, Sender};
use lisle::time::at;
use lisle::{Event, choose};

use super::line::{LineWriter, Record};
use super::output::Batch;
use crate::serve::stats::Totals;

/// How long a batch is collected. A person who watches the log does not notice it. That a scribe lets so much time pass
/// between two offers is also what gives the scribes of other domains their turn.
const COLLECT: Duration = Duration::from_millis(10);

/// How much text may wait for standard output; more is dropped.
const MAX_WAITING: usize = 512 * 1024;

/// The way to the output fiber.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    pub(crate) batches: Sender<Batch>,
    /// Buffers that have been written and may be used again.
    pub(crate) spare: Receiver<Vec<u8>>,
}

/// Counts until the last connection has gone, and returns the counts, and the lines that the output has not taken yet: to
/// wait for it is not for the scribe, whose counts are wanted in any case. Without an output nothing is written.
pub(crate) fn run(records: &Receiver<Record>, mut log: Option<(LineWriter, Output)>) -> (Totals, Batch) {
    let mut totals = Totals::new();
    let mut state = State::Empty;
    let waiting = Cell::new(Batch::default());
    loop {
        let record = records.recv_evt().wrap(Next::Record);
        let next = match (&state, &log) {
            (State::Empty, _) | (_, None) => record.sync(),
            (State::Collecting { until }, Some(_)) => {
                choose((record, at(*until).wrap(|()| Next::Offer))).sync()
            }
            (State::Offering, Some((_, output))) => {
                let offer = output.batches.send_with_evt(|| waiting.take());
                choose((record, offer.wrap(|taken| Next::Handed(taken.is_ok())))).sync()
            }
        };
        let record = match next {
            Next::Record(Ok(record)) => record,
            Next::Record(Err(_)) => return (totals, waiting.take()),
            Next::Offer => {
                state = State::Offering;
                continue;
            }
            Next::Handed(true) => {
                let text =
                    log.as_ref().and_then(|(_, output)| output.spare.try_recv().ok()).unwrap_or_default();
                waiting.set(Batch { text, lines: 0 });
                state = State::Empty;
                continue;
            }
            Next::Handed(false) => {
                log = None;
                continue;
            }
        };
        totals.count(&record);
        if let Some((writer, _)) = &mut log {
            let mut batch = waiting.take();
            if batch.text.len() < MAX_WAITING {
                writer.write(&mut batch.text, &record, SystemTime::now());
                batch.lines += 1;
            } else {
                totals.dropped_lines += 1;
            }
            waiting.set(batch);
            if matches!(state, State::Empty) {
                state = State::Collecting { until: Instant::now() + COLLECT };
            }
        }
    }
}

/// What becomes of the batch.
enum State {
    /// It has no lines.
    Empty,
    /// It is filled for a while.
    Collecting { until: Instant },
    /// The output may have it at any time.
    Offering,
}

/// What the scribe wakes up for.
enum Next {
    Record(Result<Record, RecvError>),
    /// The batch has been collected for long enough.
    Offer,
    /// The output has taken the batch; or it is gone.
    Handed(bool),
}
