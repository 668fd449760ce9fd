//! Operations that continue, and operations that give a value.
//!
//! Stroscot's two types are `Op = Task -> Task` and `OpV a = (a -> Task) -> Task`. The first is the
//! second for the unit type, `(() -> Task) -> Task`, so here [`Op`] is a name for [`OpV<()>`]. They
//! are composed by the bind of the continuation monad, [`OpV::and_then`].
//!
//! *Invariant:* performing an operation builds a task and nothing else. Continuations are functions
//! of their argument alone; an interpreter may call them once, never, or many times.

use super::{Node, Request, Site, Task};
use crate::task::value::{Datum, Value};
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

/// The continuation of an operation, which gets its value.
pub type Continuation<T> = Arc<dyn Fn(T) -> Task + Send + Sync>;

/// An operation that gives a `T`: a function from the continuation for the value to the whole task.
///
/// # Examples
///
/// ```
/// use lisle_check::task::{OpV, exit, mem, run};
///
/// let two: OpV<i32> = mem(1).and_then(|place| place.fetch_add(1).then(place.load()));
/// let program = two.and_then(exit);
/// assert_eq!(run(program).exit_code(), Some(2));
/// ```
pub struct OpV<T> {
    perform: Arc<dyn Fn(Continuation<T>) -> Task + Send + Sync>,
}

/// An operation that continues without a value.
pub type Op = OpV<()>;

impl<T: 'static> OpV<T> {
    /// Creates an operation from a function that gets the continuation and returns the whole task.
    pub fn new(perform: impl Fn(Continuation<T>) -> Task + Send + Sync + 'static) -> Self {
        OpV { perform: Arc::new(perform) }
    }

    /// Returns the task that performs the operation, and goes on with the task that `then` returns
    /// for the value.
    pub fn perform(&self, then: Continuation<T>) -> Task {
        (self.perform)(then)
    }

    /// Returns the operation, or the task, that performs this operation and then the result of
    /// `next` for its value.
    ///
    /// `next` may be called many times by the [checker](crate::task::check()), and from any thread.
    /// It must be a function of its argument: the checker does not see other reads.
    pub fn and_then<S: Sequel>(self, next: impl Fn(T) -> S + Send + Sync + 'static) -> S {
        S::after(self, Arc::new(next))
    }

    /// Returns the operation, or the task, that performs this operation and then `next`.
    pub fn then<S: Sequel + Clone>(self, next: S) -> S {
        self.and_then(move |_| next.clone())
    }

    /// Returns the operation whose value is the result of `function` for the value of this one.
    #[must_use]
    pub fn map<U: 'static>(self, function: impl Fn(T) -> U + Send + Sync + 'static) -> OpV<U> {
        let function = Arc::new(function);
        OpV::new(move |then| {
            let function = function.clone();
            self.perform(Arc::new(move |value| then(function(value))))
        })
    }

    /// Gives the task that begins with this operation a name. See [`Task::named`].
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        let name: Arc<str> = name.into();
        OpV::new(move |then| Task { name: Some(name.clone()), ..self.perform(then) })
    }
}

impl<T> Clone for OpV<T> {
    fn clone(&self) -> Self {
        OpV { perform: self.perform.clone() }
    }
}

impl<T> fmt::Debug for OpV<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OpV(..)")
    }
}

/// The sequel of an operation: another operation, or a task.
///
/// Implemented for [`OpV`] and [`Task`].
pub trait Sequel: Sized + Send + Sync + 'static {
    /// Returns `first` followed by the result of `next` for its value.
    fn after<T: 'static>(first: OpV<T>, next: Arc<dyn Fn(T) -> Self + Send + Sync>) -> Self;
}

impl Sequel for Task {
    fn after<T: 'static>(first: OpV<T>, next: Arc<dyn Fn(T) -> Self + Send + Sync>) -> Self {
        first.perform(next)
    }
}

impl<U: 'static> Sequel for OpV<U> {
    fn after<T: 'static>(first: OpV<T>, next: Arc<dyn Fn(T) -> Self + Send + Sync>) -> Self {
        OpV::new(move |then| {
            let next = next.clone();
            first.perform(Arc::new(move |value| next(value).perform(then.clone())))
        })
    }
}

/// Returns the operation of `request`, written at `site`, whose reply `decode` understands.
pub(super) fn ask_at<T: 'static>(
    site: Site,
    request: Request,
    decode: impl Fn(&Datum) -> T + Send + Sync + 'static,
) -> OpV<T> {
    let decode = Arc::new(decode);
    OpV::new(move |then| {
        let decode = decode.clone();
        let then = Arc::new(move |reply: Datum| then(decode(&reply)));
        Task::new(Node::Ask { request: request.clone(), site, then })
    })
}

/// Returns the operation of `request`, whose reply is nothing.
#[track_caller]
pub(super) fn tell(request: Request) -> Op {
    ask_at(Location::caller(), request, |_| ())
}

/// Returns the operation of `request`, whose reply is a `T`.
#[track_caller]
pub(super) fn ask_for<T: Value>(request: Request) -> OpV<T> {
    ask_at(Location::caller(), request, Datum::take)
}
