//! Performing an event in place: poll, publish, park, withdraw, complete.

use crate::event::depth;
use crate::event::ends::{Ends, Unparked};
use crate::event::performer::parker;
use crate::event::performer::parker::Parker;
use crate::event::protocol::context::Doing;
use crate::event::protocol::context::{PerformerContext, installed};
use crate::event::protocol::record::{Attempt, Record};
use crate::event::protocol::step;
use crate::event::protocol::step::{Fenced, InStep, suspend};
use crate::event::telling::parked::ParkedEvent;
use crate::event::telling::waits::Description;
use crate::event::waiting::limit;
use crate::event::waiting::os_thread::OsThread;
use crate::event::waiting::turn;
use crate::event::waker::PerformerWaker;
use crate::event::{Event, Step};
use crate::panics::forget_panic;
use crate::shim::model;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};

/// The ways of waiting that [`perform`] is compiled for.
trait Park {
    fn waker(&self) -> PerformerWaker;
    /// `parked` describes the wait, for the wait graph.
    fn park(&self, ends: Ends, parked: Option<&ParkedEvent>) -> Unparked;
    /// Waits for the wake that the performer is owed, where it must not be suspended.
    fn stay(&self);
}

impl Park for &dyn PerformerContext {
    fn waker(&self) -> PerformerWaker {
        PerformerContext::waker(*self)
    }
    fn park(&self, ends: Ends, parked: Option<&ParkedEvent>) -> Unparked {
        self.parks(parked);
        let unparked = PerformerContext::park_until(*self, ends);
        self.parks(None);
        unparked
    }
    fn stay(&self) {
        PerformerContext::stay(*self);
    }
}

impl Park for &Parker {
    #[inline(always)]
    fn waker(&self) -> PerformerWaker {
        Parker::waker(self)
    }
    #[inline(always)]
    fn park(&self, ends: Ends, parked: Option<&ParkedEvent>) -> Unparked {
        // SAFETY: the parker belongs to the running fiber, and `perform` parks within a step's
        // `suspend`, with an event that stays meanwhile.
        unsafe { Parker::park(self, ends, parked) }
    }
    fn stay(&self) {
        installed().expect("a fiber runs in a context").stay();
    }
}

/// The ways in which a runtime or a limit ends a wait. It is a type, so that an impossible way costs
/// nothing.
trait Ending {
    const ENDS: Ends;
    type Error;
    /// Called when a limit has passed, and the performance has been given up.
    fn passed() -> Self::Error;
}

struct ByUnwinding;

impl Ending for ByUnwinding {
    const ENDS: Ends = Ends::Unwinding;
    type Error = Infallible;
    #[cold]
    fn passed() -> Infallible {
        limit::unwind()
    }
}

struct ByError;

impl Ending for ByError {
    const ENDS: Ends = Ends::Error;
    type Error = Passed;
    fn passed() -> Passed {
        Passed
    }
}

struct Masked;

impl Ending for Masked {
    const ENDS: Ends = Ends::Never;
    type Error = Infallible;
    #[cold]
    fn passed() -> Infallible {
        unreachable!("no limit ends a wait that must complete")
    }
}

/// Performs an event. Before it begins, when the performer has nothing yet that others may wait
/// for, it lets them have a turn if they are due one.
#[inline(always)]
pub(in crate::event) fn sync<E: Event>(event: &E) -> E::Output {
    turn::pass_if_due();
    wait_for(event)
}

/// Does the same as [`sync`], for an operation that has tried already, and now has to wait.
#[inline(always)]
pub(crate) fn wait_for<E: Event>(event: &E) -> E::Output {
    let Ok(output) = sync_ending::<E, ByUnwinding>(event);
    output
}

/// Does the same, for an operation that returns an error if a [deadline](crate::time::with_deadline)
/// has passed.
///
/// # Errors
///
/// If the event would have to be waited for, and a deadline of the code that runs here has passed or
/// passes meanwhile. The event has not happened.
#[inline]
#[doc(hidden)]
pub fn sync_or_passed<E: Event>(event: &E) -> Result<E::Output, Passed> {
    sync_ending::<E, ByError>(event)
}

/// An error: a deadline has passed.
#[derive(Debug)]
#[doc(hidden)]
pub struct Passed;

/// Does the same as [`sync`], but is not interrupted when the runtime shuts down.
#[doc(hidden)]
pub fn sync_masked<E: Event>(event: &E) -> E::Output {
    let Ok(output) = sync_ending::<E, Masked>(event);
    output
}

#[inline(always)]
fn sync_ending<E: Event, X: Ending>(event: &E) -> Result<E::Output, X::Error> {
    if let (Some(parker), Some(context)) = (parker::running(), installed()) {
        return perform::<E, X>(event, &parker, context);
    }
    sync_elsewhere::<E, X>(event)
}

