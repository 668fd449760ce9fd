//! A lane: the batches of one function in one world, and the cost of its calls so far.

use super::class::{Class, Native};
use super::{Batch, Columns, Methods};
use crate::shim::now;
use std::cell::{Cell, RefCell};
use std::ptr::NonNull;

/// The most calls in a batch, unless a class says otherwise.
const MOST: u32 = 256;
/// The least time that a batch should take, in nanoseconds: thirty times the cost of handing it
/// over.
const SHORTEST: u64 = 10_000;
/// The longest time that a batch should take, in nanoseconds, so that the last batches of a frame
/// end together.
const LONGEST: u64 = 100_000;
/// Between the two limits, the number of batches that each worker should have in a frame.
const FOR_EACH: u64 = 32;
/// Calls that take less time, in nanoseconds, run in place: sending a call costs about as much.
const LEAST: u64 = 8;
/// Larger batches, in bytes, are made one by one.
const SMALL: usize = 1 << 14;
/// Calls that take more time, in nanoseconds, are timed one by one.
const TIMED: u64 = 5_000;

/// The batches of one function.
pub(crate) struct Lane {
    pub(crate) class: &'static Class,
    methods: Methods,
    /// The columns for batches of each size: powers of four, up to the size of the class.
    columns: Vec<Columns>,
    /// The batch that is being filled for the first home.
    first_open: Cell<Option<NonNull<Batch>>>,
    /// The batches that are being filled for the other homes.
    open: RefCell<Vec<Option<NonNull<Batch>>>>,
    /// The vacant batches, by their sizes.
    vacant: Vec<RefCell<Vec<NonNull<Batch>>>>,
    all: RefCell<Vec<NonNull<Batch>>>,
    /// How many batches there are of each size.
    made: Vec<Cell<usize>>,
    /// The recent cost of a call, in nanoseconds, if one has been measured.
    cost: Cell<Option<u64>>,
    /// The cost of all calls of this frame, in nanoseconds.
    spent: Cell<u64>,
    /// The time that a batch should take, in nanoseconds.
    wanted: Cell<u64>,
    /// The number of calls that are enough for a batch.
    limit: Cell<u32>,
}

impl Lane {
    pub(crate) fn new<F: Native<S>, S>(class: &'static Class) -> Lane {
        let calls = if class.batch == 0 { MOST } else { class.batch };
        let mut sizes =
            (1..).map(|power| 4_u32.pow(power)).take_while(|size| *size < calls).collect::<Vec<_>>();
        sizes.push(calls);
        let columns = sizes.into_iter().map(Columns::new::<F, S>).collect::<Vec<_>>();
        let limit = if class.batch == 0 { 16 } else { class.batch };
        Lane {
            class,
            methods: Methods::of::<F, S>(),
            vacant: columns.iter().map(|_| RefCell::default()).collect(),
            made: columns.iter().map(|_| Cell::default()).collect(),
            columns,
            first_open: Cell::new(None),
            open: RefCell::default(),
            all: RefCell::default(),
            cost: Cell::new(None),
            spent: Cell::new(0),
            wanted: Cell::new(SHORTEST),
            limit: Cell::new(limit),
        }
    }

    /// Begins a frame, in which this number of threads run calls.
    pub(crate) fn begin_frame(&self, threads: usize) {
        let spent = self.spent.replace(0);
        self.wanted.set(match threads {
            // No worker waits for a batch.
            1 => u64::MAX,
            threads => (spent / (FOR_EACH * threads as u64)).clamp(SHORTEST, LONGEST),
        });
    }

    /// Returns the batch that is being filled for a home.
    #[inline(always)]
    pub(crate) fn open_batch(&self, home: usize) -> Option<NonNull<Batch>> {
        match home.checked_sub(1) {
            None => self.first_open.get(),
            Some(other) => self.open.borrow().get(other).copied().flatten(),
        }
    }

    /// Begins a batch for a home, with room for one call only if calls are sent `apart`.
    #[cold]
    pub(crate) fn begin(&self, home: usize, apart: bool) -> NonNull<Batch> {
        let limit = if apart { 1 } else { self.limit.get() };
        let batch = self.empty(limit);
        // SAFETY: batches live as long as the lane.
        let header = unsafe { batch.as_ref() };
        header.own.began.set(now());
        header.set_enough(limit);
        let Some(other) = home.checked_sub(1) else {
            self.first_open.set(Some(batch));
            return batch;
        };
        let mut open = self.open.borrow_mut();
        if open.len() <= other {
            open.resize(other + 1, None);
        }
        open[other] = Some(batch);
        batch
    }

