//! Chooses the next execution, and counts the executions that are over.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::Drawn;
use crate::explore::sampled::Lengths;
use crate::explore::{Bounded, Counts, Ending, Strategy};

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) state: Mutex<DrawingState>,
    pub(super) changed: Condvar,
}

/// The state that the workers share.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct DrawingState {
    pub(super) members: Vec<Member>,
    /// Whose turn it is.
    pub(super) turn: usize,
    /// The number of the execution that begins next.
    pub(super) begun: u64,
    pub(super) most: u64,
    /// Executions that ended before one with a smaller number, with `None` for an execution that
    /// was left in the middle.
    #[serde(skip)]
    pub(super) over: BTreeMap<u64, Option<Ending>>,
    /// All executions before this one are in `counts`.
    pub(super) counted: u64,
    pub(super) counts: Counts,
    pub(super) until_failure: bool,
    /// The last execution that counts, such as the first one that failed.
    #[serde(skip)]
    pub(super) last: Option<u64>,
    #[serde(skip)]
    pub(super) stopped: bool,
    #[serde(skip)]
    pub(super) waiting: u32,
}

/// One of the strategies.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Member {
    pub(super) drawn: Drawn,
    pub(super) begun: u64,
    pub(super) over: u64,
    pub(super) assumed: Lengths,
    pub(super) seen: Lengths,
    /// `None` while a worker has it.
    pub(super) bounded: Option<Bounded>,
    pub(super) is_finished: bool,
}

/// The offer of a strategy.
pub(super) enum Offer {
    Execution(Planned),
    /// An execution, when others are over.
    Later,
    Nothing,
}

/// An execution of one strategy, by its number within the strategy.
pub(super) enum Planned {
    Random { seed: u64, number: u64 },
    Priorities { seed: u64, depth: u32, number: u64, assumed: Lengths },
    Bounded(Bounded),
}

impl Member {
    pub(super) fn new(drawn: Drawn) -> Self {
        let bounded = match drawn {
            Drawn::Bounded { most } => Some(Bounded::new(most)),
            _ => None,
        };
        let (assumed, seen) = (Lengths::NONE, Lengths::NONE);
        Member { drawn, begun: 0, over: 0, assumed, seen, bounded, is_finished: false }
    }

    pub(super) fn offer(&mut self) -> Offer {
        let number = self.begun;
        let planned = match self.drawn {
            Drawn::Random { seed } => Planned::Random { seed, number },
            Drawn::Priorities { seed, depth } => {
                if Lengths::change_at(number) {
                    if self.over < number {
                        return Offer::Later;
                    }
                    self.assumed = self.seen;
                }
                Planned::Priorities { seed, depth, number, assumed: self.assumed }
            }
            Drawn::Bounded { .. } if self.is_finished => return Offer::Nothing,
            Drawn::Bounded { .. } => {
                let Some(mut bounded) = self.bounded.take() else { return Offer::Later };
                if !bounded.begin() {
                    self.bounded = Some(bounded);
                    self.is_finished = true;
                    return Offer::Nothing;
                }
                Planned::Bounded(bounded)
            }
        };
        self.begun += 1;
        Offer::Execution(planned)
    }
}

impl DrawingState {
    /// Returns the next execution, its number and its strategy's place.
    pub(super) fn draw(&mut self) -> Result<(u64, usize, Planned), Offer> {
        for _ in 0..self.members.len() {
            let place = self.turn;
            let offer = self.members[place].offer();
            if matches!(offer, Offer::Later) {
                return Err(offer);
            }
            self.turn = (place + 1) % self.members.len();
            if let Offer::Execution(planned) = offer {
                self.begun += 1;
                return Ok((self.begun - 1, place, planned));
            }
        }
        Err(Offer::Nothing)
    }

    pub(super) fn end_after(&mut self, number: u64) {
        self.last = Some(self.last.map_or(number, |last| last.min(number)));
    }

    /// Counts the finished executions up to the first unfinished one.
    pub(super) fn count(&mut self) {
        while self.last.is_none_or(|last| self.counted <= last)
            && let Some(ending) = self.over.remove(&self.counted)
        {
            ending.into_iter().for_each(|ending| self.counts.add(ending));
            self.counted += 1;
        }
    }
}

impl Shared {
    pub(super) fn new(state: DrawingState) -> Arc<Self> {
        Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, DrawingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn wake(&self, state: &DrawingState) {
        if state.waiting > 0 {
            self.changed.notify_all();
        }
    }
}
