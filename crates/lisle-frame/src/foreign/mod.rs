//! Foreign calls: functions that other cores run, in batches.
//!
//! This module has the batches that are being filled. `order` says how results come back to the
//! streams. Both know streams only through the trait [`Streams`].
//!
//! # How a frame goes
//!
//! A call goes, with its stream and its arguments, into the open batch of the function. A full
//! batch is sent, or run in place. When no stream can go on, the world *retires* calls in the order
//! in which they were made. It waits until the batch of the oldest call is complete, gives the
//! result to the stream, and runs the stream; then it takes the next call. So a frame does not
//! depend on the division into batches, nor on the threads that run them. While it waits, the world
//! runs batches itself.

mod order;

use crate::batch::class::{Class, Deadline, Native};
use crate::batch::lane::Lane;
use crate::batch::loans::Loans;
use crate::batch::{Batch, Owner};
use crate::current::outside_of_frames;
use crate::pool::Link;
use crate::shim::now;
use order::Order;
use std::cell::{Cell, RefCell, UnsafeCell};
use std::ptr::{NonNull, null};
use std::rc::Rc;

/// The streams of a world, as its foreign calls know them.
pub(crate) trait Streams {
    /// Polls streams whose calls have ended: at least the stream of the next call, if the call has
    /// an owner. Passes on the panic of a stream.
    fn deliver(&self, ended: &Ended<'_>);
    /// Runs streams. If one panics, the stream that is being polled fails. Returns `true` if there
    /// was a panic.
    fn caught(&self, f: impl FnOnce()) -> bool;
    /// Returns `true` if streams are in the queue.
    fn has_queued(&self) -> bool;
    /// Polls the streams in the queue.
    fn drain(&self);
}

/// Calls that lie one after the other in a batch, and that have ended or that the frame has given
/// up.
pub(crate) struct Ended<'a> {
    owners: NonNull<Option<Owner>>,
    at: Cell<u32>,
    to: u32,
    /// The number of results that were given out.
    delivered: &'a Cell<u32>,
}

impl Ended<'_> {
    /// Returns the stream that has made the next call, unless there is no next call or the stream
    /// has given it up.
    #[inline(always)]
    pub(crate) fn owner(&self) -> Option<Owner> {
        if self.at.get() >= self.to {
            return None;
        }
        // SAFETY: the call is in the batch, which lives as long as its lane. Only the world's
        // thread uses the owners.
        unsafe { self.owners.add(self.at.get() as usize).read() }
    }

    /// Goes on to the call after the next one. Its result may be taken from now on.
    #[inline(always)]
    pub(crate) fn pass(&self) {
        let at = self.at.get() + 1;
        self.at.set(at);
        self.delivered.set(at);
    }
}

/// The foreign calls of a world.
pub(crate) struct Foreigns {
    /// The lanes, by the number of the class. A lane is never removed while the world exists. Lanes
    /// are reference-counted, because the list may be moved while a lane is in use.
    lanes: UnsafeCell<Vec<Option<Rc<Lane>>>>,
    order: Order,
    link: Link,
    /// How many batches are being filled.
    filling: Cell<usize>,
    /// Batches that the frame does not wait for.
    late: RefCell<Vec<NonNull<Batch>>>,
    /// Batches of unordered functions that have been closed.
    unordered: RefCell<Vec<NonNull<Batch>>>,
    /// Memory for looking through the unordered batches.
    looked_at: RefCell<Vec<NonNull<Batch>>>,
    /// The loans of the frame under way.
    loans: Loans,
    /// The batches of this frame that were sent and have loans.
    borrowing: RefCell<Vec<NonNull<Batch>>>,
}

impl Foreigns {
    pub(crate) fn new(link: Link) -> Foreigns {
        Foreigns {
            lanes: UnsafeCell::default(),
            order: Order::default(),
            link,
            filling: Cell::new(0),
            late: RefCell::default(),
            unordered: RefCell::default(),
            looked_at: RefCell::default(),
            loans: Loans::default(),
            borrowing: RefCell::default(),
        }
    }

