//! A stack as handled computations use it: its description lies on it, and the stack that was given
//! back last is kept at hand.

use super::Stack;
use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::ptr::{NonNull, with_exposed_provenance_mut};

/// The lender of a stack, to which it goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Supply {
    /// The domain, whose fibers have stacks of the same size.
    Domain,
    /// The thread, with this size.
    Thread(usize),
}

/// The part of a stack that is left to the code that runs last on it. No task begins there.
const LEFT_TO_LEAVES: usize = 64 * 1024;

/// A stack on which a handled computation runs. The record of its fields lies at the uppermost end
/// of the stack itself, so that moving this value moves one word. To move the record as a whole
/// just after its fields were written would take the processor 5 ns.
#[derive(Debug)]
pub struct Taken(NonNull<Record>);

#[derive(Debug)]
pub(crate) struct Record {
    supply: Supply,
    stack: Stack,
    /// The size that was asked for.
    size: usize,
    /// The address of the `Worker` of the domain that has lent it, or 0.
    lender: usize,
    /// The addresses that a computation may use.
    usable: Range<usize>,
    /// No task begins below this address.
    room: usize,
}

impl Record {
    /// Returns the size of the stack if `fault` lies in its guard. Safe to call in a signal
    /// handler.
    pub(crate) fn is_overflowed_by(&self, fault: usize) -> Option<usize> {
        self.stack.guard().contains(&fault).then_some(self.size)
    }
}

impl Taken {
    /// Takes possession of a stack for computations, of this size. The domain whose `Worker` is at
    /// `lender` has lent it, or the thread if `lender` is 0.
    pub(crate) fn new(stack: Stack, supply: Supply, size: usize, lender: usize) -> Self {
        let usable = stack.usable();
        let top = (stack.base_address() - size_of::<Record>()) & !(align_of::<Record>().max(16) - 1);
        let room = usable.start + LEFT_TO_LEAVES.min(usable.len() / 2);
        let record = Record { supply, stack, size, lender, usable: usable.start..top, room };
        let place = with_exposed_provenance_mut::<Record>(top);
        // SAFETY: the stack is ours, and this is its uppermost end.
        unsafe { place.write(record) };
        Taken(NonNull::new(place).expect("a stack is not at address 0"))
    }

    /// Returns where it comes from.
    #[inline(always)]
    pub(crate) fn supply(&self) -> Supply {
        self.record().supply
    }

    /// Returns `true` if the thread has lent it, or the domain whose `Worker` is at this address and
    /// whose stacks have this size.
    pub(crate) fn is_of(&self, worker: usize, size: usize) -> bool {
        let record = self.record();
        record.lender == 0 || (record.lender, record.size) == (worker, size)
    }

    /// Returns the address below which no task begins.
    #[inline(always)]
    pub(crate) fn room(&self) -> usize {
        self.record().room
    }

    /// Returns its description, which stays as long as the value.
    #[inline(always)]
    pub(crate) fn place(&self) -> NonNull<Record> {
        self.0
    }

    #[inline(always)]
    fn record(&self) -> &Record {
        // SAFETY: it stays as long as this value, at a place that nothing else uses.
        unsafe { self.0.as_ref() }
    }

    pub(crate) fn into_stack(self) -> Stack {
        // SAFETY: as above. It is moved out once.
        unsafe { self.0.read() }.stack
    }

    /// Returns the address from where the stack grows down.
    #[inline(always)]
    pub fn base(&self) -> usize {
        self.record().usable.end
    }

    /// Returns the lowest address, where the guard begins.
    #[inline(always)]
    pub fn limit(&self) -> usize {
        self.record().stack.limit_address()
    }

    /// Returns the size that a computation may use, in bytes.
    #[inline(always)]
    pub fn usable(&self) -> usize {
        self.record().usable.len()
    }
}

thread_local! {
    /// The stack that was given back last. It has no destructor, and so costs a load and a store.
    static SPARE: Cell<Option<ManuallyDrop<Taken>>> = const { Cell::new(None) };
}

/// Takes the stack that this thread has at hand, whatever supply it is of.
#[inline(always)]
pub(crate) fn take_spare() -> Option<Taken> {
    SPARE.take().map(ManuallyDrop::into_inner)
}

/// Keeps a stack at hand. Returns the one that was there before.
#[inline(always)]
pub(crate) fn keep_spare(stack: Taken) -> Option<Taken> {
    SPARE.replace(Some(ManuallyDrop::new(stack))).map(ManuallyDrop::into_inner)
}
