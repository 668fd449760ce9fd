//! The trait of strategies: the interface between the engine and the program under test.
//!
//! An execution is a sequence of calls: [`begin`](Strategy::begin), then for each step
//! [`next`](Strategy::next) and the reports of that step, at last [`end`](Strategy::end). All
//! strategies get the same calls. A strategy without a reduction ignores the reports.

use serde::{Deserialize, Serialize};

use super::{Kind, Object, Process};

/// The next step of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// This process runs one step.
    Run(Process),
    /// The execution is given up: it is known, or it has reached a bound. The program unwinds the
    /// execution, and calls [`Strategy::end`] with [`Ending::Stopped`].
    Stop,
}

/// How an execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// Every process came to its end.
    Complete,
    /// No process can run, and some have not ended.
    Blocked,
    /// The program failed: a panic, or a property that does not hold.
    ///
    /// The other processes should still run to their ends, if they can. Otherwise their steps are
    /// unknown, and so are the races of these steps.
    Failed,
    /// The execution does not end, or was longer than the caller allows.
    Endless,
    /// The strategy answered [`Decision::Stop`].
    Stopped,
}

/// A step of the execution in progress, for [`Strategy::follows`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark(pub u32);

/// How many executions there were, by their endings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Executions in which every process came to its end.
    pub complete: u64,
    /// Executions that ended with a process left waiting.
    pub blocked: u64,
    /// Executions that failed.
    pub failed: u64,
    /// Executions that had no end.
    pub endless: u64,
    /// Executions that were given up, since others show the same.
    pub redundant: u64,
}

impl Counts {
    /// Counts one execution that ended so.
    pub fn add(&mut self, ending: Ending) {
        *match ending {
            Ending::Complete => &mut self.complete,
            Ending::Blocked => &mut self.blocked,
            Ending::Failed => &mut self.failed,
            Ending::Endless => &mut self.endless,
            Ending::Stopped => &mut self.redundant,
        } += 1;
    }

    /// Returns the number of all executions but the redundant ones.
    pub fn distinct(&self) -> u64 {
        self.complete + self.blocked + self.failed + self.endless
    }

    /// Returns the number of all executions.
    pub fn all(&self) -> u64 {
        self.distinct() + self.redundant
    }
}

/// A strategy, which chooses schedules.
///
/// The reports are for strategies that reduce; the others do not need them. A strategy that wraps
/// another one forwards every call, with `forward_reports!`.
pub trait Strategy {
    /// Begins an execution, and returns `true` if there is one to run.
    ///
    /// A worker of a parallel exploration may wait here until another one has work to share.
    fn begin(&mut self) -> bool;

    /// Returns `true` if the strategy leaves out schedules that are equivalent to others. Then the
    /// reports have to be complete, also for a step that turns out to be impossible.
    fn reduces(&self) -> bool {
        false
    }

    /// Returns the process that runs its next step, one of `runnable`.
    ///
    /// `running` is the process that ran the last step. `runnable` has each process whose next step
    /// could run now, and no other, in an order that the steps so far determine. It is not empty.
    fn next(&mut self, running: Option<Process>, runnable: &[Process]) -> Decision;

    /// Returns one of `ways` ways in which the step in progress can go on, counted from zero.
    ///
    /// Each way is explored. The number of ways may depend on the values that this step, and the
    /// steps before it, have read.
    fn choose(&mut self, process: Process, ways: u32) -> u32;

    /// Reports that the step in progress does this to the object.
    fn access(&mut self, object: Object, kind: Kind) {
        let _ = (object, kind);
    }

    /// Reports that `process` could not have run its next step before the step in progress: it was
    /// created, or woken.
    fn enables(&mut self, process: Process) {
        let _ = process;
    }

    /// Reports that the step in progress could not have run before `process` came to its end.
    fn after(&mut self, process: Process) {
        let _ = process;
    }

    /// Returns the step in progress.
    fn mark(&mut self) -> Mark;

    /// Reports that the step in progress could not have run before the marked one of this
    /// execution: it receives the message that was sent there, or takes the permit that was given
    /// back there.
    fn follows(&mut self, mark: Mark) {
        let _ = mark;
    }

    /// Reports, when no step is in progress any more, that `process` is left waiting for this
    /// access to the object. Each process that an execution leaves behind is reported so before the
    /// end.
    fn waits(&mut self, process: Process, object: Object, kind: Kind) {
        let _ = (process, object, kind);
    }

    /// Returns `true` if the marked step happens after an earlier one, in each equivalent schedule.
    /// `true` also if the strategy does not know. No step is in progress any more.
    fn happens_after(&mut self, step: Mark, earlier: Mark) -> bool {
        let _ = (step, earlier);
        true
    }

    /// Ends the execution.
    fn end(&mut self, ending: Ending);

    /// Returns the counts of executions. Workers of one exploration count together.
    fn counts(&self) -> Counts;
}

/// Forwards to the inner strategy the methods that a wrapper does not change: the reports,
/// `reduces` and `counts`. `forward_reports!(self => self.strategy)` is a part of `impl Strategy`.
/// A wrapper that looks at the reports of steps adds `, except those of steps`, and has methods for
/// these.
///
/// It is written out, and not a default of the trait, so that nothing is called through a pointer.
#[doc(hidden)]
#[macro_export]
macro_rules! forward_reports {
    ($this:ident => $strategy:expr) => {
        $crate::forward_reports! { $this => $strategy, except those of steps }

        fn access(&mut $this, object: $crate::explore::Object, kind: $crate::explore::Kind) {
            $strategy.access(object, kind);
        }

        fn enables(&mut $this, process: $crate::explore::Process) {
            $strategy.enables(process);
        }

        fn after(&mut $this, process: $crate::explore::Process) {
            $strategy.after(process);
        }

        fn mark(&mut $this) -> $crate::explore::Mark {
            $strategy.mark()
        }

        fn follows(&mut $this, mark: $crate::explore::Mark) {
            $strategy.follows(mark);
        }
    };
    ($this:ident => $strategy:expr, except those of steps) => {
        fn reduces(&$this) -> bool {
            $strategy.reduces()
        }

        fn waits(
            &mut $this,
            process: $crate::explore::Process,
            object: $crate::explore::Object,
            kind: $crate::explore::Kind,
        ) {
            $strategy.waits(process, object, kind);
        }

        fn happens_after(&mut $this, step: $crate::explore::Mark, earlier: $crate::explore::Mark) -> bool {
            $strategy.happens_after(step, earlier)
        }

        fn counts(&$this) -> $crate::explore::Counts {
            $strategy.counts()
        }
    };
}

impl<S: Strategy + ?Sized> Strategy for Box<S> {
    fn begin(&mut self) -> bool {
        (**self).begin()
    }

    fn next(&mut self, running: Option<Process>, runnable: &[Process]) -> Decision {
        (**self).next(running, runnable)
    }

    fn choose(&mut self, process: Process, ways: u32) -> u32 {
        (**self).choose(process, ways)
    }

    fn end(&mut self, ending: Ending) {
        (**self).end(ending);
    }

    forward_reports!(self => (**self));
}
