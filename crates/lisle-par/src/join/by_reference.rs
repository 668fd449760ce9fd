//! Joins that are compiled once, for code that is not worth a copy of the whole protocol: the halves
//! of loops, of which there are many types, and programs that a checker runs.

use super::level::{Level, look};
use super::outermost::Outermost;
use super::{Panic, Second, beside, in_turn};
use crate::event::{is_interruption, is_modelled};
use crate::panics::forget_panic;
use crate::pending::Inside;
use crate::{heartbeat, modelled, owner, within};
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::thread;

/// Does the same as [`join_at`](super::join_at). The protocol is the same for all types of halves,
/// which it calls by reference.
#[inline]
pub(crate) fn join_by_reference<A, B, RA, RB>(a: A, b: B, site: &'static Location<'static>) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    if is_modelled() {
        return with_results(modelled, a, b, site);
    }
    if heartbeat::here().is_off() {
        return in_turn(a, b);
    }
    with_results(recorded, a, b, site)
}

/// A half that leaves its result elsewhere, and is called once at most.
type Half<'a> = &'a mut (dyn FnMut() + Send);

/// Runs both halves of a join, and returns the panic of the first of them that has panicked. The
/// number is the address of a function that only joins with these halves have.
type Join = fn(Half<'_>, Half<'_>, usize, &'static Location<'static>) -> Result<(), Panic>;

/// Calls `join` with halves that leave their results here. Returns both, or goes on with the panic
/// that `join` returns.
#[inline(never)]
pub(super) fn with_results<A, B, RA, RB>(join: Join, a: A, b: B, site: &'static Location<'static>) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    let code = with_results::<A, B, RA, RB> as *const () as usize;
    let (mut a, mut b) = (Some(a), Some(b));
    let (mut first, mut second) = (None, None);
    let (call_a, call_b) = (&mut || first = a.take().map(|a| a()), &mut || second = b.take().map(|b| b()));
    let joined = join(call_a, call_b, code, site);
    match (joined, first, second) {
        (Ok(()), Some(first), Some(second)) => (first, second),
        (Ok(()), ..) => unreachable!("a half has not been called"),
        (Err(panic), first, second) => {
            forget_panic((b, first, second));
            owner::raise(panic)
        }
    }
}

/// Runs a join within another join or a loop, whose second half another thread may take.
fn recorded(
    a: Half<'_>,
    mut b: Half<'_>,
    code: usize,
    site: &'static Location<'static>,
) -> Result<(), Panic> {
    let pending = owner::pending();
    let Inside::One(levels) = pending.inside.get() else {
        return outermost(a, b, code, site);
    };
    let _level = Level::enter(pending, levels);
    let first = || {
        look(pending);
        a();
    };
    let (first, second) = beside(first, &mut b, site, pending);
    ended(first, second)
}

/// Runs a join that is not part of another join or of a loop, or where no other thread may take a
/// half.
pub(super) fn outermost(
    a: Half<'_>,
    mut b: Half<'_>,
    code: usize,
    site: &'static Location<'static>,
) -> Result<(), Panic> {
    let pending = owner::pending();
    if !owner::may_wait() {
        return ended(catch_unwind(AssertUnwindSafe(a)), Second::Back(&mut b));
    }
    let mut join = Outermost::enter(pending, code);
    let first = || {
        if join.looks() {
            look(pending);
        }
        a();
    };
    let (first, second) = beside(first, &mut b, site, pending);
    let is_taken = matches!(second, Second::Done(_));
    ended(first, second)?;
    join.end(is_taken);
    Ok(())
}

/// Runs a join whose schedule a model decides.
#[cold]
pub(super) fn modelled(
    a: Half<'_>,
    mut b: Half<'_>,
    _: usize,
    site: &'static Location<'static>,
) -> Result<(), Panic> {
    let pending = owner::pending();
    if !modelled::takes_all() {
        return ended(catch_unwind(AssertUnwindSafe(a)), Second::Back(&mut b));
    }
    let _within = within::enter(pending);
    let first = || {
        modelled::take_all(pending);
        a();
    };
    let (first, second) = beside(first, &mut b, site, pending);
    ended(first, second)
}

/// Ends a join: runs the second half if it was taken back.
fn ended(first: thread::Result<()>, second: Second<&mut Half<'_>, ()>) -> Result<(), Panic> {
    let second = match (&first, second) {
        (_, Second::Done(second)) => second,
        // Code that is unwound from where it waits starts nothing new.
        (Err(panic), Second::Back(_)) if is_interruption(&**panic) => Ok(()),
        (_, Second::Back(b)) => catch_unwind(AssertUnwindSafe(b)),
    };
    match (first, second) {
        (Ok(()), second) => second,
        (Err(panic), second) => {
            forget_panic(second);
            Err(panic)
        }
    }
}
