//! Fibers and tasks that borrow from their spawner.

use super::join::{JoinError, JoinHandle};
use super::spawn::spawn_unchecked;
use crate::event::step;
use crate::event::{Label, Source, described, limit, parker, sync_masked};
use crate::sched::destination::Destination;
use crate::shim::atomic::{AtomicBool, Ordering};
use crate::spawned::fiber_cell::Traits;
use crate::spawned::scope_state::ScopeState;
use crate::task::within::Within;
use crate::task::{self, TaskHandle};
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::ptr::NonNull;
use std::sync::Arc;

/// Runs `f`, which may spawn fibers that borrow from outside the scope, and returns when all of
/// them have finished.
///
/// This waits as [`Event::sync`](lisle_core::Event::sync) does, but a shutdown does not end the
/// wait either, since the fibers borrow from the frames that would be unwound. The scope cannot be
/// leaked, since the wait is part of this call.
///
/// # Panics
///
/// With the panic of `f`, once all fibers have finished, or if a fiber that was not joined has
/// panicked.
///
/// If a [deadline](crate::time::with_deadline) around the scope has ended a fiber or task that was not
/// joined, the scope is unwound to that deadline's call. (A fiber or task with a forgotten handle counts as
/// joined.)
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// lisle::run(|| {
///     let numbers = vec![1, 2, 3];
///     let (sum, count) = lisle::fiber::scope(|scope| {
///         let sum = scope.spawn(|| numbers.iter().sum::<i32>());
///         let count = scope.spawn(|| numbers.len());
///         (sum.join().unwrap(), count.join().unwrap())
///     });
///     assert_eq!((sum, count), (6, 3));
/// });
/// ```
///
/// The borrowed values must outlive the scope:
///
/// ```compile_fail,E0597
/// # use lisle_runtime::facade as lisle;
/// lisle::fiber::scope(|scope| {
///     let inside = 1;
///     scope.spawn(|| println!("{}", &inside));
/// });
/// ```
#[inline(never)] // See `Catches::Resume`; the same holds for joins, loops and scopes of jobs.
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let state = ScopeState {
        running: Source::labelled(Label::new("scope"), 0),
        panicked: AtomicBool::new(false),
        late: AtomicBool::new(false),
        fenced: step::forbidden(),
        deadline: limit::earliest_for_others(),
    };
    let scope = Scope { state, scope: PhantomData, env: PhantomData };
    let _raising = parker::raising();
    let result = catch_unwind(AssertUnwindSafe(|| f(&scope)));
    let ended = scope.state.running.event(|running| (*running == 0).then_some(()));
    sync_masked(&described(ended, |waits| scope.state.describe(waits)));
    match result {
        Err(panic) => resume_unwind(panic),
        Ok(_) if scope.state.panicked.load(Ordering::Relaxed) => {
            panic!("a fiber of this scope panicked and was not joined")
        }
        Ok(value) => {
            if scope.state.late.load(Ordering::Relaxed) {
                // A fiber or task that was not joined has been ended by a deadline that is this
                // code's as well.
                limit::unwind_if_late();
                // The scope has been kept in a computation, and its deadline is over.
                panic!("a fiber or task of this scope was ended by a deadline and was not joined");
            }
            value
        }
    }
}

/// A scope that fibers and tasks are spawned in, see [`scope`].
pub struct Scope<'scope, 'env: 'scope> {
    state: ScopeState,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

