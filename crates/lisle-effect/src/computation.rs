//! A handled computation in memory, and how it is resumed and left.
//!
//! A computation lies wholly on its stack. At the top lies the [`Header`], with the clauses of the handler
//! and with the closure or its result. Below lie the frames of its code. So a computation costs no
//! allocation, and a pointer to the header is a pointer to all of it.
//!
//! # The owner of a computation
//!
//! A computation has one owner: the call that [drives](crate::drive) it, or the value in which it is kept.
//! The owner ends it and gives its stack back. The continuation that a clause gets refers to the computation,
//! and owns only the right to resume it.
//!
//! A clause that keeps its computation still runs, or waits, in the call that drives the computation, and its
//! closure lies on the computation's stack. Until the clause returns, the call and the value share the
//! computation, and the later of the two frees it.
//!
//! A computation that is kept in a fiber is unwound when the fiber ends. The value still owns it, as a
//! computation that has ended. If the value is dropped in other code than the fiber's, the fiber becomes the
//! owner of the computation.

use crate::marks::{Barrier, Marks};
use crate::request::{Asked, Clause, Payload, Take};
use crate::room::Room;
use lisle_core::event::{Mask, parker};
use lisle_core::internal::exceptions::{self, Suspended};
use lisle_core::internal::segment::{Request, ResumerLink, Segment};
use lisle_runtime::internal::handled::{self, Entry, Home, Link, Taken};
use lisle_runtime::internal::pending::Inside;
use lisle_runtime::internal::stack_state::StackState;
use lisle_runtime::internal::this_stack::ThisStack;
use std::any::TypeId;
use std::cell::{Cell, UnsafeCell};
use std::hint::black_box;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::panic::Location;
use std::pin::pin;
use std::ptr::{NonNull, null, null_mut};

/// Where a computation is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ComputationState {
    /// It runs, or it was suspended as a part of a computation around it.
    Running,
    /// It waits in the continuation that a clause of its handler has got.
    Suspended,
    /// It waits in a value that owns it.
    Kept,
    /// It is being unwound, because it will not be resumed. Or it could not be unwound when its fiber ended,
    /// and stays as it is.
    Ending,
    Ended,
}

/// The order that the performer finds when it is resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// An answer.
    GoOn,
    /// There will be no answer: the performer unwinds up to the root of the computation.
    Unwind,
    /// As `Unwind`, unless a frame on the way would end the process: then the performer stays where it is.
    UnwindOrStay,
    /// The performer raises a panic with the payload in the header.
    Raise,
    /// The performer runs the errand, and waits again.
    Run,
}

