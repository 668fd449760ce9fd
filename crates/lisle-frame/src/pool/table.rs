//! The table between a world and its workers: batches to be taken, and seats for workers.
//!
//! The world publishes a batch by pushing it into a ring: the common ring, or the ring of the
//! worker that has the data. The thread that takes a batch runs it, and marks it as complete. A
//! worker serves its own ring first, then the common one, then the rings of workers that are busy.
//! No batch waits for a worker for ever: the world itself takes batches that no worker takes.
//!
//! A *seat* is a worker's place at the table. Work is submitted to the pool once for each seat; the
//! seat is free again when that work is dropped. A worker that finds no batch while no frame is
//! under way gives up its seat, and looks once more after that. The world pushes a batch before it
//! looks for free seats. All these steps are sequentially consistent, so the worker sees the batch
//! or the world sees the free seat.

use super::ring::{Padded, Ring};
use crate::shim::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::ptr::NonNull;

/// A worker's place at the table.
#[derive(Debug)]
struct Seat {
    taken: AtomicBool,
    /// Whether its worker runs a batch.
    busy: AtomicBool,
}

/// The table of a world. `B` is a batch.
#[derive(Debug)]
pub(crate) struct Table<B> {
    common: Ring<B>,
    /// A ring for each worker, and the last for the world's thread.
    homes: Box<[Ring<B>]>,
    /// The batches that may take longer than a frame: for workers only.
    long: Ring<B>,
    seats: Box<[Padded<Seat>]>,
    free_seats: Padded<AtomicUsize>,
    /// Whether a frame is under way.
    open: Padded<AtomicBool>,
    /// Whether the world was dropped.
    closed: AtomicBool,
}

impl<B> Table<B> {
    /// Makes a table for `workers` workers, with `places` places in each ring.
    pub(crate) fn new(workers: usize, places: usize) -> Self {
        let seat = || Padded(Seat { taken: AtomicBool::new(false), busy: AtomicBool::new(false) });
        Table {
            common: Ring::new(places),
            homes: (0..=workers).map(|_| Ring::new(places)).collect(),
            long: Ring::new(places),
            seats: (0..workers).map(|_| seat()).collect(),
            free_seats: Padded(AtomicUsize::new(workers)),
            open: Padded(AtomicBool::new(false)),
            closed: AtomicBool::new(false),
        }
    }

    /// Returns the number of rings of homes: one for each worker, and one for the world.
    pub(crate) fn homes(&self) -> usize {
        self.homes.len()
    }

    /// Publishes a batch, or returns `false` if its ring is full.
    ///
    /// # Safety
    ///
    /// Only the world's thread calls this.
    pub(crate) unsafe fn publish(&self, batch: NonNull<B>, home: Option<usize>) -> bool {
        let ring = home.map_or(&self.common, |home| &self.homes[home]);
        // SAFETY: passed on to the caller.
        unsafe { ring.push(batch) }
    }

    /// Publishes a batch that may take longer than a frame, or returns `false` if there are too
    /// many.
    ///
    /// # Safety
    ///
    /// As for [`publish`](Table::publish).
    pub(crate) unsafe fn publish_long(&self, batch: NonNull<B>) -> bool {
        // SAFETY: passed on to the caller.
        unsafe { self.long.push(batch) }
    }

    /// Says whether a frame is under way.
    pub(crate) fn set_open(&self, open: bool) {
        self.open.store(open, Ordering::SeqCst);
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open.load(Ordering::SeqCst)
    }

    /// Notes that the world was dropped.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// Returns `true` if there may be a free seat. The look comes after all batches published
    /// before.
    pub(crate) fn may_have_free_seats(&self) -> bool {
        crate::shim::atomic::fence(Ordering::SeqCst);
        self.free_seats.load(Ordering::SeqCst) > 0
    }

    /// Takes a free seat.
    pub(crate) fn take_seat(&self) -> Option<usize> {
        (0..self.seats.len()).find(|seat| self.sit(*seat))
    }

    /// Takes a seat if it is free.
    pub(crate) fn sit(&self, seat: usize) -> bool {
        let taken = &self.seats[seat].taken;
        let sits = taken.compare_exchange(false, true, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        if sits {
            self.free_seats.fetch_sub(1, Ordering::SeqCst);
        }
        sits
    }

    /// Gives a seat back.
    pub(crate) fn leave(&self, seat: usize) {
        self.free_seats.fetch_add(1, Ordering::SeqCst);
        self.seats[seat].taken.swap(false, Ordering::SeqCst);
        crate::shim::atomic::fence(Ordering::SeqCst);
    }

    /// Returns `true` if a worker would find a batch.
    pub(crate) fn has_batches(&self) -> bool {
        !self.common.is_empty() || self.homes.iter().any(|ring| !ring.is_empty()) || !self.long.is_empty()
    }

    /// Takes a batch for a worker.
    pub(crate) fn take(&self, seat: usize) -> Option<NonNull<B>> {
        let own = &self.homes[seat];
        own.take()
            .or_else(|| self.common.take())
            .or_else(|| self.take_from_others(seat))
            .or_else(|| self.long.take())
    }

    /// Takes a batch for the world's own thread, which helps the workers.
    pub(crate) fn take_as_world(&self) -> Option<NonNull<B>> {
        let world = self.homes.len() - 1;
        self.homes[world].take().or_else(|| self.common.take()).or_else(|| self.take_from_others(world))
    }

    /// Takes a batch whose home is elsewhere, if the worker there is busy or away.
    fn take_from_others(&self, taker: usize) -> Option<NonNull<B>> {
        let others = (1..self.homes.len()).map(|n| (taker + n) % self.homes.len());
        others
            .filter(|home| {
                self.seats.get(*home).is_none_or(|seat| {
                    seat.busy.load(Ordering::Relaxed) || !seat.taken.load(Ordering::Relaxed)
                })
            })
            .find_map(|home| self.homes[home].take())
    }

    /// Takes a batch whose home is elsewhere, whatever the worker there does: a seat may be taken
    /// for a worker that has not come yet.
    pub(crate) fn take_left(&self) -> Option<NonNull<B>> {
        self.homes.iter().find_map(Ring::take)
    }

    /// Takes any batch: for the end of the world, of its pool, or of a worker's stay.
    pub(crate) fn take_any(&self) -> Option<NonNull<B>> {
        self.common.take().or_else(|| self.homes.iter().find_map(Ring::take)).or_else(|| self.long.take())
    }

    pub(crate) fn set_busy(&self, seat: usize, busy: bool) {
        self.seats[seat].busy.store(busy, Ordering::Relaxed);
    }
}