    /// Returns a batch without calls, with room for this number of calls, or for the most that a
    /// batch may have.
    pub(crate) fn empty(&self, calls: u32) -> NonNull<Batch> {
        let size = self.columns.iter().position(|columns| columns.capacity >= calls);
        let size = size.unwrap_or(self.columns.len() - 1);
        // The number of batches of a size that are in use depends on how long calls take. A batch
        // that is too large is better than a new one.
        let vacant = (size..self.columns.len()).find_map(|size| self.vacant[size].borrow_mut().pop());
        let batch = vacant.unwrap_or_else(|| self.grow(size));
        // SAFETY: batches live as long as the lane.
        unsafe { batch.as_ref() }.times_each.set(self.cost.get().is_none_or(|cost| cost >= TIMED));
        batch
    }

    /// Makes a batch, and some more if they are small, so that a world makes no batches after its
    /// first frames.
    #[cold]
    fn grow(&self, size: usize) -> NonNull<Batch> {
        let columns = self.columns[size];
        // Half as many as there are of this size: batches of other sizes belong to other frames.
        let made = &self.made[size];
        let spare = if columns.size() <= SMALL { made.get() / 2 } else { 0 };
        let batch = || Batch::new(self.methods, self.class, columns, size, self.into());
        let mut all = self.all.borrow_mut();
        let mut vacant = self.vacant[size].borrow_mut();
        for _ in 0..spare {
            let batch = batch();
            all.push(batch);
            vacant.push(batch);
        }
        let batch = batch();
        all.push(batch);
        made.set(made.get() + spare + 1);
        // Room for all to come back.
        let missing = made.get() - vacant.len();
        vacant.reserve(missing);
        batch
    }

    /// Ends the filling of a home's batch.
    pub(crate) fn close(&self, home: usize) -> Option<NonNull<Batch>> {
        match home.checked_sub(1) {
            None => self.first_open.take(),
            Some(other) => self.open.borrow_mut().get_mut(other)?.take(),
        }
    }

    /// Returns for how many homes batches have been filled.
    pub(crate) fn open_homes(&self) -> usize {
        self.open.borrow().len() + 1
    }

    /// Returns `true` if calls are worth sending to the workers.
    pub(crate) fn is_worth_sending(&self) -> bool {
        self.class.batch != 0 || self.cost.get().is_none_or(|cost| cost >= LEAST)
    }

    /// Learns from a complete batch.
    pub(crate) fn has_cost(&self, batch: &Batch) {
        let (nanos, _) = batch.times();
        let cost = nanos / u64::from(batch.count.get().max(1));
        // A measurement of few calls counts less.
        let weight = u64::from(batch.count.get().min(64));
        let cost = self.cost.get().map_or(cost, |before| {
            // If the system has taken the core away during a batch, its time says little about the
            // calls. It must not turn the next calls into hundreds of small batches.
            let cost = cost.min(before.max(LEAST) * 4);
            (before * (256 - weight) + cost * weight) / 256
        });
        self.cost.set(Some(cost));
        self.spent.set(self.spent.get() + nanos);
        if self.class.batch == 0 {
            self.limit.set(u32::try_from(self.wanted.get() / cost.max(1)).unwrap_or(MOST).clamp(1, MOST));
        }
    }

    /// Takes back a batch that is complete and retired, and that no future holds any more.
    pub(crate) fn recycle(&self, batch: NonNull<Batch>) {
        // SAFETY: by the above.
        let size = unsafe {
            Batch::clear(batch);
            batch.as_ref().size
        };
        self.vacant[size].borrow_mut().push(batch);
    }

    /// Frees the batches, at the end of the world. Batches that futures still hold are left to
    /// these futures.
    ///
    /// # Safety
    ///
    /// No batch is in a table, and none is used by the world any more.
    pub(crate) unsafe fn end(&self) {
        let others = self.open.take();
        for batch in others.into_iter().chain([self.first_open.take()]).flatten() {
            // SAFETY: batches live as long as the lane.
            let header = unsafe { batch.as_ref() };
            header.own.held.set(header.own.held.get().wrapping_add(header.count.get()));
            // SAFETY: it was not published.
            unsafe { Batch::skip(batch) };
        }
        for batch in self.all.borrow_mut().drain(..) {
            // SAFETY: alive: the lane frees its batches here only.
            let header = unsafe { batch.as_ref() };
            header.own.is_gone.set(true);
            if header.own.held.get() == 0 {
                // SAFETY: a batch that is neither complete nor empty was taken out of the table,
                // and is being run. No future holds it.
                unsafe { Batch::end(batch) };
            }
        }
    }
}