/// Tells a model that the event is tried next. A performance that is not `interruptible` is not
/// unwound here either.
#[inline]
pub(super) fn announce<'e, E: Event>(
    event: &'e E,
    branch: Pin<&E::Branch<'e>>,
    context: &dyn PerformerContext,
    interruptible: bool,
) {
    if model::is_running() && context.is_model() {
        crate::masked!(_masked if !interruptible);
        declare_all(event, branch, context);
        context.visible();
    }
}

/// Does the same as [`announce`] for an event that is performed, and not only tried. A model may
/// let it begin when it can end.
#[inline]
fn announce_performed<'e, E: Event>(
    event: &'e E,
    branch: Pin<&E::Branch<'e>>,
    attempt: &Attempt<'_>,
    interruptible: bool,
) {
    if !model::is_running() {
        return;
    }
    let context = attempt.context();
    match event.awaits(branch.get_ref()) {
        Some(awaits) if context.is_model() => {
            crate::masked!(_masked if !interruptible);
            declare_all(event, branch, context);
            let is_there = || event.awaits(branch.get_ref()).is_some_and(|awaits| awaits.is_there);
            context.wait_until(awaits.what, &is_there);
            attempt.awaits(Some(awaits.what));
        }
        _ => announce(event, branch, context, interruptible),
    }
}

#[cold]
fn declare_all<'e, E: Event>(event: &'e E, branch: Pin<&E::Branch<'e>>, context: &dyn PerformerContext) {
    let mut waits = Description::default();
    event.describe(branch.get_ref(), &mut waits);
    context.about_to(Doing::First(&waits.all));
    waits.all.iter().for_each(|on| context.about_to_touch(on.id, 1, on.object.made()));
}

/// Performs an event outside of fibers.
#[inline(never)]
fn sync_elsewhere<E: Event, X: Ending>(event: &E) -> Result<E::Output, X::Error> {
    let thread;
    let context: &dyn PerformerContext = match installed().filter(|context| context.can_wait()) {
        Some(context) => {
            context.visible();
            context
        }
        None => {
            thread = OsThread::new();
            &thread
        }
    };
    // One call, not one in each arm: it is compiled for every event of a program.
    perform::<E, X>(event, &context, context)
}

/// Performs an event. It is inlined for fibers, see `parker.rs`.
#[inline(always)]
fn perform<E: Event, X: Ending>(
    event: &E,
    parker: &impl Park,
    context: &dyn PerformerContext,
) -> Result<E::Output, X::Error> {
    let single = event.is_single();
    let record = Record::new(parker.waker(), single);
    let attempt = Attempt::new(&record, context);
    let mut branch = pin!(event.branch());
    if E::STAGED {
        depth::from_the_top(|| event.force(branch.as_mut()));
    }
    announce_performed(event, branch.as_ref(), &attempt, X::ENDS != Ends::Never);
    loop {
        if wait::<E, X>(event, branch.as_mut(), &attempt, parker)?
            && (!E::STAGED || depth::from_the_top(|| event.advance(branch.as_mut())))
        {
            return Ok(event.complete(branch));
        }
        // The withdrawn branch is used again, not made anew: it may hold a message, and it is the
        // same performance.
        attempt.restart();
    }
}

/// Performs one round: waits until the event is decided and its losing branches are withdrawn.
/// Returns `false` if told to start over, and an error if the wait ends so.
#[inline(always)]
fn wait<'e, E: Event, X: Ending>(
    event: &'e E,
    mut branch: Pin<&mut E::Branch<'e>>,
    attempt: &Attempt<'_>,
    parker: &impl Park,
) -> Result<bool, X::Error> {
    // A single event looks as it publishes; for a choice it pays to look at all branches first.
    if !attempt.record().is_single() && event.try_commit(branch.as_mut(), attempt) == Step::Committed {
        attempt.check_committed();
        return Ok(true);
    }
    if publish(event, branch.as_mut(), attempt) == Step::Committed {
        return Ok(true);
    }
    let parked = parked(event, branch.as_ref());
    match suspend(|| parker.park(X::ENDS, Some(&parked))) {
        Ok(Unparked::Woken) => {}
        Ok(unparked @ (Unparked::Interrupted | Unparked::Passed)) => {
            if give_up(event, branch.as_mut(), attempt) {
                if unparked == Unparked::Interrupted {
                    attempt.context().unwind();
                }
                // The performer may try again and again.
                turn::came_to_nothing();
                return Err(X::passed());
            }
            // A partner was faster: its wake is on the way, and its value must not be lost.
            wait_owed(|| parker.park(Ends::Never, None), || parker.stay());
        }
        Err(Fenced) => give_up_fenced(event, branch.as_mut(), attempt, parker, X::ENDS, &parked),
    }
    let won = event.withdraw(branch, attempt);
    debug_assert!(won || attempt.record().is_retry(), "woken without a winner");
    Ok(won)
}

