//! One fiber per domain that receives a record of every request, counts it, and writes the lines of
//! the log.
//!
//! Each request is one message, on the same domain. Batches of lines go to the fiber that owns
//! standard output. A batch is collected for a moment, so a busy server sends many lines in few
//! messages. Then the scribe offers the batch and receives records in one choice, so it waits for
//! neither.

use std::cell::Cell;
use std::time::{Duration, Instant, SystemTime};

use lisle::channel::{Receiver, RecvError, Sender};
use lisle::time::at;
use lisle::{Event, choose};

use super::line::{LineWriter, Record};
use super::output::Batch;
use crate::serve::stats::Totals;

/// How long a batch is collected. A person who watches the log does not notice it. This time
/// between two offers also gives the scribes of other domains their turn.
const COLLECT: Duration = Duration::from_millis(10);

/// The size of the text that may wait for standard output. Lines beyond it are dropped.
const MAX_WAITING: usize = 512 * 1024;

/// The channels to and from the output fiber.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    pub(crate) batches: Sender<Batch>,
    /// Buffers that have been written and can be reused.
    pub(crate) spare: Receiver<Vec<u8>>,
}

/// Counts until the last connection has ended. Returns the counts and the lines that the output has
/// not taken yet; the scribe does not wait for the output, because its counts are needed in any
/// case. Without an output no lines are written.
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

/// The state of the batch.
enum State {
    /// It has no lines.
    Empty,
    /// It is being filled.
    Collecting { until: Instant },
    /// It is offered to the output.
    Offering,
}

/// The causes for which the scribe wakes up.
enum Next {
    Record(Result<Record, RecvError>),
    /// The batch has been collected for long enough.
    Offer,
    /// `true` if the output has taken the batch, `false` if the output has ended.
    Handed(bool),
}
