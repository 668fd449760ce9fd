//! A computation and its handler in memory: all of it lies on a stack of its own.

use crate::clause::Find;
use crate::computation::{ComputationState, Header, Settled, Table};
use crate::drive::caught;
use crate::handler::{Handler, Returning};
use crate::request::{Clause, Payload};
use crate::room::Room;
use crate::unwind;
use lisle_core::internal::segment::{Request, ResumerLink, Segment, StackSpan};
use lisle_runtime::internal::handled::{self, Taken};
use std::any::TypeId;
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, offset_of};
use std::panic::Location;
use std::ptr::NonNull;

/// Puts a computation on a stack of its own. `make` puts the other fields around its header, and
/// `root` is its code.
///
/// # Safety
///
/// The header is the first field of a `C`, whose functions are in the table. The borrows of the
/// computation outlive it. The caller owns the computation.
#[inline(always)]
pub(crate) unsafe fn place_computation<C>(
    table: &'static Table,
    stack_size: Option<usize>,
    site: &'static Location<'static>,
    make: impl FnOnce(Header) -> C,
    root: impl FnOnce(*mut C, &ResumerLink),
) -> NonNull<Header> {
    let stack = handled::take(stack_size).unwrap_or_else(|error| no_stack(&error, site));
    let alignment = const { if align_of::<C>() > 16 { align_of::<C>() } else { 16 } };
    let (base, limit) = (stack.base(), stack.limit());
    if size_of::<C>() + alignment + LEAST > stack.usable() {
        too_small(stack, size_of::<C>(), site);
    }
    let place = (base - size_of::<C>()) & !(alignment - 1);
    let this = std::ptr::with_exposed_provenance_mut::<C>(place);
    // SAFETY: the stack is ours, and this is the uppermost part of it.
    unsafe { this.write(make(Header::new(table, stack, site))) };
    let header = NonNull::new(this).expect("a stack is not at address 0").cast::<Header>();
    // SAFETY: the memory below belongs to the segment until the segment has ended, and the stack
    // is given back only then. The place is a multiple of 16, and so is the limit.
    let below = unsafe { StackSpan::new(place, limit) };
    // SAFETY: the borrows of the code outlive it. A computation that is forgotten keeps its
    // stack.
    let segment = unsafe { Segment::new(below, move |link: &ResumerLink| root(this, link)) };
    // SAFETY: the computation is in place, and no other code has it.
    unsafe { header.as_ref().begin(segment) };
    header
}

/// A computation with all its types.
#[repr(C)]
pub(crate) struct Computation<F, T, R, C, V> {
    header: Header,
    clauses: C,
    returning: ManuallyDrop<V>,
    body: UnsafeCell<Body<F, T>>,
    types: PhantomData<fn() -> R>,
}

/// The closure until the computation begins, and its value when it has ended without a panic.
union Body<F, T> {
    closure: ManuallyDrop<F>,
    value: ManuallyDrop<T>,
}

/// The least number of bytes that a stack has for the frames of a computation.
const LEAST: usize = 12 * 1024;

