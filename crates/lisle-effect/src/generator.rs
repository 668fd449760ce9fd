//! Generators: iterators whose items are given by code in direct style.

use crate::computation::{ComputationState, Header, Settled, Table};
use crate::drive::{caught, raise};
use crate::perform::suspend_for;
use crate::placed::place_computation;
use crate::request::{Clause, Payload};
use crate::unwind::Owned;
use lisle_core::internal::segment::{Request, ResumerLink};
use lisle_runtime::internal::handled::Home;
use lisle_runtime::internal::stack_state::StackState;
use lisle_runtime::internal::this_stack::this_stack;
use std::any::TypeId;
use std::cell::Cell;
use std::fmt;
use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::ptr::NonNull;

/// Creates an iterator over the items that `producer` gives.
///
/// The producer runs within the calls of [`next`](Iterator::next), on a stack of its own, from one
/// [`give`](Items::give) to the next. It is ordinary code. It may recurse, hold any values across a `give`,
/// and wait for events (its fiber then waits). It may perform effects, which go to the handlers around the
/// call of `next`.
///
/// The producer must not borrow, because the owner of the iterator may forget it. [`generate`] takes a
/// producer that borrows.
///
/// # Deadlines, and the end of a runtime
///
/// A wait of the producer ends as a wait of the consumer would that calls `next`: by a
/// [deadline](lisle_core::time::with_deadline) around the call, or by the end of the runtime. The producer
/// is unwound first, then the consumer, and there are no more items. If the consumer cannot be unwound,
/// because foreign code has called it back or because it is a destructor that runs because of a panic, a
/// deadline does not end the wait. The end of a runtime unwinds the producer, and leaves the consumer where
/// it is.
///
/// Below a deadline the producer is resumed in a frame of its own, and an item costs some nanoseconds more.
///
/// # Examples
///
/// ```
/// # use lisle_effect as effect;
/// let mut fibonacci = effect::generator(|items| {
///     let (mut a, mut b) = (0_u64, 1);
///     loop {
///         items.give(a);
///         (a, b) = (b, a + b);
///     }
/// });
/// assert!(fibonacci.by_ref().take(8).eq([0, 1, 1, 2, 3, 5, 8, 13]));
/// assert_eq!(fibonacci.next(), Some(21));
/// // Dropped here: the producer is unwound.
/// ```
///
/// # Panics
///
/// Panics if there is no memory for a stack.
#[inline]
#[track_caller]
pub fn generator<T, P>(producer: P) -> Generator<T>
where
    P: FnOnce(&Items<T>) + 'static,
    T: 'static,
{
    // SAFETY: nothing is borrowed. The owner of the result owns the computation.
    let header = unsafe { Producing::create(producer, None, Location::caller()) };
    // SAFETY: it has just been made.
    Owned::wait_here(unsafe { header.as_ref() });
    Generator { header: Some(header), items: PhantomData }
}

/// Calls `consumer` with an iterator over the items that `producer` gives. Both may borrow.
///
/// The producer has ended when this returns: it is unwound if the consumer has not taken all items. Its
/// waits end as the waits of a [`generator`] do.
///
/// # Examples
///
/// ```
/// # use lisle_effect as effect;
/// use effect::{Items, generate};
///
/// struct Tree {
///     children: Vec<Tree>,
///     value: u32,
/// }
///
/// fn walk<'t>(tree: &'t Tree, items: &Items<&'t u32>) {
///     for child in &tree.children {
///         walk(child, items);
///     }
///     items.give(&tree.value);
/// }
///
/// # let leaf = |value| Tree { children: Vec::new(), value };
/// let tree = Tree { children: vec![leaf(1), leaf(2)], value: 3 };
/// let sum = generate(|items| walk(&tree, items), |values| values.sum::<u32>());
/// assert_eq!(sum, 6);
/// ```
///
/// The iterator does not leave the consumer:
///
/// ```compile_fail
/// # use lisle_effect::generate;
/// let values = generate(|items| items.give(1), |values| values);
/// ```
///
/// # Panics
///
/// Panics if the consumer panics, or if the producer panics: `next` raises the producer's panic in the
/// consumer. Panics if there is no memory for a stack.
#[inline]
#[track_caller]
pub fn generate<T, R, P, C>(producer: P, consumer: C) -> R
where
    P: FnOnce(&Items<T>),
    C: for<'s> FnOnce(Values<'s, T>) -> R,
{
    // SAFETY: the computation is ended before this returns, whatever happens.
    let header = unsafe { Producing::create(producer, None, Location::caller()) };
    // SAFETY: this owns the computation. When the consumer has returned, its iterator is gone.
    let owner = unsafe { Owned::new(header) };
    let header = owner.header();
    consumer(Values { header, stack: this_stack().state(), items: PhantomData })
}

