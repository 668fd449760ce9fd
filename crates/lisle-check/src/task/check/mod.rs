//! The interpreter that explores all executions of a program.
//!
//! It is Stroscot's event loop: each turn takes some of the tasks that can go on, any of them and
//! at least one, and performs their requests at once. Two requests that [conflict](super::conflict)
//! are an error. The loop tries every choice, and compares the outcomes of the executions.
//!
//! *Invariant:* nothing here depends on time, on addresses or on the order of a hash table: the
//! same program has the same verdict with the same counts.

mod buffers;
mod clock;
mod ends;
mod explore;
mod locals;
mod machine;
mod schedule;
mod slots;
mod state;
mod turns;
mod verdict;

pub use schedule::{Schedule, Step};
pub use verdict::{Asked, Conflict, Coverage, Possible, Verdict};

use super::program::{OpV, Task, ending_in_answer};
use super::run::InMemory;
use super::value::Value;
use explore::Explorer;

/// The most states that are explored, unless [`Checker::states`] says otherwise.
const STATES: usize = 1_000_000;

/// A checker with settings for its assumptions and limits.
///
/// # Examples
///
/// ```
/// use lisle_check::{steps, task::{Checker, Memory, OpV, fork_value, join, mem}};
///
/// // Each task stores in one cell and loads the other.
/// fn store_buffering() -> OpV<(i32, i32)> {
///     steps! {
///         let a = mem(0);
///         let b = mem(0);
///         let t1 = fork_value(a.store(1).then(b.load()));
///         let t2 = fork_value(b.store(1).then(a.load()));
///         join((t1, t2))
///     }
/// }
/// let checker = Checker::new();
/// let verdict = checker.check_value(store_buffering());
/// assert_eq!(verdict.answers::<(i32, i32)>(), [(0, 1), (1, 0), (1, 1)]);
///
/// let x86 = checker.memory(Memory::TotalStoreOrder);
/// let verdict = x86.check_value(store_buffering());
/// assert_eq!(verdict.answers::<(i32, i32)>(), [(0, 0), (0, 1), (1, 0), (1, 1)]);
/// ```
#[derive(Clone, Debug)]
#[must_use = "a checker does nothing until it is given a program"]
pub struct Checker {
    states: usize,
    turns: Turns,
    memory: Memory,
    clock: Clock,
    world: InMemory,
    compares_memory: bool,
}

/// The turns that the checker takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turns {
    /// One task at a time. The checker finds conflicts by comparing all pairs of requests that are
    /// possible in a state. This finds all that [`EverySet`](Turns::EverySet) finds: see
    /// [`conflict`](super::conflict).
    One,
    /// Every non-empty set of tasks, as in the definition. If n tasks can go on in a state, there
    /// are 2ⁿ − 1 sets, so this is for small programs: with more than 20 such tasks, checking
    /// panics.
    EverySet,
}

/// The memory model of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// The last value that was stored: sequential consistency.
    Sequential,
    /// As on x86: each task has a buffer from which its stores reach memory later, one after
    /// another, and it finds its own stores at once (Sewell, Sarkar, Owens, Zappa Nardelli and
    /// Myreen, x86-TSO, 2010). Everything but loading, storing, making cells and sleeping waits
    /// until the buffer is empty.
    TotalStoreOrder,
}

/// The times at which sleeps end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// At any time: the steps of other tasks may take longer than the sleep. A sleep orders
    /// nothing, as on a computer that is slow at the wrong moment.
    Anytime,
    /// When no task can go on: the steps of tasks take no time. The shortest remaining sleep ends
    /// first.
    WhenIdle,
}

impl Default for Checker {
    fn default() -> Self {
        Checker {
            states: STATES,
            turns: Turns::One,
            memory: Memory::Sequential,
            clock: Clock::Anytime,
            world: InMemory::new(),
            compares_memory: true,
        }
    }
}

impl Checker {
    /// Creates a checker of at most 1,000,000 states, of sequentially consistent memory, and of
    /// sleeps that order nothing.
    pub fn new() -> Self {
        Checker::default()
    }

    /// Sets the most states that are explored. The verdict of a program with more states is
    /// [bounded](Coverage::Bounded).
    ///
    /// # Panics
    ///
    /// If it is 0.
    pub fn states(mut self, limit: usize) -> Self {
        assert!(limit > 0, "a program has at least the state in which it begins; allow one");
        self.states = limit;
        self
    }

    /// Sets the turns that are taken.
    pub fn turns(mut self, turns: Turns) -> Self {
        self.turns = turns;
        self
    }

    /// Sets the memory model.
    pub fn memory(mut self, memory: Memory) -> Self {
        self.memory = memory;
        self
    }

    /// Sets when sleeps end.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Sets the lines of standard input, and the existing files.
    pub fn world(mut self, world: InMemory) -> Self {
        self.world = world;
        self
    }

    /// Sets whether the contents of memory at the end are a part of the result. By default they
    /// are.
    pub fn compare_memory(mut self, compare: bool) -> Self {
        self.compares_memory = compare;
        self
    }

    /// Explores all executions of the program. See [`check`].
    pub fn check(&self, task: Task) -> Verdict {
        Explorer::new(self, &task).explore()
    }

    /// Explores all executions of the program whose answer is the value of `operation`.
    #[track_caller]
    pub fn check_value<T: Value>(&self, operation: OpV<T>) -> Verdict {
        self.check(ending_in_answer(operation))
    }
}

/// Explores all executions of the program, and says whether they all have the same outcome.
///
/// # Complexity
///
/// For n tasks that go through at most s local states each, and memory that can hold m different
/// contents, there are at most sⁿ·m states; each is looked at once, with as many turns as tasks can
/// go on. A local state consists of the replies that a task has got, so a loop that reads in each
/// round makes states without end, and the verdict is bounded. The checker needs memory for two
/// levels of states, and some 8 bytes for each explored state.
///
/// # Examples
///
/// ```
/// use lisle_check::{steps, task::{check, die, fork, mem}};
///
/// let program = steps! {
///     let a = mem(0);
///     fork(a.store(1).then(die()).named("one"));
///     fork(a.store(2).then(die()).named("two"));
///     die()
/// };
/// let verdict = check(program);
/// assert_eq!(verdict.conflicts.len(), 1);
/// let conflict = verdict.conflicts[0].to_string();
/// assert!(conflict.contains("one (main.0) stores 1 in main#0"));
/// assert!(conflict.contains("two (main.1) stores 2 in main#0"));
/// assert_eq!(verdict.outcomes.len(), 2); // memory holds 2, or 1
/// assert!(!verdict.is_ok());
/// ```
pub fn check(task: Task) -> Verdict {
    Checker::new().check(task)
}

/// Explores all executions of the program whose answer is the value of `operation`.
///
/// See [`check`].
#[track_caller]
pub fn check_value<T: Value>(operation: OpV<T>) -> Verdict {
    Checker::new().check_value(operation)
}
