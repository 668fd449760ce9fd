//! The stacks of a domain, or of the threads that run no domain, on which joins, loops and scopes
//! are under way.
//!
//! The owner of a stack looks at its pending work only between calls. For long calls, and while the
//! owner waits, the monitor of the runtime looks every 10 ms at the stacks that are registered
//! here, if a domain could take anything. To register a stack and to remove it are a few stores for
//! a domain, since its thread is the only one that does so here.
//!
//! A stack must not go while the monitor looks at it. That is the same problem as in
//! `pending/outside.rs`, with the same solution. An owner that has left its seat looks whether a
//! thread looks at the seats, and waits until that is over. A thread that looks at the seats first
//! says so, and makes all processors pass a fence.

use super::offers::Offers;
use super::pending::Pending;
use crate::event::lock::Lock;
use crate::shim::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use crate::shim::sync::OnceLock;
use crate::shim::{asymmetric, const_fn};
use std::ptr::null_mut;

/// The number of stacks that there is room for before more is allocated.
const SEATS: usize = if cfg!(lisle_loom) { 1 } else { 64 };

/// The stacks on which something may be put off.
#[derive(Debug)]
pub(crate) struct Stacks {
    /// One bit for each seat that is taken.
    taken: AtomicU64,
    /// The lowest bit of a pointer says that the stack was there at an earlier look.
    seats: [AtomicPtr<Pending>; SEATS],
    /// `true` while a thread looks at the stacks.
    looked_at: AtomicBool,
    /// Locked by the thread that looks at the stacks.
    gate: Lock<()>,
    /// Whether several threads come and go.
    is_shared: bool,
    more: OnceLock<Box<Stacks>>,
}

/// A guard: the stack is registered until it is dropped.
#[derive(Debug)]
pub(crate) struct Seat<'a> {
    stacks: &'a Stacks,
    index: usize,
}

impl Stacks {
    const_fn! {
        /// Creates the set for the stacks of one thread, or, if `is_shared`, of any thread.
        pub(crate) fn new(is_shared: bool) -> Self {
            Stacks {
                taken: AtomicU64::new(0),
                #[cfg(not(lisle_loom))]
                seats: [const { AtomicPtr::new(null_mut()) }; SEATS],
                #[cfg(lisle_loom)]
                seats: std::array::from_fn(|_| AtomicPtr::new(null_mut())),
                looked_at: AtomicBool::new(false),
                gate: Lock::new(()),
                is_shared,
                more: OnceLock::new(),
            }
        }
    }

    /// Forgets the stacks of threads that this process, a forked child, does not have. The thread
    /// that has forked keeps its seats, as far as it knows: when it leaves one that another thread
    /// has taken meanwhile, nothing is offered from that thread's stack any more.
    #[cfg(not(lisle_loom))]
    pub(crate) fn forget_inherited(&self) {
        self.taken.store(0, Ordering::Relaxed);
        self.seats.iter().for_each(|seat| seat.store(null_mut(), Ordering::Relaxed));
        self.looked_at.store(false, Ordering::Relaxed);
        // SAFETY: a thread that has it does not exist in this process, and the calling thread does
        // not fork while it looks at stacks.
        unsafe { self.gate.break_open() };
        if let Some(more) = self.more.get() {
            more.forget_inherited();
        }
    }

    /// Returns `true` if no stack is registered.
    pub(crate) fn is_empty(&self) -> bool {
        // A thread that goes to sleep because there is none first says so and then looks here. A
        // thread that enters wakes it afterwards.
        self.taken.load(Ordering::SeqCst) == 0
    }