/// The producer's side of a generator.
pub struct Items<T> {
    header: Cell<*const Header>,
    items: PhantomData<fn(T)>,
}

impl<T> Items<T> {
    /// Gives an item to the consumer, and waits until the consumer asks for another.
    ///
    /// # Panics
    ///
    /// Panics if this is called where the producer must not be suspended, as [`perform`](crate::perform)
    /// does. If the generator is dropped meanwhile, the call does not return, and the producer is unwound.
    #[inline(always)]
    #[track_caller]
    pub fn give(&self, item: T) {
        // SAFETY: the producer's computation, on whose stack this lies, runs.
        let header = unsafe { &*self.header.get() };
        let mut item = ManuallyDrop::new(item);
        let place = NonNull::from(&mut item).cast::<T>();
        let stack = this_stack();
        if !header.is_on(stack.state()) {
            // SAFETY: nobody moves it out.
            unsafe { place.drop_in_place() };
            given_elsewhere(header);
        }
        // SAFETY: this runs in the computation, or in a computation within it. The consumer moves the item
        // out.
        unsafe { suspend_for::<Given, T>(stack, header, place.cast(), place) };
    }
}

#[cold]
#[track_caller]
fn given_elsewhere(header: &Header) -> ! {
    panic!(
        "the producer begun at {} gives an item in a fiber of a runtime that the producer has started: the suspension \
         would leave that runtime. Give the item in the producer itself",
        header.link.site()
    )
}

/// The name of the operation of a producer, in messages.
struct Given;

/// An iterator over the items of a producer, see [`generator`].
///
/// An iterator stays in the fiber, task or thread in which it was made, like a
/// [`Suspended`](crate::Suspended) computation, and for the same reasons. When it is dropped, its producer
/// is unwound. At the latest the producer is unwound when its fiber ends, and there are no more items then.
/// The paragraphs about tasks, about computations that are left, and about the end of a thread apply to
/// generators, too.
///
/// ```compile_fail,E0277
/// # use lisle_effect::generator;
/// let numbers = generator(|items| items.give(1));
/// std::thread::spawn(move || numbers.count());
/// ```
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct Generator<T> {
    header: Option<NonNull<Header>>,
    items: PhantomData<fn() -> T>,
}

impl<T> Iterator for Generator<T> {
    type Item = T;

    /// # Panics
    ///
    /// Panics with the panic of the producer; there are no more items then. Panics if another fiber, task
    /// or thread has made the generator.
    #[inline(always)]
    fn next(&mut self) -> Option<T> {
        let header = self.header?;
        assert!(
            // SAFETY: the generator owns it.
            unsafe { header.as_ref() }.is_at_home(),
            "a generator is used in {} to which it does not belong: use the generator in the fiber, task or thread that \
             made it",
            Home::describe(),
        );
        // SAFETY: the generator owns it.
        match unsafe { next(header.as_ref()) } {
            Some(item) => Some(item),
            None => self.end(header),
        }
    }
}

impl<T> Generator<T> {
    /// Ends the items, with the panic that has ended the producer, if there is one.
    #[cold]
    #[inline(never)]
    fn end(&mut self, header: NonNull<Header>) -> Option<T> {
        // SAFETY: the generator owns it.
        let this = unsafe { header.as_ref() };
        if this.state.get() == ComputationState::Ending {
            // A destructor of the producer asks for an item. The producer is unwound because its fiber
            // ends.
            return None;
        }
        let panic = this.payload.take();
        self.header = None;
        // SAFETY: the generator has just given it up.
        drop(unsafe { Owned::new(header) });
        raise_if_some(panic)
    }
}

impl<T> FusedIterator for Generator<T> {}

impl<T> Drop for Generator<T> {
    fn drop(&mut self) {
        let Some(header) = self.header else { return };
        // SAFETY: the generator owns it, and is gone.
        unsafe { Owned::new(header) }.give_up();
    }
}

/// Returns `None` if the producer was unwound, or is being unwound, because its fiber ends.
#[cold]
fn not_waiting<T>(header: &Header) -> Option<T> {
    assert!(
        header.state.get() != ComputationState::Running,
        "a generator is asked for an item by its own producer"
    );
    None
}

/// An iterator over the items of a producer, see [`generate`].
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct Values<'s, T> {
    header: &'s Header,
    /// The state of the stack on which the consumer runs.
    stack: &'s StackState,
    /// Not `Send`, and invariant.
    items: PhantomData<*mut (&'s (), T)>,
}

impl<T> Iterator for Values<'_, T> {
    type Item = T;

    /// # Panics
    ///
    /// Panics with the panic of the producer; there are no more items then. Panics in a fiber of a runtime
    /// that the consumer has started.
    #[inline(always)]
    fn next(&mut self) -> Option<T> {
        if self.header.state.get() == ComputationState::Ended {
            return None;
        }
        assert!(
            std::ptr::eq(self.stack, this_stack().state()),
            "a consumer takes an item in a fiber of a runtime that the consumer has started: take the item in the consumer \
             itself"
        );
        // SAFETY: the call that lends this owns the computation, which is resumed only here.
        match unsafe { next(self.header) } {
            Some(item) => Some(item),
            None => raise_if_some(self.header.payload.take()),
        }
    }
}

