//! Ends, forks, joins, time, and operations made of operations.

use super::cells::ivar_at;
use super::operation::{Op, OpV, ask_at, tell};
use super::{IVar, Node, Request, Task};
use crate::task::value::{Datum, Value};
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

/// Returns the task that has nothing left to do. A program in which all tasks have died is
/// finished.
pub fn die() -> Task {
    Task::new(Node::Die)
}

/// Returns the task that ends the program, all of its tasks included.
#[track_caller]
pub fn exit(code: i32) -> Task {
    Task::new(Node::Exit { code, site: Location::caller() })
}

/// Returns the task that gives the program's answer, and dies.
///
/// The answer is a part of the result that [`check`](crate::task::check()) compares.
#[track_caller]
pub fn answer(value: impl Value) -> Task {
    Task::new(Node::Answer { value: Datum::new(value), site: Location::caller() })
}

/// Returns the program that answers with the value of `operation`.
#[track_caller]
pub(in crate::task) fn ending_in_answer<T: Value>(operation: OpV<T>) -> Task {
    let site = Location::caller();
    operation.and_then(move |value| Task::new(Node::Answer { value: Datum::new(value), site }))
}

/// Returns the operation that gives `value` and does nothing.
pub fn give<T: Clone + Send + Sync + 'static>(value: T) -> OpV<T> {
    OpV::new(move |then| then(value.clone()))
}

/// Returns the operation that starts `task` beside this one.
///
/// # Examples
///
/// ```
/// use lisle_check::task::{check, die, fork, print};
///
/// let program = fork(print("a").then(die())).then(print("b")).then(die());
/// let verdict = check(program);
/// assert_eq!(verdict.conflicts.len(), 1); // both print
/// assert_eq!(verdict.outcomes.len(), 2); // ab, ba
/// ```
#[track_caller]
pub fn fork(task: Task) -> Op {
    tell(Request::Fork { task, domain: None })
}

/// Returns the operation that starts `task` on the domain with this index, modulo the number of
/// domains. To the checker it is a [`fork`].
#[track_caller]
pub fn fork_on(domain: usize, task: Task) -> Op {
    tell(Request::Fork { task, domain: Some(domain) })
}

/// Returns the operation that starts a task which performs `operation`, and gives the [`IVar`] that
/// will contain its value.
///
/// # Examples
///
/// ```
/// use lisle_check::{steps, task::{answer, fork_value, give, run}};
///
/// let program = steps! {
///     let sum = fork_value(give(40 + 2));
///     let sum = sum.read();
///     answer(sum)
/// };
/// assert_eq!(run(program).answer_as::<i32>(), Some(&42));
/// ```
#[track_caller]
pub fn fork_value<T: Value>(operation: OpV<T>) -> OpV<IVar<T>> {
    let site = Location::caller();
    ivar_at(site).and_then(move |cell| {
        let task = operation.clone().and_then(move |value| cell.write_at(site, value)).then(die());
        ask_at(site, Request::Fork { task, domain: None }, move |_| cell)
    })
}

/// IVars for [`join`], and the type of their values together.
///
/// Implemented for vectors and arrays of [`IVar`]s, and for tuples of two to four.
pub trait Joined {
    /// The values of the IVars.
    type Values;

    /// Returns the operation that waits for all of them.
    fn join(self) -> OpV<Self::Values>;
}

/// Returns the operation that waits for all of the `cells`, and gives their values.
#[track_caller]
pub fn join<J: Joined>(cells: J) -> OpV<J::Values> {
    cells.join()
}

impl<T: Value> Joined for Vec<IVar<T>> {
    type Values = Vec<T>;

    #[track_caller]
    fn join(self) -> OpV<Vec<T>> {
        let site = Location::caller();
        sequence(self.into_iter().map(|cell| cell.read_at(site)).collect())
    }
}

impl<T: Value, const N: usize> Joined for [IVar<T>; N] {
    type Values = [T; N];

    #[track_caller]
    fn join(self) -> OpV<[T; N]> {
        let site = Location::caller();
        sequence(self.map(|cell| cell.read_at(site)).into())
            .map(|values: Vec<T>| values.try_into().expect("each cell gives one value"))
    }
}

impl<A: Value, B: Value> Joined for (IVar<A>, IVar<B>) {
    type Values = (A, B);

    #[track_caller]
    fn join(self) -> OpV<(A, B)> {
        let second = self.1.read();
        self.0.read().and_then(move |a| second.clone().map(move |b| (a.clone(), b)))
    }
}

impl<A: Value, B: Value, C: Value> Joined for (IVar<A>, IVar<B>, IVar<C>) {
    type Values = (A, B, C);

    #[track_caller]
    fn join(self) -> OpV<(A, B, C)> {
        let third = self.2.read();
        (self.0, self.1).join().and_then(move |(a, b)| third.clone().map(move |c| (a.clone(), b.clone(), c)))
    }
}

impl<A: Value, B: Value, C: Value, D: Value> Joined for (IVar<A>, IVar<B>, IVar<C>, IVar<D>) {
    type Values = (A, B, C, D);

    #[track_caller]
    fn join(self) -> OpV<(A, B, C, D)> {
        let second = (self.2, self.3).join();
        (self.0, self.1)
            .join()
            .and_then(move |(a, b)| second.clone().map(move |(c, d)| (a.clone(), b.clone(), c, d)))
    }
}

/// Returns the operation that waits for `duration`.
///
/// To the checker a sleep orders nothing, unless it is told
/// [otherwise](crate::task::Clock::WhenIdle).
#[track_caller]
pub fn sleep(duration: Duration) -> Op {
    tell(Request::Sleep(duration))
}

/// Returns the operation that starts `delayed` after `delay`, and goes on at once.
///
/// # Examples
///
/// ```
/// use lisle_check::task::{Checker, Clock, die, print, set_timeout};
/// use std::time::Duration;
///
/// let later = set_timeout(Duration::from_secs(1), print("later").then(die()));
/// let program = later.then(print("now ")).then(die());
/// let verdict = Checker::new().clock(Clock::WhenIdle).check(program.clone());
/// assert_eq!(verdict.assert_ok().output, "now later");
/// assert!(!Checker::new().check(program).is_ok()); // a computer may be slow
/// ```
#[track_caller]
pub fn set_timeout(delay: Duration, delayed: Task) -> Op {
    fork(sleep(delay).then(delayed))
}

/// Returns the operation that performs all of the `operations`, one after another, and gives their
/// values.
pub fn sequence<T: Clone + Send + Sync + 'static>(operations: Vec<OpV<T>>) -> OpV<Vec<T>> {
    fn from<T: Clone + Send + Sync + 'static>(operations: &Arc<[OpV<T>]>, values: Vec<T>) -> OpV<Vec<T>> {
        let Some(next) = operations.get(values.len()) else {
            return give(values);
        };
        let operations = operations.clone();
        next.clone().and_then(move |value| {
            let mut values = values.clone();
            values.push(value);
            from(&operations, values)
        })
    }
    from(&operations.into(), Vec::new())
}

/// Returns the operation that performs `operation` `times` times, one after another.
pub fn repeat(times: usize, operation: Op) -> Op {
    if times == 0 {
        return give(());
    }
    operation.clone().and_then(move |()| repeat(times - 1, operation.clone()))
}