impl<'scope> Scope<'scope, '_> {
    /// Spawns a fiber that may borrow values that outlive the scope.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// let mut words = [String::from("warp"), String::from("weft")];
    /// lisle::fiber::scope(|scope| {
    ///     for word in &mut words {
    ///         scope.spawn(move || word.push('s'));
    ///     }
    /// }); // waits for both, though nothing has joined them
    /// assert_eq!(words, ["warps", "wefts"]);
    /// ```
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        self.spawn_at(f, Location::caller())
    }

    /// Does the same as [`spawn`](Scope::spawn), for the call at `site`.
    pub(crate) fn spawn_at<F, T>(
        &'scope self,
        f: F,
        site: &'static Location<'static>,
    ) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        self.spawn_placed(f, None, Destination::Anywhere, site)
    }

    /// Does the same, for a fiber with a name or a destination.
    #[inline]
    pub(super) fn spawn_placed<F, T>(
        &'scope self,
        f: F,
        name: Option<Arc<str>>,
        destination: Destination,
        site: &'static Location<'static>,
    ) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        /// A guard that counts the fiber out again if it cannot be spawned.
        struct Entered(NonNull<ScopeState>);
        impl Drop for Entered {
            fn drop(&mut self) {
                // SAFETY: the scope waits for the count, and no fiber has taken it over.
                unsafe { ScopeState::exit(self.0) };
            }
        }
        self.state.check();
        self.state.enter();
        let entered = Entered(NonNull::from(&self.state));
        let traits = Traits { name, scope: Some(NonNull::from(&self.state)), ..Traits::default() };
        // SAFETY: the borrows of `f` outlive 'scope. The scope does not end before the fiber has
        // ended and an unclaimed result has been dropped.
        let handle = unsafe { spawn_unchecked(f, traits, destination, site) };
        std::mem::forget(entered);
        ScopedJoinHandle { handle, scope: PhantomData }
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Spawns a [task](crate::task) that may borrow values that outlive the scope. It begins at
    /// once, as a part of the caller, see [`spawn_task`](crate::spawn_task()).
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::fiber;
    ///
    /// lisle::run(|| {
    ///     let (tx, rx) = lisle::channel();
    ///     let words = ["all", "of", "them"];
    ///     let letters = fiber::scope(|scope| {
    ///         for word in &words {
    ///             scope.spawn_task(async { tx.send_evt(word.len()).await });
    ///         }
    ///         words.iter().map(|_| rx.recv().unwrap()).sum::<usize>()
    ///     });
    ///     assert_eq!(letters, 9);
    /// });
    /// ```
    ///
    /// ```compile_fail,E0597
    /// # use lisle_runtime::facade as lisle;
    /// lisle::fiber::scope(|scope| {
    ///     let inside = 1;
    ///     scope.spawn_task(async { println!("{}", &inside) });
    /// });
    /// ```
    #[track_caller]
    pub fn spawn_task<F>(&'scope self, future: F) -> ScopedTaskHandle<'scope, F::Output>
    where
        F: Future + Send + 'scope,
        F::Output: Send + 'scope,
    {
        self.state.check();
        let (state, site) = (NonNull::from(&self.state), Location::caller());
        let handle = match self.state.deadline {
            // SAFETY: the borrows of the future outlive 'scope. The scope does not end before the task,
            // if it is reified, has ended and an unclaimed result has been dropped.
            None => unsafe { task::spawn_unchecked(future, Some(state), site) },
            Some(deadline) => {
                let future = Within::new(future, deadline);
                // SAFETY: as above.
                unsafe { task::spawn_unchecked(future, Some(state), site) }
            }
        };
        ScopedTaskHandle { handle, scope: PhantomData }
    }
}

/// A handle that gives the right to a scoped task's result, and the event of its end: see
/// [`TaskHandle`].
#[derive(Debug)]
pub struct ScopedTaskHandle<'scope, T> {
    handle: TaskHandle<T>,
    scope: PhantomData<&'scope ()>,
}