/// The outcome of an effect that was performed while its computation is unwound.
pub(crate) enum Settled {
    /// The clause has answered it, or has ordered a panic.
    GoesOn,
    /// The clause has not resumed the computation.
    NotResumed,
    /// The request of the performer was not taken, for this reason.
    Refused(&'static str),
}

/// A function that a suspended performer runs on its stack.
type Errand<'a> = &'a mut dyn FnMut();

/// The functions that know the types of a computation.
pub(crate) struct Table {
    /// Returns the clause of its handler for the effect of this type.
    pub(crate) find: unsafe fn(NonNull<Header>, &TypeId) -> Option<Clause>,
    /// Takes out the result, ends the computation, and writes the handler's result.
    pub(crate) finish: unsafe fn(NonNull<Header>, NonNull<()>),
    /// Calls the clause for panics, and writes the result of the whole. Returns the panic if there is no such
    /// clause. The computation has ended.
    pub(crate) catch_panic: unsafe fn(NonNull<Header>, Payload, NonNull<()>) -> Result<(), Payload>,
    /// Calls the clause for the request of a performer while the computation is unwound. Drops the result of
    /// the whole, if the clause gives one.
    pub(crate) settle: unsafe fn(NonNull<Header>, Request) -> Settled,
    /// Drops the parts that are left of the computation, and gives its stack back.
    pub(crate) free: unsafe fn(NonNull<Header>),
}

/// The fields that computations of all types have. It is the first field of a larger value.
#[repr(C)]
pub(crate) struct Header {
    /// The first field: the links of a chain are the links of headers.
    pub(crate) link: Link,
    pub(crate) table: &'static Table,
    /// The link to the code that has resumed it.
    resumer_link: Cell<*const ResumerLink>,
    /// The computation that was innermost within it when it was suspended, or itself.
    innermost: Cell<*const Link>,
    /// The limit of the stack that it was resumed from.
    limit_around: Cell<usize>,
    /// The state of the stack of the fiber or thread in which it was resumed.
    stack_around: Cell<*const StackState>,
    /// The marks of the code around it when it was resumed. A performer that finds other marks is within a
    /// call that it must not leave, or that has to be put aside.
    pub(crate) marks: Cell<Marks>,
    pub(crate) state: Cell<ComputationState>,
    /// Whether a clause has kept it and has not returned, and the value that owns it was not dropped.
    pub(crate) is_in_clause: Cell<bool>,
    /// Its entry in the list of the computations that wait on this stack. If `is_left`, the fiber owns the
    /// computation; while it is unwound, the code that unwinds it does.
    pub(crate) entry: Entry,
    pub(crate) is_left: Cell<bool>,
    pub(crate) order: Cell<Order>,
    /// Why the performer's request was not taken. The performer therefore drops it.
    pub(crate) refusal: Cell<Option<&'static str>>,
    /// The function that the performer runs, if the order is `Run`.
    errand: Cell<*mut Errand<'static>>,
    /// The panic to be raised in it, or the panic that has ended it.
    pub(crate) payload: Cell<Option<Payload>>,
    /// The exceptions of C++ that its code handles while it is suspended.
    pub(crate) exceptions: Suspended,
    segment: UnsafeCell<MaybeUninit<Segment>>,
    stack: Cell<Option<Taken>>,
}

/// A way to resume a segment. The implementations are functions and not closures, because they must be
/// inlined in each build: the walk of `lisle_core::unwinding` passes over one frame, the frame of the code
/// that resumes.
trait Resume {
    /// # Safety
    ///
    /// The segment has not ended, and does not run.
    unsafe fn resume(self, segment: &mut Segment) -> Option<Request>;
}

struct InPlace;

impl Resume for InPlace {
    #[inline(always)]
    unsafe fn resume(self, segment: &mut Segment) -> Option<Request> {
        // SAFETY: passed on to the caller.
        unsafe { segment.resume() }
    }
}

struct WithExceptions<'a>(&'a Suspended);

impl Resume for WithExceptions<'_> {
    #[inline(always)]
    unsafe fn resume(self, segment: &mut Segment) -> Option<Request> {
        // SAFETY: passed on to the caller.
        unsafe { segment.resume_with(self.0) }
    }
}

impl Header {
    #[inline(always)]
    pub(crate) fn new(table: &'static Table, stack: Taken, site: &'static Location<'static>) -> Self {
        Header {
            link: Link::new(&stack, site),
            table,
            resumer_link: Cell::new(null()),
            innermost: Cell::new(null()),
            limit_around: Cell::new(0),
            stack_around: Cell::new(null()),
            marks: Cell::new(Marks::NONE),
            state: Cell::new(ComputationState::Running),
            is_in_clause: Cell::new(false),
            entry: Entry::new(),
            is_left: Cell::new(false),
            order: Cell::new(Order::GoOn),
            refusal: Cell::new(None),
            errand: Cell::new(null_mut()),
            payload: Cell::new(None),
            exceptions: Suspended::new(),
            segment: UnsafeCell::new(MaybeUninit::uninit()),
            stack: Cell::new(Some(stack)),
        }
    }

