//! The explorer, which decides the course of an execution, and gets its reports.

use crate::event::Doing;
use crate::event::awaited::Awaited;
use crate::report::WaitGraph;
use std::panic::Location;

/// A process of an execution: its number, which the explorer has given.
pub(crate) type Process = u32;

/// Decides the course of an execution. All methods are called on the thread of the execution.
pub trait Explorer {
    /// Returns the number of a process that the running step has spawned at `site`.
    fn spawned(&self, site: &'static Location<'static>) -> Process;
    /// Learns the nature of a process, as soon as it has its number.
    fn introduced(&self, process: Process, nature: Nature<'_>);
    /// Learns that a process has ended.
    fn ended(&self, process: Process);
    /// Learns the operation with which the running code goes on.
    fn about_to(&self, doing: Doing<'_>);
    /// Is told that a process, which the running step has spawned, begins as a part of this step.
    fn begins(&self, process: Process);
    /// Is told that the running step has woken a process.
    fn woken(&self, process: Process);
    /// Returns `true` if the domain should also offer timers that cannot fire yet, since another one [holds
    /// them up](Explorer::armed). If such a timer fires nevertheless, it reports its accesses, and the
    /// execution is given up. So an explorer learns that the timer could fire in another order of the earlier
    /// steps.
    fn takes_the_impossible(&self) -> bool;
    /// Returns which of `ready` takes the next step, or `None` to give up the execution. `ready` is
    /// not empty.
    fn next(&self, ready: &[Process]) -> Option<Process>;
    /// Learns the relation of the running step to the time.
    fn time(&self, time: Time);
    /// Learns that the running step has armed a timer. Returns `true` if the timer holds up timers
    /// that are due later: they do not fire before it has fired or been disarmed.
    fn armed(&self, timer: Process, armed: Armed) -> bool;
    /// Is told that the running step disarms a timer that has not fired.
    fn disarmed(&self, timer: Process);
    /// Learns that the running step belongs to a timer that has come too late. The record that it
    /// would have decided may be gone.
    fn comes_too_late(&self, timer: Process);
    /// Returns one of the `ways` ways in which the running step may go on.
    fn choose(&self, ways: usize) -> usize;
    /// Is told of an object that the running step may touch when it goes on.
    fn about_to_touch(&self, address: usize, size: usize, made: Option<&'static Location<'static>>);
    /// Is told that the running step could not have been taken before a process had ended.
    fn joined(&self, process: Process);
    /// Learns that the execution is being unwound, again and again while that goes on. Later
    /// failures are no part of the execution.
    fn unwinds(&self);
    /// Learns that nothing can run any more, with the waits of the processes. Later accesses are no
    /// part of the execution.
    fn is_over(&self, waiting: &[(Process, Awaited)]);
    /// Is told that another thread has woken something, and the execution is given up.
    fn is_disturbed(&self);
    /// Is told of memory that belongs to a process: its cell, its stack.
    fn owns(&self, process: Process, address: usize, size: usize);
    /// Returns the number of parts that a loop is divided into at most.
    fn most_parts(&self) -> usize;
    /// Returns how many of the blocks of a loop, two at least, go to its first part, or `None` if
    /// it is not divided.
    fn division(&self, blocks: usize) -> Option<usize>;
    /// Learns that a process asks again at `site`, and whether it could go on alone. Returns the
    /// next move of the process.
    fn asks_again(&self, process: Process, site: &'static Location<'static>, can_be_alone: bool) -> Again;
    /// Returns `true` if a process that has been told to [wait](Again::Wait) may go on.
    fn may_ask(&self, process: Process) -> bool;
    /// Returns `true` if the running process goes on whatever it does.
    fn is_alone(&self) -> bool;
    /// Returns a process that is to ask once more, when nothing else can run.
    fn asks_last(&self) -> Option<Process>;
    /// Learns that only parts of loops that have not begun can run, while their owners wait for
    /// something else.
    fn rests_on_parts(&self, parts: &[Process]);
}

/// The relation of a step to the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Time {
    /// It reads the time.
    Read,
    /// It reads the time for the deadline of a timer that it is going to arm.
    Armed,
    /// The step belongs to a timer that fires.
    Passes,
}

/// A timer that has been armed.
#[derive(Debug, Clone, Copy)]
pub struct Armed {
    /// When it is due.
    pub deadline: u64,
    /// The address of the record that it decides if it comes first.
    pub decides: usize,
    /// Nothing else is to decide that record.
    pub is_sleep: bool,
}

/// The next step of a process that asks again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// It lets others run, and goes on.
    GoOn,
    /// It goes on when the explorer [says so](Explorer::may_ask).
    Wait,
    /// It goes on at once.
    GoOnAlone,
}

/// The nature of a process.
#[derive(Debug, Clone, Copy)]
pub enum Nature<'a> {
    /// A fiber, with its name.
    Fiber(Option<&'a str>),
    /// A task.
    Task,
    /// A timer that is due this many nanoseconds after the execution has begun.
    Timer(u64),
}

/// How an execution has ended.
#[derive(Debug)]
pub enum Ended {
    /// All processes have ended.
    Complete,
    /// These processes wait, and nothing can wake them.
    Blocked(WaitGraph),
    /// The explorer has given it up.
    GivenUp,
}
