//! Running two closures, perhaps at the same time.

mod pieces;

use crate::current;
use lisle_core::event::is_modelled;
use lisle_runtime::fiber::domain;
use std::marker::PhantomData;

/// Runs both closures, perhaps at the same time, and returns both results.
///
/// `oper_a` runs at once. `oper_b` runs after it, unless another thread of the pool takes it before that.
/// On a thread that belongs to no pool, both run in the global one, and the thread waits.
///
/// # Panics
///
/// Panics with the panic of `oper_a`, or else with that of `oper_b`. In any case both run.
///
/// # Examples
///
/// ```
/// # use rayon_core as rayon;
/// let mut halves = [vec![3, 1, 2], vec![5, 4]];
/// let [one, other] = &mut halves;
/// rayon::join(|| one.sort(), || other.sort());
/// assert_eq!(halves, [vec![1, 2, 3], vec![4, 5]]);
/// ```
#[inline]
#[track_caller]
pub fn join<A, B, RA, RB>(oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    match domain() {
        Some(_) => lisle_par::join(oper_a, oper_b),
        None => current::in_global_pool(|| lisle_par::join(oper_a, oper_b)),
    }
}

/// Does the same as [`join`], and tells each closure whether it runs on the caller's thread.
///
/// # Panics
///
/// As for [`join`].
///
/// # Examples
///
/// ```
/// # use rayon_core as rayon;
/// let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
/// let migrated = pool.install(|| rayon::join_context(|a| a.migrated(), |b| b.migrated()));
/// assert_eq!(migrated, (false, false)); // there is no other thread
/// # Ok::<(), rayon::ThreadPoolBuildError>(())
/// ```
#[inline]
#[track_caller]
pub fn join_context<A, B, RA, RB>(oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    let Some(home) = domain() else {
        // Both run on another thread than this one.
        return current::in_global_pool(|| {
            lisle_par::join(|| oper_a(FnContext::new(true)), || oper_b(FnContext::new(true)))
        });
    };
    // A half stays in its runtime, so the index says which thread this is.
    let is_away = move || domain() != Some(home);
    // A model runs no clock.
    if !is_modelled() && current::has_other_work() {
        return pieces::join(
            |is_long| oper_a(FnContext::new(is_long)),
            move |is_long| oper_b(FnContext::new(is_long || is_away())),
        );
    }
    lisle_par::join(|| oper_a(FnContext::new(false)), move || oper_b(FnContext::new(is_away())))
}

/// The context that a closure of [`join_context`] is called in.
#[derive(Debug)]
pub struct FnContext {
    migrated: bool,
    /// It says something about the thread, and stays there.
    marker: PhantomData<*mut ()>,
}

impl FnContext {
    #[inline]
    fn new(migrated: bool) -> Self {
        FnContext { migrated, marker: PhantomData }
    }

    /// Returns `true` if the closure runs on another thread than the caller of [`join_context`], or should divide
    /// its work further since it is long and other fibers may want the domain.
    #[inline]
    pub fn migrated(&self) -> bool {
        self.migrated
    }
}
