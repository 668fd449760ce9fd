//! Polling the streams of a group: one loop that the compiler makes for their type.

use super::group::Group;
use super::slot::{Head, Phase, Slot, StateWord};
use super::{Core, flags};
use crate::current::unsuspended;
use crate::foreign::Ended;
use std::cell::{Cell, UnsafeCell};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::Context;

/// The number of streams that are run between two looks at the clock.
const SPAN: u32 = 256;

/// Streams of a group that are to be polled, one after the other.
pub(super) enum Polls<'a> {
    /// The streams of a span that are due.
    Due(Span),
    /// The streams whose calls have ended.
    Ended { group: &'a Group, ended: &'a Ended<'a> },
    /// One stream, which has waited or is due. It may be polled while others are being polled.
    One(Cell<Option<NonNull<Head>>>),
}

/// Streams that lie side by side.
pub(super) struct Span {
    first: NonNull<Head>,
    at: Cell<u32>,
    end: u32,
    /// The number of streams that were due.
    evaluated: Cell<usize>,
}

/// Runs the streams of the group that are due.
///
/// # Safety
///
/// The streams of the group have these types.
pub(super) unsafe fn run<T, F: Future<Output = ()>>(core: &Core, group: &Group) {
    let mut index = 0;
    while let Some(piece) = group.piece(index) {
        let mut begin = 0;
        while begin < group.used_of(piece) {
            let end = group.used_of(piece).min(begin + SPAN);
            // SAFETY: pieces have a slot.
            let first = unsafe { group.slot_at(piece, 0) };
            let span = Span { first, at: Cell::new(begin), end, evaluated: Cell::new(0) };
            let due = Polls::Due(span);
            // SAFETY: passed on to the caller; the slots are within the piece.
            while core.caught(|| unsuspended(|| unsafe { polls::<T, F>(core, &due) })) {
                core.drain();
            }
            if let Polls::Due(span) = due {
                core.count_evaluated(span.evaluated.get());
            }
            core.look_at_the_clock();
            begin = end;
        }
        index += 1;
    }
}

/// Polls streams. Only this function polls their future, so that the compiler makes the code of the
/// future part of this loop, and of no other.
///
/// # Safety
///
/// The streams have these types. The streams whose state this does not check have a future and are
/// not running.
pub(super) unsafe fn polls<T, F: Future<Output = ()>>(core: &Core, polls: &Polls<'_>) {
    let waker = core.waker();
    let mut cx = Context::from_waker(&waker);
    loop {
        let next = match polls {
            // SAFETY: passed on to the caller.
            Polls::Due(span) => unsafe { span.next(core, size_of::<Slot<T, F>>()) },
            // SAFETY: passed on to the caller.
            Polls::Ended { group, ended } => unsafe { group.next_of(core, ended) },
            // SAFETY: passed on to the caller.
            Polls::One(head) => head.take().map(|head| (head, running(unsafe { head.as_ref() }))),
        };
        let Some((head, running)) = next else { return };
        // SAFETY: a stream that is due or has waited has a future and is not running.
        unsafe { step(core, head.cast::<Slot<T, F>>(), &mut cx, running) };
        if core.has_queued() && !matches!(polls, Polls::One(_)) {
            core.drain();
        }
    }
}

/// Returns the state with which a stream is polled.
fn running(head: &Head) -> StateWord {
    let state = head.state.get();
    match state.phase() {
        Phase::Waiting | Phase::Queued => state.in_phase(Phase::Running),
        _ => StateWord::new(Phase::Running, 0).with_value(state),
    }
}

impl Span {
    /// Returns the next stream that is due.
    ///
    /// # Safety
    ///
    /// There are at least `end` slots of this size, beginning with `first`.
    #[inline(always)]
    unsafe fn next(&self, core: &Core, size: usize) -> Option<(NonNull<Head>, StateWord)> {
        loop {
            let at = self.at.get();
            if at >= self.end {
                return None;
            }
            self.at.set(at + 1);
            // SAFETY: by the caller's promise.
            let head = unsafe { self.first.byte_add(at as usize * size) };
            // SAFETY: heads of used slots are initialized.
            let state = unsafe { head.as_ref() }.state.get();
            if core.is_as_usual(state) || core.is_due(state) {
                self.evaluated.set(self.evaluated.get() + 1);
                return Some((head, StateWord::new(Phase::Running, 0).with_value(state)));
            }
        }
    }
}

impl Group {
    /// Returns the next stream that waits and whose call has ended, if the stream is in this group.
    ///
    /// # Safety
    ///
    /// As for [`Group::deliver`].
    #[inline(always)]
    unsafe fn next_of(&self, core: &Core, ended: &Ended<'_>) -> Option<(NonNull<Head>, StateWord)> {
        loop {
            let pointer = ended.owner()?.cast::<Head>();
            // SAFETY: slots live as long as the world.
            let (group, head) = unsafe { (Group::of(pointer), pointer.as_ref()) };
            if !std::ptr::eq(group, self) {
                return None;
            }
            ended.pass();
            if core.is_resumed(pointer, head) {
                return Some((pointer, head.state.get().in_phase(Phase::Running)));
            }
        }
    }
}

/// Polls the future of a stream, and notes the outcome.
///
/// # Safety
///
/// The stream lives there, has a future, and is not running.
#[inline(always)]
unsafe fn step<T, F: Future<Output = ()>>(
    core: &Core,
    slot: NonNull<Slot<T, F>>,
    cx: &mut Context<'_>,
    running: StateWord,
) {
    let pointer = slot.cast::<Head>();
    // SAFETY: alive, by the caller's promise.
    let head = unsafe { pointer.as_ref() };
    head.state.set(running);
    core.current.set(Some(pointer));
    // SAFETY: slots are not moved. Only one poll refers to the future at a time, because the stream
    // is not running elsewhere. The future stays until the poll is over.
    let polled = unsafe {
        let future = UnsafeCell::raw_get(&raw const (*slot.as_ptr()).future).cast::<F>();
        Pin::new_unchecked(&mut *future).poll(cx)
    };
    let with_value = StateWord::new(Phase::Running, 0).and_value();
    let flags = core.flags.get();
    if polled.is_pending() && flags == 0 && head.state.get() == with_value {
        head.state.set(core.ready.get());
    } else if polled.is_pending() && flags == flags::WITHIN && head.is_alive() {
        core.flags.set(0);
        core.waits(head);
    } else {
        core.settle(pointer, polled.is_ready());
    }
}