    /// Returns the computation with this link.
    ///
    /// # Safety
    ///
    /// The link is the first field of a header, which is valid as long as the result is used.
    #[inline(always)]
    pub(crate) unsafe fn of<'a>(link: *const Link) -> Option<&'a Header> {
        // SAFETY: the link is the first field of the header. The rest is the caller's promise.
        unsafe { link.cast::<Header>().as_ref() }
    }

    /// Gives the computation the segment with its code.
    ///
    /// # Safety
    ///
    /// The header is at its final place, and nothing else has the segment.
    #[inline(always)]
    pub(crate) unsafe fn begin(&self, segment: Segment) {
        self.innermost.set(&raw const self.link);
        // SAFETY: by the caller's promise.
        unsafe { (*self.segment.get()).write(segment) };
    }

    /// Notes the link to the code that resumes the computation. The computation's code calls this first.
    #[inline(always)]
    pub(crate) fn has_begun(&self, link: &ResumerLink) {
        self.resumer_link.set(link);
    }

    /// Returns the part of its stack on which its code runs.
    pub(crate) fn stack(&self) -> Range<usize> {
        self.link.limit..(&raw const *self).addr()
    }

    /// Returns `true` if its code has begun to run.
    pub(crate) fn is_begun(&self) -> bool {
        !self.resumer_link.get().is_null()
    }

    /// Returns `true` if this computation, which waits or has waited, belongs to the fiber, task or thread
    /// that calls this.
    #[inline(always)]
    pub(crate) fn is_at_home(&self) -> bool {
        // SAFETY: it came into a list when it began to wait.
        unsafe { self.entry.home() == Home::here() }
    }

    /// Makes the caller's code the surroundings of the computation, for its next turns.
    #[inline(always)]
    pub(crate) fn attach(&self, stack: ThisStack<'_>) {
        self.link.outer.set(stack.handled.top.get());
        self.limit_around.set(stack.limit.get());
        self.stack_around.set(stack.state());
        let marks = Marks::around(stack);
        // Calls on its stack that drive other computations look at their own surroundings again. This does
        // not ask whether the surroundings have changed: the question would cost an item of a generator more
        // than the look costs those calls.
        stack.handled.moves.update(|moves| moves.wrapping_add(1));
        if !std::ptr::eq(self.innermost.get(), &raw const self.link) && !self.marks.get().are(marks) {
            self.move_those_within(marks);
        }
        self.marks.set(marks);
    }

    /// Tells the computations that are suspended within this one that its surroundings change to `now`.
    #[cold]
    fn move_those_within(&self, now: Marks) {
        let before = self.marks.get();
        let mut link = self.innermost.get();
        while !std::ptr::eq(link, &raw const self.link) {
            // SAFETY: the computations within this one stay as they are while it is suspended.
            unsafe { Header::moved(link, before, now) };
            // SAFETY: as above.
            link = unsafe { (*link).outer.get() };
        }
    }

    /// Tells the computation with this link that the surroundings of a computation around it have changed.
    ///
    /// # Safety
    ///
    /// The link is the first field of a header.
    pub(crate) unsafe fn moved(link: *const Link, before: Marks, now: Marks) {
        // SAFETY: by the caller's promise.
        let marks = unsafe { &(*link.cast::<Header>()).marks };
        marks.set(marks.get().moved(before, now));
    }

    /// Returns `true` if `stack` belongs to the fiber or thread in which the computation was resumed. Code on
    /// another stack, in a runtime that the computation has started, is no part of the computation.
    #[inline(always)]
    pub(crate) fn is_on(&self, stack: &StackState) -> bool {
        std::ptr::eq(self.stack_around.get(), stack)
    }