impl<T> FusedIterator for Values<'_, T> {}

/// Raises the panic that has ended a producer, if there is one.
#[cold]
#[inline(never)]
fn raise_if_some<T>(panic: Option<Payload>) -> Option<T> {
    panic.and_then(|panic| raise(panic))
}

/// Returns the next item of a producer, or `None` if the producer has ended. If a panic has ended it, its
/// payload is in the header.
///
/// This is inlined into the consumer's loop, for the reason given in `lisle_core::segment`. So the frame
/// that has resumed the producer may be a frame that no panic leaves, such as a function that foreign code
/// calls. The walk that looks whether a fiber can be unwound (`lisle_core::unwinding`) does not see how
/// that frame treats a panic. Therefore the end of a runtime, which may have unwound a producer, looks
/// again in `raise` before it goes on with the consumer. Below a deadline a producer runs in a frame of its
/// own, see `Header::turn`.
///
/// # Safety
///
/// The producer is suspended or has not begun, and gives items of this type.
#[inline(always)]
unsafe fn next<T>(header: &Header) -> Option<T> {
    if header.state.get() != ComputationState::Suspended {
        return not_waiting(header);
    }
    let here = this_stack();
    let stack = here.state();
    header.attach(here);
    header.state.set(ComputationState::Running);
    // SAFETY: attached, and by the caller's promise.
    if let Some(request) = unsafe { header.turn(stack) } {
        header.state.set(ComputationState::Suspended);
        // SAFETY: a producer's request is to take the item that lies there.
        return Some(unsafe { request.0.cast::<T>().read() });
    }
    header.state.set(ComputationState::Ended);
    None
}

/// A producer in memory.
#[repr(C)]
struct Producing<P, T> {
    header: Header,
    items: Items<T>,
    producer: Cell<Option<P>>,
}

impl<T, P: FnOnce(&Items<T>)> Producing<P, T> {
    const TABLE: Table = Table {
        find: Self::find,
        finish: Self::finish,
        catch_panic: Self::catch_panic,
        settle: Self::settle,
        free: Self::free,
    };

    /// # Safety
    ///
    /// The borrows of the producer outlive the computation, which the caller owns.
    #[inline(always)]
    unsafe fn create(
        producer: P,
        stack_size: Option<usize>,
        site: &'static Location<'static>,
    ) -> NonNull<Header> {
        let make = |header: Header| {
            header.state.set(ComputationState::Suspended);
            // The consumer may ask for the next item when the `catch` block of C++ has ended in which it
            // asks for this one.
            header.exceptions.set_apart();
            let items = Items { header: Cell::new(std::ptr::null()), items: PhantomData };
            Producing { header, items, producer: Cell::new(Some(producer)) }
        };
        // SAFETY: passed on to the caller.
        unsafe { place_computation(const { &Self::TABLE }, stack_size, site, make, Self::root) }
    }

    #[inline(always)]
    fn root(this: *mut Self, link: &ResumerLink) {
        // SAFETY: the computation stays while it runs.
        let this = unsafe { &*this };
        this.header.has_begun(link);
        this.items.header.set(&raw const this.header);
        let Some(producer) = this.producer.take() else { return };
        if let Err(panic) = caught(|| producer(&this.items)) {
            this.header.payload.set(Some(panic));
        }
    }

    unsafe fn find(_: NonNull<Header>, _: &TypeId) -> Option<Clause> {
        None
    }

    unsafe fn finish(_: NonNull<Header>, _: NonNull<()>) {
        unreachable!("a producer has no handler that makes a result");
    }

    unsafe fn catch_panic(_: NonNull<Header>, panic: Payload, _: NonNull<()>) -> Result<(), Payload> {
        Err(panic)
    }

    unsafe fn settle(_: NonNull<Header>, _: Request) -> Settled {
        Settled::Refused("the items of this generator are no longer wanted")
    }

    /// # Safety
    ///
    /// The header belongs to such a producer, which has ended, and whose owner gives it up.
    unsafe fn free(header: NonNull<Header>) {
        let this = header.cast::<Self>().as_ptr();
        // SAFETY: by the caller's promise.
        let _room = unsafe { (*this).header.end() };
        // SAFETY: as above. The stack stays until it has been dropped.
        drop(unsafe { (*this).producer.take() });
    }
}

impl<T> fmt::Debug for Items<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Items").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Generator<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generator").field("has_ended", &self.header.is_none()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Values<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Values").finish_non_exhaustive()
    }
}