    /// Registers the caller's stack, to which `pending` belongs. Work may be put off on it from now
    /// on.
    #[inline]
    pub(crate) fn enter(&self, pending: &Pending) -> Seat<'_> {
        let mut taken = self.taken.load(Ordering::Relaxed);
        loop {
            let index = taken.trailing_ones() as usize;
            if index >= SEATS {
                return self.enter_more(pending);
            }
            let with_it = taken | 1 << index;
            if !self.is_shared {
                self.taken.store(with_it, Ordering::Relaxed);
            } else if let Err(now) =
                self.taken.compare_exchange(taken, with_it, Ordering::SeqCst, Ordering::Relaxed)
            {
                taken = now;
                continue;
            }
            // Release: a thread that finds the stack here sees its contents.
            self.seats[index].store(std::ptr::from_ref(pending).cast_mut(), Ordering::Release);
            return Seat { stacks: self, index };
        }
    }

    #[cold]
    fn enter_more(&self, pending: &Pending) -> Seat<'_> {
        self.more.get_or_init(|| Box::new(Stacks::new(self.is_shared))).enter(pending)
    }

    /// Offers pending work of stacks that were also here at the last call, at most `most` jobs.
    /// Returns the number of offers.
    pub(crate) fn look(&self, offers: &Offers, most: usize) -> usize {
        let given = self.look_here(offers, most);
        given + self.more.get().map_or(0, |more| more.look(offers, most - given))
    }

    fn look_here(&self, offers: &Offers, most: usize) -> usize {
        let known =
            self.all().filter(|index| self.was_here(*index)).fold(0_u64, |set, index| set | 1 << index);
        // Called before any thread could wait at the gate, since it takes long the first time.
        if known == 0 || most == 0 || !asymmetric::prepare() {
            return 0;
        }
        let _gate = self.gate.lock();
        let _look = Look::at(self);
        if !asymmetric::heavy() {
            return 0;
        }
        // An owner that has a seat now goes no further than to leave it, so one look at the seats
        // suffices.
        let seated: [Option<&Pending>; SEATS] =
            std::array::from_fn(|index| if known >> index & 1 == 1 { self.seated(index) } else { None });
        let stacks = || seated.iter().copied().flatten();
        stacks().for_each(Pending::disturb);
        let mut given = 0;
        if asymmetric::heavy() {
            for stack in stacks() {
                // SAFETY: the stack was disturbed before the fence, and an owner that leaves its
                // seat waits until no thread looks at the seats.
                while given < most && unsafe { stack.offer_from_outside(offers) } {
                    given += 1;
                }
            }
        }
        stacks().for_each(Pending::leave);
        given
    }

    /// Returns the seats that are taken.
    fn all(&self) -> impl Iterator<Item = usize> {
        let taken = self.taken.load(Ordering::Relaxed);
        (0..SEATS).filter(move |index| taken >> index & 1 == 1)
    }

    /// Returns `true` if the stack on this seat is marked. Else marks it.
    fn was_here(&self, index: usize) -> bool {
        let seat = &self.seats[index];
        let there = seat.load(Ordering::Relaxed);
        if there.is_null() || there.addr() & 1 == 1 {
            return !there.is_null();
        }
        let marked = there.map_addr(|address| address | 1);
        let _ = seat.compare_exchange(there, marked, Ordering::Relaxed, Ordering::Relaxed);
        false
    }

    /// Returns the stack on this seat. For use while the seats are looked at.
    fn seated(&self, index: usize) -> Option<&Pending> {
        let there = self.seats[index].load(Ordering::Acquire).map_addr(|address| address & !1);
        // SAFETY: an owner leaves the seat before its stack goes, and then waits until no thread
        // looks at the seats.
        unsafe { there.as_ref() }
    }
}

/// A guard: until it is dropped, this thread looks at the stacks.
struct Look<'a>(&'a Stacks);

impl<'a> Look<'a> {
    fn at(stacks: &'a Stacks) -> Self {
        stacks.looked_at.store(true, Ordering::Relaxed);
        Look(stacks)
    }
}

impl Drop for Look<'_> {
    fn drop(&mut self) {
        // Release: the owner goes on after the steps of this look.
        self.0.looked_at.store(false, Ordering::Release);
    }
}

impl Drop for Seat<'_> {
    #[inline]
    fn drop(&mut self) {
        self.stacks.seats[self.index].store(null_mut(), Ordering::Release);
        asymmetric::light();
        if self.stacks.looked_at.load(Ordering::Acquire) {
            self.wait();
        }
        let bit = 1 << self.index;
        if self.stacks.is_shared {
            self.stacks.taken.fetch_and(!bit, Ordering::Release);
        } else {
            self.stacks.taken.store(self.stacks.taken.load(Ordering::Relaxed) & !bit, Ordering::Release);
        }
    }
}

impl Seat<'_> {
    #[cold]
    #[inline(never)]
    fn wait(&self) {
        drop(self.stacks.gate.lock());
    }
}