    /// Runs the computation until it suspends itself or ends. Returns its request if it is suspended.
    ///
    /// # Safety
    ///
    /// The computation is attached to the stack that runs this, and does not run.
    #[inline(always)]
    pub(crate) unsafe fn turn(&self, stack: &StackState) -> Option<Request> {
        if exceptions::are_possible() || self.marks.get().noted.has_limits() {
            // The call goes through a pointer: the compiler must not find out that the call does not unwind,
            // and leave it out of the caller's table.
            let turn: unsafe fn(&Self, &StackState) -> Option<Request> = black_box(Self::turn_apart);
            // SAFETY: passed on to the caller.
            return unsafe { turn(self, stack) };
        }
        // SAFETY: passed on to the caller.
        unsafe { self.turn_by(stack, InPlace) }
    }

    /// Does the same as [`turn`](Header::turn) in a frame of its own, and in a process that has C++ in it.
    /// The walk of `lisle_core::unwinding` passes over this frame, and sees how the caller's frame would
    /// treat a panic. A deadline must know this before it unwinds the code of the computation. The end of a
    /// runtime may leave a fiber where it is; a deadline cannot leave code that it has begun to unwind.
    ///
    /// # Safety
    ///
    /// As for [`turn`](Header::turn).
    #[cold]
    #[inline(never)]
    unsafe fn turn_apart(&self, stack: &StackState) -> Option<Request> {
        // SAFETY: passed on to the caller.
        unsafe { self.turn_by(stack, WithExceptions(&self.exceptions)) }
    }

    /// Does the same as [`turn`](Header::turn), and resumes the segment by `by`.
    ///
    /// # Safety
    ///
    /// As for [`turn`](Header::turn). The segment has not ended, and does not run, when `resume` is
    /// called.
    #[inline(always)]
    unsafe fn turn_by(&self, stack: &StackState, by: impl Resume) -> Option<Request> {
        let innermost = self.innermost.get();
        stack.handled.top.set(innermost);
        // SAFETY: the computations within this one stay as they are while it is suspended.
        stack.limit.set(unsafe { &*innermost }.limit);
        let around = stack.pending.inside.get();
        let is_apart = matches!(around, Inside::One(_));
        if is_apart {
            stack.pending.inside.set(self.marks.get().inside);
            stack.handled.in_parts.update(|number| number + 1);
        }
        // SAFETY: it has been begun, and only the code that owns it uses the segment, while it does
        // not run.
        let segment = unsafe { (*self.segment.get()).assume_init_mut() };
        // SAFETY: by the caller's promise.
        let request = unsafe { by.resume(segment) };
        if is_apart {
            // These are the same as before: code that runs apart does not suspend the computations around it.
            stack.pending.inside.set(around);
            stack.handled.in_parts.update(|number| number - 1);
        }
        self.innermost.set(stack.handled.top.get());
        stack.handled.top.set(self.link.outer.get());
        stack.limit.set(self.limit_around.get());
        request
    }

    /// Suspends the computation with all computations within it; the caller runs in the innermost. Returns
    /// `true` if the computation is resumed with an answer, and `false` if it is resumed with an order.
    ///
    /// # Safety
    ///
    /// The computation runs, and this is called on its stack or on the stack of a computation within it. Its
    /// marks are right.
    #[inline(always)]
    pub(crate) unsafe fn suspend(&self, request: Request) -> bool {
        // SAFETY: the link is on the computation's stack, which stays while it runs.
        let link = unsafe { &*self.resumer_link.get() };
        // SAFETY: passed on to the caller.
        unsafe { link.suspend(request) };
        // SAFETY: passed on to the caller.
        self.order.get() == Order::GoOn || unsafe { self.run_errands(link, request) }
    }

    /// Runs the errands of the performer, which is resumed here, until it is resumed for another reason.
    /// Returns `true` if this is an answer.
    ///
    /// # Safety
    ///
    /// As for [`suspend`](Header::suspend).
    #[cold]
    #[inline(never)]
    unsafe fn run_errands(&self, link: &ResumerLink, request: Request) -> bool {
        while self.order.get() == Order::Run {
            // SAFETY: the errand stays until the performer waits again.
            unsafe { (*self.errand.get())() };
            self.order.set(Order::GoOn);
            // SAFETY: passed on to the caller.
            unsafe { link.suspend(request) };
        }
        self.order.get() == Order::GoOn
    }