    pub(crate) fn loans(&self) -> &Loans {
        &self.loans
    }

    #[inline(always)]
    fn lane<F: Native<S>, S: 'static>(&self, class: &'static Class) -> &Lane {
        // SAFETY: no code of the user runs while the list is in use. Lanes are not moved with the
        // list, and are never removed.
        let lanes = unsafe { &*self.lanes.get() };
        match lanes.get(class.id as usize) {
            Some(Some(lane)) => lane,
            _ => self.new_lane::<F, S>(class),
        }
    }

    #[cold]
    fn new_lane<F: Native<S>, S: 'static>(&self, class: &'static Class) -> &Lane {
        // SAFETY: no reference to the list exists, by the above.
        let lanes = unsafe { &mut *self.lanes.get() };
        let at = class.id as usize;
        if lanes.len() <= at {
            lanes.resize_with(at + 1, || None);
        }
        lanes[at].insert(Rc::new(Lane::new::<F, S>(class)))
    }

    /// Makes a call: puts it into a batch.
    #[inline(always)]
    pub(crate) fn call<F: Native<S>, S: 'static>(
        &self,
        owner: Option<Owner>,
        class: &'static Class,
        f: F,
        args: F::Args,
        is_long: bool,
    ) -> (NonNull<Batch>, u32) {
        let lane = self.lane::<F, S>(class);
        if is_long {
            return self.call_long::<F, S>(lane, f, args, owner);
        }
        let home = if class.homed { self.home_of(owner) } else { 0 };
        let batch = lane.open_batch(home).unwrap_or_else(|| {
            self.filling.set(self.filling.get() + 1);
            lane.begin(home, self.order.shuffle.get().is_some())
        });
        // SAFETY: the lane is of this function, and an open batch is neither full nor published.
        let at = unsafe { Batch::add::<F, S>(batch, f, args, owner) };
        // SAFETY: batches live as long as their lane.
        let header = unsafe { batch.as_ref() };
        if !class.unordered || self.order.shuffle.get().is_some() {
            self.order.push(batch, at);
        }
        if at + 1 >= header.enough.get() {
            self.close(lane, home);
        }
        (batch, at)
    }

    /// Returns the home of a stream, which is the home of its piece of the memory.
    fn home_of(&self, owner: Option<Owner>) -> usize {
        let homes = self.link.homes();
        owner.map_or(0, |head| (head.addr().get() >> 12) % homes)
    }

    #[cold]
    fn call_long<F: Native<S>, S: 'static>(
        &self,
        lane: &Lane,
        f: F,
        args: F::Args,
        owner: Option<Owner>,
    ) -> (NonNull<Batch>, u32) {
        let batch = lane.empty(1);
        // SAFETY: empty, of this function, and not published.
        let at = unsafe { Batch::add::<F, S>(batch, f, args, owner) };
        // SAFETY: batches live as long as their lane.
        let header = unsafe { batch.as_ref() };
        header.own.held.set(1);
        header.own.is_late.set(true);
        header.loans.set(null());
        self.late.borrow_mut().push(batch);
        self.order.untimed.set(Some(header.class.name));
        if self.link.send_long(batch) {
            header.own.is_sent.set(true);
        } else {
            // SAFETY: not published.
            unsafe { run_here(batch) };
        }
        (batch, at)
    }

    /// Ends the filling of a batch: sends it, or runs it here.
    #[inline(never)]
    fn close(&self, lane: &Lane, home: usize) {
        let Some(batch) = lane.close(home) else { return };
        self.filling.set(self.filling.get() - 1);
        // SAFETY: batches live as long as their lane.
        let header = unsafe { batch.as_ref() };
        self.order.count_batch(header.count.get());
        header.own.held.set(header.own.held.get().wrapping_add(header.count.get()));
        if lane.class.unordered && self.order.shuffle.get().is_none() {
            self.unordered.borrow_mut().push(batch);
        }
        let home = lane.class.homed.then_some(home);
        // Only workers run calls with a deadline, because the world must not be caught in one. Such
        // a call may last longer than the frame.
        let is_sent = match lane.class.deadline {
            Deadline::Wait => {
                header.loans.set(self.loans.place());
                lane.is_worth_sending() && self.link.send(batch, home)
            }
            _ => {
                header.loans.set(null());
                self.link.send_long(batch)
            }
        };
        if is_sent {
            header.own.is_sent.set(true);
            if !header.loans.get().is_null() {
                self.borrowing.borrow_mut().push(batch);
            }
            return;
        }
        // SAFETY: not published.
        unsafe { run_here(batch) };
        lane.has_cost(header);
    }

    /// Sends the batches that have waited long enough, or all.
    fn close_open(&self, all: bool) {
        if self.filling.get() == 0 {
            return;
        }
        let time = now();
        let count = {
            // SAFETY: as in `lane`.
            unsafe { &*self.lanes.get() }.len()
        };
        for at in 0..count {
            // Calls that run here may call a function that has no lane yet, and that moves the
            // list. SAFETY: as in `lane`.
            let Some(lane) = unsafe { &*self.lanes.get() }[at].clone() else { continue };
            for home in 0..lane.open_homes() {
                let Some(batch) = lane.open_batch(home) else { continue };
                // SAFETY: batches live as long as their lane.
                let age = time.saturating_sub(unsafe { batch.as_ref() }.own.began.get());
                if all || u128::from(age) >= lane.class.delay.as_nanos() {
                    self.close(&lane, home);
                }
            }
        }
    }

    #[inline]
    pub(crate) fn look_at_the_clock(&self) {
        if self.filling.get() > 0 {
            self.close_open(false);
        }
    }

    /// Begins a frame: delivers the calls that have ended since the last one.
    pub(crate) fn begin_frame(&self) {
        self.link.begin_frame();
        self.order.begin_frame();
        let threads = self.link.homes();
        // SAFETY: as in `lane`.
        unsafe { &*self.lanes.get() }.iter().flatten().for_each(|lane| lane.begin_frame(threads));
        while let Some(batch) = self.link.take_abandoned() {
            // SAFETY: taken out, it is ours.
            unsafe { run_here(batch) };
        }
        self.look_after_late();
    }

    /// Takes the panic that the pool has had in the frame, if any.
    pub(crate) fn take_panic(&self) -> Option<Box<dyn std::any::Any + Send>> {
        self.link.take_panic()
    }

    /// Ends a frame: waits for the calls that borrow from the host, and lets the workers go.
    pub(crate) fn end_frame(&self) {
        /// The borrowed data must not go while the calls run.
        struct Aborts;
        impl Drop for Aborts {
            fn drop(&mut self) {
                std::process::abort();
            }
        }
        let aborts = Aborts;
        self.wait_for_borrowing();
        std::mem::forget(aborts);
        self.link.end_frame();
    }

    /// Ends the calls, when the streams are gone.
    ///
    /// # Safety
    ///
    /// No call is made after that.
    pub(crate) unsafe fn end(&self) {
        self.link.end_frame();
        while let Some(batch) = self.link.take_any() {
            // SAFETY: taken out, it is ours.
            unsafe { Batch::skip(batch) };
        }
        // SAFETY: as in `lane`.
        for lane in unsafe { &*self.lanes.get() }.iter().flatten() {
            // SAFETY: the table is empty.
            unsafe { lane.end() };
        }
        self.link.leave();
    }
}

/// Runs a batch on the world's thread. The functions are in no frame, just as on other threads.
///
/// # Safety
///
/// As for [`Batch::run`].
unsafe fn run_here(batch: NonNull<Batch>) {
    // SAFETY: passed on to the caller.
    outside_of_frames(|| unsafe { Batch::run(batch) });
}