/// Ends a published attempt that must not wait: panics, unless a partner was faster.
#[cold]
#[inline(never)]
fn give_up_fenced<'e, E: Event>(
    event: &'e E,
    branch: Pin<&mut E::Branch<'e>>,
    attempt: &Attempt<'_>,
    parker: &impl Park,
    ends: Ends,
    parked: &ParkedEvent,
) {
    // A performance that others borrow from must not be unwound.
    if ends != Ends::Never {
        let described = describe(parked);
        if give_up(event, branch, attempt) {
            step::refuse(&described);
        }
    }
    parker.stay();
}

/// Waits by `park`, or by `stay` where parking is forbidden.
fn wait_owed(park: impl FnOnce() -> Unparked, stay: impl FnOnce()) {
    if suspend(park).is_err() {
        stay();
    }
}

/// Returns a text about the wait of a performer that has published its event but does not park.
#[cold]
fn describe(parked: &ParkedEvent) -> String {
    let mut waits = Description::default();
    // SAFETY: the event is published on this thread, which is the performer's own and is in none of
    // its steps.
    let described = catch_unwind(AssertUnwindSafe(|| unsafe { parked.describe(&mut waits) }));
    // A panic there has been reported, and the caller's message is more important. The destructor
    // of its payload must not unwind from here either, while the event is published.
    forget_panic(described);
    let waits = waits.all.iter().map(ToString::to_string).collect::<Vec<_>>();
    if waits.is_empty() { "wait for an event".into() } else { waits.join(", or ") }
}

/// Returns the description, for reports, of a performer that parks with this branch.
#[inline(always)]
pub(super) fn parked<'e, E: Event>(event: &'e E, branch: Pin<&E::Branch<'e>>) -> ParkedEvent {
    /// # Safety
    ///
    /// The pointers lead to a live event and branch of these types, which are not changed
    /// meanwhile.
    unsafe fn describe<'e, E: Event + 'e>(event: *const (), branch: *const (), waits: &mut Description) {
        // SAFETY: by the caller's promise.
        let event: &'e E = unsafe { &*event.cast() };
        // SAFETY: by the caller's promise.
        let branch: &E::Branch<'e> = unsafe { &*branch.cast() };
        event.describe(branch, waits);
    }
    let (event, branch) = (std::ptr::from_ref(event).cast(), std::ptr::from_ref(branch.get_ref()).cast());
    // SAFETY: the pointers lead to an event and a branch of the function's types.
    unsafe { ParkedEvent::new(event, branch, describe::<E>) }
}

/// Publishes an event. If that commits it, its losing branches are withdrawn.
///
/// A user's function may panic in a later branch of a choice when an earlier branch has been
/// published or even committed. Then the attempt is ended properly before the panic continues.
#[inline(always)]
pub(in crate::event) fn publish<'e, E: Event>(
    event: &'e E,
    mut branch: Pin<&mut E::Branch<'e>>,
    attempt: &Attempt<'_>,
) -> Step {
    let in_step = InStep::new(attempt.record());
    attempt.may_publish(true);
    if attempt.record().is_single() {
        let step = event.publish(branch, attempt);
        attempt.may_publish(false);
        if step == Step::Committed {
            attempt.check_committed();
        }
        in_step.end();
        return step;
    }
    let published = catch_unwind(AssertUnwindSafe(|| event.publish(branch.as_mut(), attempt)));
    attempt.may_publish(false);
    match published {
        Ok(Step::Committed) => {
            attempt.check_committed();
            event.withdraw(branch, attempt);
            in_step.end();
            Step::Committed
        }
        Ok(Step::Waiting) => {
            in_step.end();
            Step::Waiting
        }
        Err(panic) => {
            in_step.end();
            if !give_up(event, branch, attempt) {
                let context = attempt.context();
                wait_owed(|| context.park(false), || context.stay());
            }
            resume_unwind(panic)
        }
    }
}

/// Withdraws an undecided attempt. Returns `false` if it has been decided; then a wake is on the
/// way.
pub(in crate::event) fn give_up<'e, E: Event>(
    event: &'e E,
    branch: Pin<&mut E::Branch<'e>>,
    attempt: &Attempt<'_>,
) -> bool {
    let in_step = InStep::new(attempt.record());
    attempt.give_up();
    if !attempt.record().is_single() {
        // A cancelled record cannot be committed any more; a single record is safe when it is out
        // of its queue.
        attempt.record().cancel();
    }
    event.withdraw(branch, attempt);
    in_step.end();
    attempt.record().is_withdrawn()
}