    /// Calls `errand` on the stack of the performer that waits.
    ///
    /// # Safety
    ///
    /// The computation is suspended, and nobody else resumes it. `errand` does not panic, wait, or perform
    /// effects: it runs in the surroundings of the caller.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn run_in_performer(&self, mut errand: Errand<'_>) {
        self.errand.set((&raw mut errand).cast());
        self.order.set(Order::Run);
        // SAFETY: it is suspended, and only this uses the segment.
        let segment = unsafe { (*self.segment.get()).assume_init_mut() };
        // SAFETY: as above. The performer waits again with the same request.
        let _asked = unsafe { InPlace.resume(segment) };
    }

    /// Calls a clause for the request of the performer that waits. If the performer is a destructor that runs
    /// because of a panic or another unwinding, it must complete. Then the waits of the clause must complete
    /// as well.
    ///
    /// # Safety
    ///
    /// The computation is suspended, and only the caller may resume it. The arguments are valid for `take`.
    #[inline(always)]
    pub(crate) unsafe fn call(
        &self,
        take: Take,
        asked: NonNull<Asked<()>>,
        activation: NonNull<()>,
        value: NonNull<()>,
    ) -> bool {
        if std::thread::panicking() {
            // SAFETY: passed on to the caller.
            return unsafe { self.call_for_destructor(take, asked, activation, value) };
        }
        // SAFETY: as above.
        unsafe { take(asked, self, activation, value) }
    }

    /// # Safety
    ///
    /// As for [`call`](Header::call).
    #[cold]
    #[inline(never)]
    unsafe fn call_for_destructor(
        &self,
        take: Take,
        asked: NonNull<Asked<()>>,
        activation: NonNull<()>,
        value: NonNull<()>,
    ) -> bool {
        let mut is_unwinding = false;
        // SAFETY: passed on to the caller. The errand looks at its stack.
        unsafe { self.run_in_performer(&mut || is_unwinding = parker::is_unwinding()) };
        let mut mask = pin!(Mask::new());
        let _masked = is_unwinding.then(|| mask.as_mut().enter());
        // SAFETY: passed on to the caller.
        unsafe { take(asked, self, activation, value) }
    }

    /// Returns `true` if the computation has not ended with a panic.
    pub(crate) fn has_no_payload(&self) -> bool {
        let payload = self.payload.take();
        let has_none = payload.is_none();
        self.payload.set(payload);
        has_none
    }

    /// Returns the barrier between the code that runs on `stack` and the computation that an answer given in
    /// place would leave, if there is one.
    #[inline(always)]
    pub(crate) fn barrier_to_answer(&self, stack: ThisStack<'_>) -> Option<Barrier> {
        let (here, outer) = (Marks::of(stack), self.marks.get());
        if here.is_in_same(outer) { None } else { here.barrier(outer, true) }
    }

    /// Gives up the stack on which the computation lies, unless it can be given back at once here.
    #[cold]
    pub(crate) fn lose_stack(&self) {
        let stack = self.stack.take();
        if stack.as_ref().is_some_and(handled::can_give) {
            self.stack.set(stack);
        }
    }

    /// Takes the stack, which has to be given back when the computation has ended.
    ///
    /// # Safety
    ///
    /// It has been begun and has ended, and this is called once.
    #[inline(always)]
    pub(crate) unsafe fn end(&self) -> Room {
        // SAFETY: the segment was initialised when the computation was begun. The computation has ended, so
        // this only tells a sanitizer that the stack is free.
        unsafe { (*self.segment.get()).assume_init_drop() };
        Room(self.stack.take())
    }
}
