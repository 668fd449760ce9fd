//! Every schedule with few preemptions.
//!
//! A preemption is a switch away from a process that could have gone on. Most bugs show with one or
//! two of them (Musuvathi and Qadeer, "Iterative context bounding for systematic testing of
//! multithreaded programs", PLDI 2007), and the number of schedules with so few grows only
//! polynomially with the length of the program. The bound goes up from zero, so that the first
//! failure has as few preemptions as any.
//!
//! There is no partial-order reduction here. A sleep set leaves out a schedule because an
//! equivalent one is explored elsewhere; but equivalent schedules may differ in their preemptions,
//! and the other schedule may lie beyond the bound. So each schedule within the bound is run.

use serde::{Deserialize, Serialize};

use super::{Counts, Decision, Ending, Mark, Process, Strategy};

/// Explores every schedule with up to a number of preemptions, fewer preemptions first.
#[derive(Debug, Serialize, Deserialize)]
pub struct Bounded {
    most: u32,
    /// The number of preemptions that the present round allows.
    bound: u32,
    /// The decisions of the execution in progress, up to the one that was changed last.
    decisions: Vec<Decided>,
    position: usize,
    used: u32,
    begun: bool,
    /// The last execution was left in the middle, and is the next one.
    again: bool,
    /// The bound has excluded a schedule in this round.
    limited: bool,
    finished: bool,
    counts: Counts,
    step: u32,
}

/// A decision, and the other options that remain.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Decided {
    /// The option that is taken; the first one has no preemption.
    option: u32,
    options: u32,
    /// All options but the first one cost a preemption.
    costs: bool,
    /// The preemptions before it.
    used: u32,
}

impl Bounded {
    /// Creates an exploration of all schedules with up to `most` preemptions.
    pub fn new(most: u32) -> Self {
        Bounded {
            most,
            bound: 0,
            decisions: Vec::new(),
            position: 0,
            used: 0,
            begun: false,
            again: false,
            limited: false,
            finished: false,
            counts: Counts::default(),
            step: 0,
        }
    }

    /// Returns the number of preemptions up to which all schedules have been run, or `None` if some
    /// schedules without preemptions remain.
    pub fn explored_bound(&self) -> Option<u32> {
        if self.finished { Some(self.bound) } else { self.bound.checked_sub(1) }
    }

    /// Returns `true` if every schedule has been run: none has more preemptions than the bound.
    pub fn is_exhaustive(&self) -> bool {
        self.finished && !self.limited
    }

    /// Returns the ending as which an execution counts. Earlier rounds have run all executions with
    /// fewer preemptions than the bound.
    pub(super) fn counted(&self, ending: Ending) -> Ending {
        if self.used < self.bound { Ending::Stopped } else { ending }
    }

    /// Makes the execution that was left in the middle the next one.
    pub(super) fn run_again(&mut self) {
        self.again = true;
    }

    fn decide(&mut self, options: u32, costs: bool) -> u32 {
        if self.position == self.decisions.len() {
            self.decisions.push(Decided { option: 0, options, costs, used: self.used });
        }
        let Decided { option, .. } = self.decisions[self.position];
        self.position += 1;
        if costs && option > 0 {
            self.used += 1;
        }
        option
    }

    /// Goes to the next schedule within the bound. Returns `false` if there is none.
    fn advance(&mut self) -> bool {
        while let Some(mut last) = self.decisions.pop() {
            if last.option + 1 < last.options {
                if last.costs && last.used >= self.bound {
                    self.limited = true;
                    continue;
                }
                last.option += 1;
                self.decisions.push(last);
                return true;
            }
        }
        false
    }
}

impl Strategy for Bounded {
    fn begin(&mut self) -> bool {
        if self.finished {
            return false;
        }
        let again = std::mem::take(&mut self.again);
        if self.begun && !again && !self.advance() {
            if !self.limited || self.bound == self.most {
                self.finished = true;
                return false;
            }
            self.bound += 1;
            self.limited = false;
        }
        self.begun = true;
        self.position = 0;
        self.used = 0;
        self.step = 0;
        true
    }

    fn next(&mut self, running: Option<Process>, runnable: &[Process]) -> Decision {
        self.step += 1;
        let own = running.and_then(|running| runnable.iter().position(|&process| process == running));
        let option = self.decide(runnable.len() as u32, own.is_some()) as usize;
        // The running process comes first, the others in their order.
        let index = match own {
            Some(own) if option == 0 => own,
            Some(own) if option <= own => option - 1,
            _ => option,
        };
        Decision::Run(runnable[index])
    }

    fn choose(&mut self, _: Process, ways: u32) -> u32 {
        self.decide(ways, false)
    }

    fn mark(&mut self) -> Mark {
        Mark(self.step - 1)
    }

    fn end(&mut self, ending: Ending) {
        self.counts.add(self.counted(ending));
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}