impl<F, T, R, C, V> Computation<F, T, R, C, V>
where
    F: FnOnce() -> T,
    V: Returning<T, R>,
    C: Find,
{
    const TABLE: Table = Table {
        find: Self::find,
        finish: Self::finish,
        catch_panic: Self::catch_panic,
        settle: Self::settle,
        free: Self::free,
    };

    /// Puts the parts of a handler on a stack of their own.
    #[inline(always)]
    pub(crate) fn create(handler: Handler<'_, F, T, R, C, V>) -> NonNull<Header> {
        let make = |header| Computation {
            header,
            clauses: handler.clauses,
            returning: ManuallyDrop::new(handler.returning),
            body: UnsafeCell::new(Body { closure: ManuallyDrop::new(handler.f) }),
            types: PhantomData,
        };
        // SAFETY: the borrows of the handler outlive the owner of the computation. The owner is
        // the call of `run`, which ends the computation before it returns. If the computation is
        // kept, nothing is borrowed.
        unsafe {
            place_computation(const { &Self::TABLE }, handler.stack_size, handler.site, make, Self::root)
        }
    }

    /// The code of the computation. Inlined, since a call would have to return after the first
    /// switch.
    #[inline(always)]
    fn root(this: *mut Self, link: &ResumerLink) {
        // SAFETY: the computation stays while it runs.
        let header = unsafe { &(*this).header };
        header.has_begun(link);
        // SAFETY: the computation begins here, once, and no other code uses the body before it
        // has ended.
        let body = unsafe { &mut *(*this).body.get() };
        // SAFETY: the closure has not been taken.
        let closure = unsafe { ManuallyDrop::take(&mut body.closure) };
        match caught(closure) {
            Ok(value) => body.value = ManuallyDrop::new(value),
            Err(panic) => header.payload.set(Some(panic)),
        }
        if header.state.get() == ComputationState::Ending && header.has_no_payload() {
            // SAFETY: the value was just put there, and it will not be used.
            if let Err(panic) = caught(|| unsafe { ManuallyDrop::drop(&mut body.value) }) {
                header.payload.set(Some(panic));
            }
        }
    }

    /// # Safety
    ///
    /// The header belongs to such a computation. This holds for all functions of the table.
    unsafe fn find(header: NonNull<Header>, effect: &TypeId) -> Option<Clause> {
        let this = header.cast::<Self>();
        // SAFETY: a field of a live computation.
        let clauses = unsafe { NonNull::new_unchecked(&raw mut (*this.as_ptr()).clauses) };
        // SAFETY: as above.
        unsafe { C::find(clauses, effect) }
    }

    unsafe fn finish(header: NonNull<Header>, result: NonNull<()>) {
        let this = header.cast::<Self>().as_ptr();
        // SAFETY: it has ended with a value, which is taken once.
        let value = unsafe { ManuallyDrop::take(&mut (*(*this).body.get()).value) };
        // SAFETY: taken once.
        let returning = unsafe { ManuallyDrop::take(&mut (*this).returning) };
        // SAFETY: its owner gives it up.
        drop(unsafe { Self::clear(this) });
        // SAFETY: the room is for a result.
        unsafe { result.cast::<R>().write(returning.apply(value)) };
    }

    unsafe fn catch_panic(
        header: NonNull<Header>,
        panic: Payload,
        value: NonNull<()>,
    ) -> Result<(), Payload> {
        let this = header.cast::<Self>();
        // SAFETY: a field of a live computation.
        let clauses = unsafe { NonNull::new_unchecked(&raw mut (*this.as_ptr()).clauses) };
        // SAFETY: the computation has ended, so no clause runs. The room is for a result.
        unsafe { C::catch_panic(clauses, panic, value) }
    }

    unsafe fn settle(header: NonNull<Header>, request: Request) -> Settled {
        // SAFETY: the computation is suspended by `perform` for a clause of this handler.
        unsafe { unwind::settle::<R>(header, request) }
    }

    unsafe fn free(header: NonNull<Header>) {
        let this = header.cast::<Self>().as_ptr();
        // SAFETY: its owner gives it up.
        let _room = unsafe { Self::clear(this) };
        // SAFETY: it has not been taken. The room is kept until it has been dropped.
        unsafe { ManuallyDrop::drop(&mut (*this).returning) };
    }

    /// Drops the clauses, and returns the stack.
    ///
    /// # Safety
    ///
    /// The computation has ended, and this is called once.
    #[inline(always)]
    unsafe fn clear(this: *mut Self) -> Room {
        // SAFETY: by the caller's promise.
        let room = unsafe { (*this).header.end() };
        // SAFETY: as above.
        unsafe { (&raw mut (*this).clauses).drop_in_place() };
        room
    }
}

#[cold]
fn no_stack(error: &std::io::Error, site: &Location<'_>) -> ! {
    panic!("no stack for the handled computation begun at {site}: {error}")
}

#[cold]
fn too_small(stack: Taken, size: usize, site: &Location<'_>) -> ! {
    let usable = stack.usable();
    handled::give(stack);
    panic!(
        "the handled computation begun at {site} and its clauses hold {size} bytes, too much for a stack of {usable} \
         bytes: give the computation a larger stack (`stack_size`), or keep large values on the heap"
    )
}

const _: () = assert!(offset_of!(Header, link) == 0, "links are cast to headers");
