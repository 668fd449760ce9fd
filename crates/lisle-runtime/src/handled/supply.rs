//! Where the stacks of handled computations come from: from the domain in a fiber, so that they are
//! those of fibers that have ended, and otherwise from the thread.

use crate::event::parker;
use crate::sched::{self, worker::with_current};
use crate::stack::overflow::{self, AltStack};
use crate::stack::taken::{Supply, Taken, keep_spare, take_spare};
use crate::stack::{DEFAULT_USABLE_SIZE, StackPool};
use std::cell::{Cell, RefCell};
use std::io;

/// The number of stacks that a thread keeps as they are. Of those beyond, it gives pages back.
const KEPT: usize = 1024;

/// The number of stacks given back between two looks at how many there are.
const LOOK: u32 = 64;

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
}

/// Takes a stack for a computation of the code that runs here, which may have asked for a size.
///
/// # Errors
///
/// Returns an error if the kernel refuses memory or a guard, or if the thread is ending.
#[inline(always)]
pub fn take(size: Option<usize>) -> io::Result<Taken> {
    let supply = match size {
        None if parker::running().is_some() => Supply::Domain,
        size => Supply::Thread(size.unwrap_or(DEFAULT_USABLE_SIZE)),
    };
    match take_spare() {
        Some(spare) if spare.supply() == supply => Ok(spare),
        other => take_from_pool(supply, other),
    }
}

/// Gives back a stack that was taken on the same thread.
#[inline(always)]
pub fn give(stack: Taken) {
    if let Some(before) = keep_spare(stack) {
        give_to_pool(before);
    }
}

#[inline(never)]
fn take_from_pool(supply: Supply, other: Option<Taken>) -> io::Result<Taken> {
    if let Some(other) = other {
        give_to_pool(other);
    }
    match supply {
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

#[inline(never)]
fn give_to_pool(stack: Taken) {
    match stack.supply() {
        Supply::Domain => with_current(|worker| {
            if let Some(worker) = worker {
                worker.give_stack(stack);
            }
        }),
        // If the thread is ending, the stack is lost.
        Supply::Thread(size) => drop(POOLS.try_with(|pools| pools.give(size, stack))),
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
            if self.given.get().is_multiple_of(LOOK) && pool.free() > KEPT {
                pool.trim(LOOK as usize);
            }
        }
    }
}

impl Drop for Pools {
    /// The thread ends. A slab is unmapped only if all of its stacks are in their pool.
    fn drop(&mut self) {
        if let Some(spare) = take_spare()
            && let Supply::Thread(size) = spare.supply()
        {
            self.give(size, spare);
        }
    }
}
