//! The supply of stacks for handled computations. In a fiber they come from the domain, which has
//! the stacks of ended fibers; otherwise they come from the thread.

use crate::event::parker;
use crate::sched::{self, worker::with_current};
use crate::stack::overflow::{self, AltStack};
use crate::stack::taken::{Supply, Taken, keep_spare, take_spare};
use crate::stack::{DEFAULT_USABLE_SIZE, StackPool};
use std::cell::{Cell, RefCell};
use std::io;
use std::mem::ManuallyDrop;

/// The number of stacks that a thread keeps as they are. It gives back pages of further stacks.
const KEPT: usize = 1024;

/// The number of stacks given back between two looks at how many there are.
const LOOK: u32 = 64;

/// The stacks of a thread, by their size. They have no destructor, since the destructors of a
/// thread's locals may handle effects, whichever of them come first: see [`End`].
struct Pools {
    pools: RefCell<ManuallyDrop<Vec<(usize, StackPool)>>>,
    given: Cell<u32>,
    alternative: Cell<Option<ManuallyDrop<AltStack>>>,
}

thread_local! {
    static POOLS: Pools = const {
        Pools { pools: RefCell::new(ManuallyDrop::new(Vec::new())), given: Cell::new(0), alternative: Cell::new(None) }
    };
    static END: End = const { End };
    /// For the stacks that are taken when `END` is gone. Its destructor comes next. Stacks that are
    /// taken after that one, too, stay mapped.
    static LAST_END: End = const { End };
}

/// Gives back the stacks of a thread that ends.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        POOLS.with(Pools::end);
    }
}

/// Takes a stack for a computation of the code that runs here, which may have asked for a size.
///
/// # Errors
///
/// Returns an error if the kernel refuses memory or a guard.
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

/// Returns `true` if the stack can be given back here. Its fiber may have ended, and its runtime, too;
/// then it is lost.
#[cold]
pub fn can_give(stack: &Taken) -> bool {
    with_current(|worker| match worker {
        Some(worker) => worker.has_lent(stack),
        None => stack.is_of(0, 0),
    })
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
        Supply::Thread(size) => POOLS.with(|pools| pools.take(size)),
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
        Supply::Thread(size) => POOLS.with(|pools| pools.give(size, stack)),
    }
}

impl Pools {
    fn take(&self, size: usize) -> io::Result<Taken> {
        let mut pools = self.pools.borrow_mut();
        if !pools.iter().any(|(of, _)| *of == size) {
            // The thread's first stack of this size. Its overflow is to be told.
            overflow::install(sched::overflow::describe);
            let alternative = self.alternative.take();
            self.alternative.set(alternative.or_else(|| AltStack::ensure().ok().map(ManuallyDrop::new)));
            pools.push((size, StackPool::new(size)));
        }
        let _ = END.try_with(|_| ()).or_else(|_| LAST_END.try_with(|_| ()));
        let pool = pools.iter_mut().find(|(of, _)| *of == size);
        pool.expect("it was found or made above")
            .1
            .take()
            .map(|stack| Taken::new(stack, Supply::Thread(size), size, 0))
    }

    fn give(&self, size: usize, stack: Taken) {
        let mut pools = self.pools.borrow_mut();
        let Some(at) = pools.iter().position(|(of, _)| *of == size) else { return };
        let pool = &mut pools[at].1;
        pool.give(stack.into_stack());
        self.given.update(|given| given.wrapping_add(1));
        if self.given.get().is_multiple_of(LOOK) && pool.free() > KEPT {
            pool.trim(LOOK as usize);
        }
        if END.try_with(|_| ()).is_err() && pools[at].1.is_whole() {
            pools.swap_remove(at);
        }
    }

    /// Unmaps the stacks that are not lent. Lent stacks come back, or stay for ever.
    fn end(&self) {
        if let Some(spare) = take_spare() {
            give_to_pool(spare);
        }
        self.pools.borrow_mut().retain(|(_, pool)| !pool.is_whole());
        drop(self.alternative.take().map(ManuallyDrop::into_inner));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Sender, channel};

    /// Runs its function when it is dropped.
    struct Last(Option<Box<dyn FnOnce()>>);

    impl Drop for Last {
        fn drop(&mut self) {
            if let Some(f) = self.0.take() {
                f();
            }
        }
    }

    /// The stacks of a thread are unmapped when it ends, also stacks that a destructor takes after
    /// the first ones were unmapped.
    #[test]
    fn a_thread_that_ends_leaves_no_stacks() {
        thread_local! {
            static OLDEST: RefCell<Last> = const { RefCell::new(Last(None)) };
            static OLDER: RefCell<Last> = const { RefCell::new(Last(None)) };
        }
        fn left() -> usize {
            POOLS.with(|pools| pools.pools.borrow().len())
        }
        let (seen, sees) = channel();
        let use_some = |seen: &Sender<usize>| {
            let (one, other) = (take(None).unwrap(), take(Some(4096)).unwrap());
            seen.send(left()).unwrap();
            give(one);
            give(other);
        };
        std::thread::spawn(move || {
            let last = seen.clone();
            OLDEST.set(Last(Some(Box::new(move || last.send(left()).unwrap()))));
            let late = seen.clone();
            OLDER.set(Last(Some(Box::new(move || {
                late.send(left()).unwrap();
                use_some(&late);
            }))));
            use_some(&seen);
        })
        .join()
        .unwrap();
        assert_eq!(sees.iter().collect::<Vec<_>>(), [2, 0, 2, 0]);
    }
}
