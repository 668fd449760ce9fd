//! The explorer, which decides the course of an execution, and gets its reports.

use crate::event::Doing;
use crate::event::awaited::Awaited;
use crate::report::WaitGraph;
use std::panic::Location;

/// A process of an execution: its number, which the explorer has given.
pub type Process = u32;

/// What decides how an execution goes. Everything is called on the thread of the execution.
pub trait Explorer {
    /// Returns the number of a process that the running step has spawned at `site`.
    fn spawned(&self, site: &'static Location<'static>) -> Process;
    /// Is told what a process is, as soon as it has its number.
    fn introduced(&self, process: Process, nature: Nature<'_>);
    /// Is told that a process has come to its end.
    fn ended(&self, process: Process);
    /// Is told what the running code does when it goes on.
    fn about_to(&self, doing: Doing<'_>);
    /// Is told that a process, which the running step has spawned, begins as a part of this step.
    fn begins(&self, process: Process);
    /// Is told that the running step has woken a process.
    fn woken(&self, process: Process);
    /// Returns `true` if timers are to be offered that cannot fire yet, since another one
    /// [holds them up](Explorer::armed). An execution in which one fires nevertheless is given up, after it has told what it
    /// would have touched. So an explorer learns that it could fire if what came before had come
    /// later.
    fn takes_the_impossible(&self) -> bool;
    /// Returns which of `ready` takes the next step, or `None` to give up the execution. `ready` is
    /// not empty.
    fn next(&self, ready: &[Process]) -> Option<Process>;
    /// Is told what the running step has to do with the time.
    fn time(&self, time: Time);
    /// Is told that the running step has armed a timer. Returns `true` if it holds up those that are
    /// due later: they do not fire before it has fired or been disarmed.
    fn armed(&self, timer: Process, armed: Armed) -> bool;
    /// Is told that the running step disarms a timer that has not fired.
    fn disarmed(&self, timer: Process);
    /// Is told that the running step is that of a timer that has come too late. What it would have
    /// decided may be gone.
    fn comes_too_late(&self, timer: Process);
    /// Returns one of so many ways in which the running step may go on.
    fn choose(&self, ways: usize) -> usize;
    /// Is told of an object that the running step may touch when it goes on.
    fn about_to_touch(&self, address: usize, size: usize, made: Option<&'static Location<'static>>);
    /// Is told that the running step could not have been taken before a process had ended.
    fn joined(&self, process: Process);
    /// Is told that the execution is being unwound, again and again while that goes on. What goes
    /// wrong from now on is no part of it.
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
    /// Is told that a process asks again what it has asked before, at `site`, and whether it could
    /// go on alone. Returns what it does.
    fn asks_again(&self, process: Process, site: &'static Location<'static>, can_be_alone: bool) -> Again;
    /// Returns `true` if a process that has been told to [wait](Again::Wait) may go on.
    fn may_ask(&self, process: Process) -> bool;
    /// Returns `true` if the running process goes on whatever it does.
    fn is_alone(&self) -> bool;
    /// Returns a process that is to ask once more, when nothing else can run.
    fn asks_last(&self) -> Option<Process>;
    /// Is told that nothing can run but parts of loops that have not begun, while those that have
    /// put them off wait for something else.
    fn rests_on_parts(&self, parts: &[Process]);
}

/// What a step has to do with the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Time {
    /// It reads the time.
    Read,
    /// It reads the time for the deadline of a timer that it is going to arm.
    Armed,
    /// It is that of a timer that fires.
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

/// What a process does that asks again what it has asked before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// It lets others run, and goes on.
    GoOn,
    /// It goes on when the explorer [says so](Explorer::may_ask).
    Wait,
    /// It goes on at once.
    GoOnAlone,
}

/// What a process is.
#[derive(Debug, Clone, Copy)]
pub enum Nature<'a> {
    /// A fiber, with its name.
    Fiber(Option<&'a str>),
    /// A task.
    Task,
    /// A timer that is due so many nanoseconds after the execution has begun.
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
