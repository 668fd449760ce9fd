//! The actions of a run's threads, and the decision that none of them can do more.
//!
//! A thread records an offer before it performs it, and the outcome afterwards. Between a
//! communication and its record the ledger is behind. Yet it can tell for sure that a run is
//! *quiet*. A run is quiet when
//!
//! 1. each thread has ended, or has recorded an offer and not yet that something has happened,
//! 2. no two threads have offers that match, and
//! 3. on each channel as many sends as receives have been recorded.
//!
//! Suppose that by then a communication has happened that one of its two threads has not recorded.
//! If neither has, both still offer it, which contradicts 2. So one of the two has recorded each
//! such communication. By 3 there are, on the same channel, one of which only the send was recorded
//! and one of which only the receive was. The receiver of the first and the sender of the second
//! still offer those. They are not the same thread, since a thread has at most one performance at a
//! time. Their offers match, which contradicts 2 again. So all communications have been recorded,
//! every thread waits for something that no thread offers, and this does not change. Time plays no
//! part, and if the library fails to bring two matching offers together, the run never becomes
//! quiet.

use super::program::{ChannelName, Datum, Fate, Name, Outcome, Seen};
use lisle::sync::Condition;
use std::collections::BTreeMap;
use std::sync::Mutex;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Way {
    Send,
    Receive,
}

#[derive(Debug, Clone)]
enum Phase {
    Running,
    Offering(Vec<(ChannelName, Way)>),
    /// Holds the thread's value, or `None` if its last offer failed or it has panicked.
    Ended(Option<Datum>),
}

#[derive(Debug)]
struct Entry {
    phase: Phase,
    seen: Vec<Seen>,
    /// The thread makes no more calls.
    is_gone: bool,
}

#[derive(Debug, Default)]
struct State {
    entries: BTreeMap<Name, Entry>,
    /// The number of sends minus the number of receives.
    balance: BTreeMap<ChannelName, i32>,
    is_quiet: bool,
    /// Violations of the rules.
    complaints: Vec<String>,
}

pub(crate) struct Ledger {
    state: Mutex<State>,
    /// Nothing can happen any more.
    pub(crate) quiet: Condition,
    /// All threads have gone.
    pub(crate) over: Condition,
}

impl State {
    fn quiet(&self) -> bool {
        let mut offers = Vec::new();
        for (name, entry) in &self.entries {
            match &entry.phase {
                Phase::Running => return false,
                Phase::Offering(its) => offers.extend(its.iter().map(|offer| (*name, *offer))),
                Phase::Ended(_) => {}
            }
        }
        let fit = |(name, (channel, way)): &(Name, (ChannelName, Way))| {
            offers.iter().any(|(other, (its, its_way))| name != other && channel == its && way != its_way)
        };
        self.balance.values().all(|balance| *balance == 0) && !offers.iter().any(fit)
    }

    fn over(&self) -> bool {
        self.is_quiet && self.entries.values().all(|entry| entry.is_gone)
    }

    fn entry(&mut self, name: Name) -> &mut Entry {
        self.entries.get_mut(&name).expect("it has begun")
    }
}

impl Ledger {
    pub(crate) fn new() -> Self {
        Ledger { state: Mutex::default(), quiet: Condition::new(), over: Condition::new() }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state.lock().unwrap();
        change(&mut state);
        let becomes_quiet = !state.is_quiet && state.quiet();
        state.is_quiet |= becomes_quiet;
        let is_over = state.over();
        drop(state);
        if becomes_quiet {
            self.quiet.signal();
        }
        if is_over {
            self.over.signal();
        }
    }

    /// Records that a thread is about to be spawned.
    pub(crate) fn begins(&self, name: Name) {
        self.change(|state| {
            let entry = Entry { phase: Phase::Running, seen: Vec::new(), is_gone: false };
            assert!(state.entries.insert(name, entry).is_none(), "thread {name} is spawned once");
        });
    }

    /// Records that the thread is about to perform the choice of `offers`.
    pub(crate) fn offers(&self, name: Name, offers: Vec<(ChannelName, Way)>) {
        self.change(|state| state.entry(name).phase = Phase::Offering(offers));
    }

    /// Records that the thread has performed one of its offers.
    pub(crate) fn has_seen(&self, name: Name, alternative: usize, value: Datum) {
        self.change(|state| {
            let quiet = state.is_quiet;
            let entry = state.entry(name);
            entry.seen.push(Seen { alternative, value });
            let Phase::Offering(offers) = std::mem::replace(&mut entry.phase, Phase::Running) else {
                unreachable!("thread {name} performs what it offers")
            };
            let (channel, way) = offers[alternative];
            *state.balance.entry(channel).or_default() += if way == Way::Send { 1 } else { -1 };
            if quiet {
                state.complaints.push(format!("thread {name} goes on, although nobody could"));
            }
        });
    }

    /// Records that the thread has reached its end.
    pub(crate) fn ends(&self, name: Name, value: Datum) {
        self.change(|state| state.entry(name).phase = Phase::Ended(Some(value)));
    }

    /// Records that the thread has gone, whether it reached its end or not.
    pub(crate) fn leaves(&self, name: Name) {
        self.change(|state| {
            let quiet = state.is_quiet;
            let entry = state.entry(name);
            entry.is_gone = true;
            if !matches!(entry.phase, Phase::Ended(_)) {
                entry.phase = Phase::Ended(None);
                if !quiet {
                    state.complaints.push(format!("thread {name} gives up, although it might go on"));
                }
            }
        });
    }

    /// Returns the fates of `threads` threads.
    pub(crate) fn outcome(&self, threads: usize) -> Outcome {
        let mut state = self.state.lock().unwrap();
        assert!(state.complaints.is_empty(), "{:?}", state.complaints);
        let fate = |entry: Entry| match entry.phase {
            Phase::Ended(value) => Fate { seen: entry.seen, value },
            phase => unreachable!("all have gone, but one is {phase:?}"),
        };
        (0..threads).map(|name| state.entries.remove(&name).map(fate)).collect()
    }
}
