//! Where the stacks of handled computations come from: from the domain in a fiber, so that they are
//! those of fibers that have ended, and otherwise from the thread.

use super::Taken;
use crate::event::parker;
use crate::sched::{self, worker::with_current};
use crate::stack::overflow::{self, AltStack};
use crate::stack::{DEFAULT_USABLE_SIZE, StackPool};
use std::cell::{Cell, RefCell};
use std::io;
use std::mem::ManuallyDrop;

/// The number of stacks that a thread keeps as they are. Of those beyond, it gives pages back.
const KEPT: usize = 1024;

/// The number of stacks given back between two looks at how many there are.
const LOOK: u32 = 64;

/// Where a stack comes from, and where it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Supply {
    /// The domain, whose fibers have stacks of the same size.
    Domain,
    /// The thread, with this size.
    Thread(usize),
}

/// The stacks of a thread, by their size.
struct Pools {
    pools: RefCell<Vec<(usize, StackPool)>>,
    given: Cell<u32>,
    alternative: Cell<Option<AltStack>>,
}

thread_local! {
    static POOLS: Pools = const {
        Pools { pools: RefCell::new(Vec::new()), given: Cell::new(0), alternative: Cell::new(None) }
    };
    /// The stack that was given back last. It has no destructor, and so costs a load and a store.
    static SPARE: Cell<Option<ManuallyDrop<Taken>>> = const { Cell::new(None) };
}

impl Supply {
    /// Returns the supply for the code that runs here, which may have asked for a size.
    #[inline(always)]
    pub fn here(size: Option<usize>) -> Self {
        match size {
            None if parker::running().is_some() => Supply::Domain,
            size => Supply::Thread(size.unwrap_or(DEFAULT_USABLE_SIZE)),
        }
    }

    /// Takes a stack.
    ///
    /// # Errors
    ///
    /// Returns an error if the kernel refuses memory or a guard, or if the thread is ending.
    #[inline(always)]
    pub fn take(self) -> io::Result<Taken> {
        match SPARE.take() {
            Some(spare) if spare.record().supply == self => Ok(ManuallyDrop::into_inner(spare)),
            other => self.take_from_pool(other),
        }
    }

    #[inline(never)]
    fn take_from_pool(self, other: Option<ManuallyDrop<Taken>>) -> io::Result<Taken> {
        if let Some(other) = other {
            ManuallyDrop::into_inner(other).give_to_pool();
        }
        match self {
            Supply::Domain => with_current(|worker| match worker {
                Some(worker) => worker.take_stack(),
                None => Err(io::Error::other("the runtime has ended")),
            }),
            Supply::Thread(size) => {
                let ended = |_| io::Error::other("the thread is ending, and has no stacks any more");
                POOLS.try_with(|pools| pools.take(size)).map_err(ended)?
            }
        }
    }
}

impl Taken {
    /// Gives the stack back to where it comes from, on the thread on which it was taken.
    #[inline(always)]
    pub fn give_back(self) {
        if let Some(before) = SPARE.replace(Some(ManuallyDrop::new(self))) {
            ManuallyDrop::into_inner(before).give_to_pool();
        }
    }

    #[inline(never)]
    fn give_to_pool(self) {
        match self.record().supply {
            Supply::Domain => with_current(|worker| {
                if let Some(worker) = worker {
                    worker.give_stack(self);
                }
            }),
            // If the thread is ending, the stack is lost.
            Supply::Thread(size) => drop(POOLS.try_with(|pools| pools.give(size, self))),
        }
    }
}

/// Gives the spare stack back, since the worker of the thread ends.
pub(crate) fn give_back_spare() {
    if let Some(spare) = SPARE.take() {
        ManuallyDrop::into_inner(spare).give_to_pool();
    }
}

impl Pools {
    fn take(&self, size: usize) -> io::Result<Taken> {
        let mut pools = self.pools.borrow_mut();
        if !pools.iter().any(|(of, _)| *of == size) {
            // The thread's first stack of this size. Its overflow is to be told.
            overflow::install(sched::overflow::describe);
            let alternative = self.alternative.take();
            self.alternative.set(alternative.or_else(|| AltStack::ensure().ok()));
            pools.push((size, StackPool::new(size)));
        }
        let pool = pools.iter_mut().find(|(of, _)| *of == size);
        pool.expect("it was found or made above")
            .1
            .take()
            .map(|stack| Taken::new(stack, Supply::Thread(size), size))
    }

    fn give(&self, size: usize, stack: Taken) {
        let mut pools = self.pools.borrow_mut();
        if let Some((_, pool)) = pools.iter_mut().find(|(of, _)| *of == size) {
            pool.give(stack.into_stack());
            self.given.update(|given| given.wrapping_add(1));
            if self.given.get() % LOOK == 0 && pool.free() > KEPT {
                pool.trim(LOOK as usize);
            }
        }
    }
}

impl Drop for Pools {
    /// The thread ends. A slab is unmapped only if all of its stacks are in their pool.
    fn drop(&mut self) {
        if let Some(spare) = SPARE.take()
            && let Supply::Thread(size) = spare.record().supply
        {
            self.give(size, ManuallyDrop::into_inner(spare));
        }
    }
}
