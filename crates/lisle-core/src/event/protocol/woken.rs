//! Wakes that are sent after a lock is released.

use crate::event::waker::PerformerWaker;
use crate::panics;
use std::cell::{Cell, RefCell};
use std::mem::MaybeUninit;
use std::task::Waker;

/// The number of wakers that are kept without allocating.
const FEW: usize = 4;

/// Wakers to be woken once the lock is free. The first few need no allocation; an update that
/// grants to many at once keeps the rest in a vector.
pub(crate) struct Woken {
    /// The first `count` of these are initialized.
    few: [Cell<MaybeUninit<PerformerWaker>>; FEW],
    count: Cell<usize>,
    more: RefCell<Vec<PerformerWaker>>,
}

impl Default for Woken {
    #[inline(always)]
    fn default() -> Self {
        let few = [const { Cell::new(MaybeUninit::uninit()) }; FEW];
        Woken { few, count: Cell::new(0), more: RefCell::new(Vec::new()) }
    }
}

impl Woken {
    fn few(&self, index: usize) -> PerformerWaker {
        debug_assert!(index < self.count.get());
        // SAFETY: the first `count` have been written.
        unsafe { self.few[index].get().assume_init() }
    }

    fn wake_all(&mut self) {
        if self.count.get() == 1 {
            return self.few(0).wake();
        }
        together(|| {
            (0..self.count.get()).for_each(|index| self.few(index).wake());
            self.more.get_mut().drain(..).for_each(PerformerWaker::wake);
        });
    }

    #[inline]
    pub(crate) fn push(&self, waker: PerformerWaker) {
        match self.few.get(self.count.get()) {
            Some(place) => {
                place.set(MaybeUninit::new(waker));
                self.count.set(self.count.get() + 1);
            }
            None => self.more.borrow_mut().push(waker),
        }
    }

    /// Takes out the waker at `data`, which must not be woken any more. Returns `false` if it is
    /// not there.
    pub(in crate::event) fn take_back(&self, data: *const ()) -> bool {
        let mut more = self.more.borrow_mut();
        if let Some(index) = more.iter().position(|waker| waker.is_at(data)) {
            more.swap_remove(index);
            return true;
        }
        let count = self.count.get();
        let Some(index) = (0..count).find(|&index| self.few(index).is_at(data)) else { return false };
        match more.pop() {
            Some(last) => self.few[index].set(MaybeUninit::new(last)),
            None => {
                self.few[index].set(MaybeUninit::new(self.few(count - 1)));
                self.count.set(count - 1);
            }
        }
        true
    }
}

impl Drop for Woken {
    #[inline(always)]
    fn drop(&mut self) {
        if self.count.get() > 0 {
            self.wake_all();
        }
    }
}

/// The wakers of foreign executors that a thread must still call.
struct Calls {
    few: [Cell<Option<Waker>>; FEW],
    more: RefCell<Vec<Waker>>,
}

#[cfg(not(lisle_loom))]
thread_local! {
    static CALLS: Cell<*const Calls> = const { Cell::new(std::ptr::null()) };
}

#[cfg(lisle_loom)]
loom::thread_local! {
    static CALLS: Cell<*const Calls> = Cell::new(std::ptr::null());
}

/// Runs `wake`, which wakes several performers. A waker is foreign code, which may drop a future
/// that is among them; the drop would wait for the wake that this thread owes it. Therefore all
/// performers are told first, and the wakers are called afterwards.
#[cold]
fn together(wake: impl FnOnce()) {
    struct Leave(*const Calls);
    impl Drop for Leave {
        fn drop(&mut self) {
            CALLS.with(|calls| calls.set(self.0));
        }
    }
    let calls = Calls { few: [const { Cell::new(None) }; FEW], more: RefCell::new(Vec::new()) };
    let leave = Leave(CALLS.with(|outer| outer.replace(&raw const calls)));
    wake();
    drop(leave);
    let few = calls.few.into_iter().filter_map(Cell::into_inner);
    few.chain(calls.more.into_inner()).for_each(call);
}

/// Calls the waker of a future that has been told that it is woken. If others must still be told,
/// the call is postponed.
pub(in crate::event) fn call(waker: Waker) {
    // SAFETY: the calls stay in place until `CALLS` has been reset.
    let Some(calls) = (unsafe { CALLS.with(Cell::get).as_ref() }) else {
        // It acts for another performer, which relies on it, so no limit of the running code may end its
        // waits.
        crate::masked!(_masked);
        // This may be a domain or the clock thread, on which others rely.
        return panics::told("a waker given to an event's future", || waker.wake());
    };
    for place in &calls.few {
        match place.take() {
            None => return place.set(Some(waker)),
            taken => place.set(taken),
        }
    }
    calls.more.borrow_mut().push(waker);
}
