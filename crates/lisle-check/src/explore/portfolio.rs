//! Several strategies in turn.

use super::{Counts, Decision, Ending, Kind, Mark, Object, Process, Strategy};

/// Gives each of several strategies one execution in turn, until none has one to run.
///
/// No strategy is the best for all programs; a portfolio is never much slower than the best of its
/// members.
pub struct Portfolio {
    strategies: Vec<Box<dyn Strategy + Send>>,
    /// Those that have something to run still.
    open: Vec<bool>,
    current: usize,
}

impl std::fmt::Debug for Portfolio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Portfolio")
            .field("open", &self.open)
            .field("current", &self.current)
            .finish_non_exhaustive()
    }
}

impl Portfolio {
    /// Creates a portfolio of these strategies.
    pub fn new(strategies: Vec<Box<dyn Strategy + Send>>) -> Self {
        let open = vec![true; strategies.len()];
        let current = strategies.len().saturating_sub(1);
        Portfolio { strategies, open, current }
    }

    /// Returns the place of the strategy that ran the last execution.
    pub fn current(&self) -> usize {
        self.current
    }
}

impl Strategy for Portfolio {
    fn begin(&mut self) -> bool {
        for _ in 0..self.strategies.len() {
            self.current = (self.current + 1) % self.strategies.len();
            if self.open[self.current] {
                self.open[self.current] = self.strategies[self.current].begin();
                if self.open[self.current] {
                    return true;
                }
            }
        }
        false
    }

    fn next(&mut self, running: Option<Process>, runnable: &[Process]) -> Decision {
        self.strategies[self.current].next(running, runnable)
    }

    fn choose(&mut self, process: Process, ways: u32) -> u32 {
        self.strategies[self.current].choose(process, ways)
    }

    fn access(&mut self, object: Object, kind: Kind) {
        self.strategies[self.current].access(object, kind);
    }

    fn enables(&mut self, process: Process) {
        self.strategies[self.current].enables(process);
    }

    fn after(&mut self, process: Process) {
        self.strategies[self.current].after(process);
    }

    fn mark(&mut self) -> Mark {
        self.strategies[self.current].mark()
    }

    fn follows(&mut self, mark: Mark) {
        self.strategies[self.current].follows(mark);
    }

    fn waits(&mut self, process: Process, object: Object, kind: Kind) {
        self.strategies[self.current].waits(process, object, kind);
    }

    fn end(&mut self, ending: Ending) {
        self.strategies[self.current].end(ending);
    }

    fn counts(&self) -> Counts {
        let mut sum = Counts::default();
        for counts in self.strategies.iter().map(|strategy| strategy.counts()) {
            sum.complete += counts.complete;
            sum.blocked += counts.blocked;
            sum.failed += counts.failed;
            sum.endless += counts.endless;
            sum.redundant += counts.redundant;
        }
        sum
    }
}