impl<T> ScopedTaskHandle<'_, T> {
    /// Waits for the task to end and returns its result, as [`TaskHandle::join`] does.
    ///
    /// # Errors
    ///
    /// As [`TaskHandle::join`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// let words = ["warp", "weft"];
    /// let letters = lisle::fiber::scope(|scope| {
    ///     let letters = scope.spawn_task(async { words.concat().len() });
    ///     letters.join().unwrap()
    /// });
    /// assert_eq!(letters, 8);
    /// ```
    pub fn join(self) -> Result<T, JoinError> {
        self.handle.join()
    }

    /// Returns the event of the task's end, as [`TaskHandle::join_evt`] does.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::{Event, choose, fiber, never};
    ///
    /// let words = ["warp", "weft"];
    /// fiber::scope(|scope| {
    ///     let letters = scope.spawn_task(async { words.concat().len() });
    ///     let first = choose((letters.join_evt(), never()));
    ///     assert_eq!(first.sync().unwrap(), 8);
    /// });
    /// ```
    pub fn join_evt(&self) -> &TaskHandle<T> {
        &self.handle
    }

    /// Cancels the task, as [`TaskHandle::cancel`] does.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// let (_tx, rx) = lisle::channel::<u32>();
    /// lisle::fiber::scope(|scope| {
    ///     let waits = scope.spawn_task(async { rx.recv_evt().await });
    ///     waits.cancel(); // else the scope would not end
    ///     assert!(waits.join().unwrap_err().is_cancelled());
    /// });
    /// ```
    pub fn cancel(&self) {
        self.handle.cancel();
    }

    /// Returns `true` if the task has ended.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// let (tx, rx) = lisle::channel();
    /// lisle::fiber::scope(|scope| {
    ///     let waits = scope.spawn_task(async { rx.recv_evt().await });
    ///     assert!(!waits.is_finished());
    ///     tx.send(7).unwrap();
    ///     assert_eq!(waits.join().unwrap(), Ok(7));
    /// });
    /// ```
    pub fn is_finished(&self) -> bool {
        self.handle.is_finished()
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("running", &self.state.running).finish()
    }
}

/// A handle that gives the right to a scoped fiber's result.
#[derive(Debug)]
pub struct ScopedJoinHandle<'scope, T> {
    handle: JoinHandle<T>,
    scope: PhantomData<&'scope ()>,
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Waits for the fiber to finish and returns its result, as [`JoinHandle::join`] does.
    ///
    /// # Errors
    ///
    /// As [`JoinHandle::join`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// let numbers = ["1", "x"];
    /// lisle::fiber::scope(|scope| {
    ///     let fibers = numbers.each_ref().map(|n| scope.spawn(move || n.parse::<u32>().unwrap()));
    ///     let [first, second] = fibers.map(|fiber| fiber.join());
    ///     assert_eq!(first.unwrap(), 1);
    ///     assert!(second.unwrap_err().is_panic()); // not joined, it would be a panic of the scope
    /// });
    /// ```
    pub fn join(self) -> Result<T, JoinError> {
        self.handle.join()
    }

    /// Returns the event that the fiber has finished, as [`JoinHandle::join_evt`] does.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::{Event, choose, fiber};
    ///
    /// let text = String::from("lisle");
    /// fiber::scope(|scope| {
    ///     let (one, other) = (scope.spawn(|| text.len()), scope.spawn(|| text.len()));
    ///     let first = choose((one.join_evt(), other.join_evt())).sync();
    ///     assert_eq!(first.unwrap(), 5);
    /// }); // waits for the other one
    /// ```
    pub fn join_evt(&self) -> super::JoinEvt<'_, T> {
        self.handle.join_evt()
    }

    /// Asks the fiber to end, as [`JoinHandle::cancel`] does.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::{Event, fiber};
    ///
    /// fiber::scope(|scope| {
    ///     let watches = scope.spawn(|| fiber::cancelled_evt().sync());
    ///     watches.cancel(); // else the scope would not end
    /// });
    /// ```
    pub fn cancel(&self) {
        self.handle.cancel();
    }

    /// Returns `true` if the fiber has finished.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::{Event, fiber};
    ///
    /// let (tx, rx) = lisle::channel();
    /// fiber::scope(|scope| {
    ///     let waits = scope.spawn(|| rx.recv());
    ///     assert!(!waits.is_finished());
    ///     tx.send(7).unwrap();
    ///     assert_eq!(waits.join_evt().sync().unwrap(), Ok(7));
    ///     assert!(waits.is_finished());
    /// });
    /// ```
    pub fn is_finished(&self) -> bool {
        self.handle.is_finished()
    }
}
