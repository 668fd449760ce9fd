//! Vector clocks: for each process, the number of its events that come before something.

use smallvec::SmallVec;

/// An event: its process, and its number among the events of the process, from 1 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) process: u32,
    pub(super) count: u32,
}

impl Moment {
    /// The time before all events.
    pub(super) const START: Moment = Moment { process: 0, count: 0 };
}

/// For each process, the number of its events that come before something.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Clock(SmallVec<[u32; 8]>);

impl Clock {
    /// Returns `true` if the event comes before.
    pub(super) fn has(&self, moment: Moment) -> bool {
        self.0.get(moment.process as usize).copied().unwrap_or(0) >= moment.count
    }

    /// Adds an event, and the earlier events of its process.
    pub(super) fn add(&mut self, moment: Moment) {
        let process = moment.process as usize;
        if self.0.len() <= process {
            self.0.resize(process + 1, 0);
        }
        self.0[process] = self.0[process].max(moment.count);
    }

    /// Adds all events of another clock.
    pub(super) fn join(&mut self, other: &Clock) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_has_what_was_added_and_what_came_before() {
        let mut clock = Clock::default();
        assert!(clock.has(Moment::START));
        clock.add(Moment { process: 2, count: 3 });
        assert!(clock.has(Moment { process: 2, count: 2 }) && !clock.has(Moment { process: 2, count: 4 }));
        let mut other = Clock::default();
        other.add(Moment { process: 5, count: 1 });
        other.join(&clock);
        assert!(other.has(Moment { process: 5, count: 1 }) && other.has(Moment { process: 2, count: 3 }));
        assert!(!clock.has(Moment { process: 5, count: 1 }));
    }
}
