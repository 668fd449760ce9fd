//! All interleavings, one by one, and which of them are equivalent.
//!
//! The engine is compared with this search. The two share only the table of the steps that commute.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::hash::{Hash, Hasher};

use lisle_check::explore::{Access, Counts, Decision, Ending, Kind, Mark, Object, Process, Strategy};

use crate::toy::{Final, Machine, Program};

/// A step that was run.
#[derive(Clone, Debug, Default)]
struct Event {
    process: u32,
    accesses: Vec<Access>,
    choices: Vec<u32>,
}

/// Runs every interleaving.
#[derive(Debug, Default)]
pub(crate) struct Brute {
    /// Each decision of the execution in progress: the alternative taken, and the number of
    /// alternatives.
    decisions: Vec<(usize, usize)>,
    position: usize,
    begun: bool,
    events: Vec<Event>,
    counts: Counts,
}

impl Brute {
    fn decide(&mut self, options: usize) -> usize {
        if self.position == self.decisions.len() {
            self.decisions.push((0, options));
        }
        assert_eq!(self.decisions[self.position].1, options);
        self.position += 1;
        self.decisions[self.position - 1].0
    }

    /// Returns a hash that is the same for all executions equivalent to this one, and for no other.
    fn class(&self) -> u64 {
        let mut counts = BTreeMap::new();
        let mut parts = BTreeMap::new();
        let mut names = Vec::new();
        for (index, event) in self.events.iter().enumerate() {
            let count: &mut u32 = counts.entry(event.process).or_default();
            *count += 1;
            let name = (event.process, *count);
            let mut before: Vec<(u32, u32)> = Vec::new();
            for (earlier, &name) in self.events[..index].iter().zip(&names) {
                if earlier
                    .accesses
                    .iter()
                    .any(|a| event.accesses.iter().any(|b| a.object == b.object && !a.kind.commutes(b.kind)))
                {
                    before.push(name);
                }
            }
            before.sort();
            let label: Vec<_> = event.accesses.iter().map(|access| (access.object, access.kind)).collect();
            parts.insert(name, (before, label, event.choices.clone()));
            names.push(name);
        }
        let mut hasher = DefaultHasher::new();
        parts.hash(&mut hasher);
        hasher.finish()
    }
}

impl Strategy for Brute {
    fn begin(&mut self) -> bool {
        if self.begun {
            while let Some((taken, options)) = self.decisions.pop() {
                if taken + 1 < options {
                    self.decisions.push((taken + 1, options));
                    break;
                }
            }
            if self.decisions.is_empty() {
                return false;
            }
        }
        self.begun = true;
        self.position = 0;
        self.events.clear();
        true
    }

    fn next(&mut self, _: Option<Process>, runnable: &[Process]) -> Decision {
        let process = runnable[self.decide(runnable.len())];
        self.events.push(Event { process: process.0, ..Event::default() });
        Decision::Run(process)
    }

    fn choose(&mut self, _: Process, ways: u32) -> u32 {
        let way = self.decide(ways as usize) as u32;
        self.events.last_mut().unwrap().choices.push(way);
        way
    }

    fn access(&mut self, object: Object, kind: Kind) {
        self.events.last_mut().unwrap().accesses.push(Access { object, kind });
    }

    fn mark(&mut self) -> Mark {
        Mark(self.events.len() as u32 - 1)
    }

    fn end(&mut self, ending: Ending) {
        self.counts.add(ending);
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}

/// The outcomes of all interleavings of a program.
#[derive(Default, PartialEq, Eq)]
pub(crate) struct Truth {
    /// The number of classes of equivalent executions that end, and of those that block.
    pub(crate) complete: u64,
    pub(crate) blocked: u64,
    /// The observable states at the end.
    pub(crate) finals: HashSet<Final>,
}

impl fmt::Debug for Truth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} complete, {} blocked, {} ends", self.complete, self.blocked, self.finals.len())
    }
}

/// Runs every interleaving, or returns `None` if there are more than `limit`.
pub(crate) fn truth(program: &Program, limit: u64) -> Option<Truth> {
    let mut brute = Brute::default();
    let mut machine = Machine::new();
    let mut truth = Truth::default();
    let mut classes = HashSet::new();
    while brute.begin() {
        if brute.counts.all() == limit {
            return None;
        }
        let ending = machine.run(program, &mut brute);
        truth.finals.insert(machine.seen());
        if classes.insert(brute.class()) {
            match ending {
                Ending::Complete => truth.complete += 1,
                _ => truth.blocked += 1,
            }
        }
    }
    Some(truth)
}
