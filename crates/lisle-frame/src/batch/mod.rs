//! A batch of calls in memory: a header and columns.
//!
//! The fields that the world writes and the fields that the runner of the batch writes lie on
//! different pairs of cache lines. The world writes the header with the arguments, before the batch
//! is published. The runner writes the results, with the status of each call. The column of owners
//! belongs to the world alone. A batch is complete as a whole, by one atomic word. Batches are used
//! again; a world that does not grow makes no new ones.

pub(crate) mod class;
pub(crate) mod lane;
#[cfg(test)]
mod layout_tests;
pub(crate) mod loans;

use crate::panics::{forget_panic, message};
use crate::shim::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use crate::shim::memory::{alloc, dealloc};
use crate::shim::now;
use class::{Class, Native};
use lane::Lane;
use loans::{Loans, in_call};
use std::alloc::{Layout, handle_alloc_error};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{NonNull, null};

/// The stream that has made a call, as its world knows it.
pub(crate) type Owner = NonNull<()>;

/// The batch is being filled, or waits to be run, or runs.
const PENDING: u32 = 0;
/// Its results are there.
const COMPLETE: u32 = 1;
/// The world was dropped: the runner that completes the batch frees it.
const ORPHANED: u32 = 2;

/// The outcome of a call.
const RETURNED: u8 = 1;
const PANICKED: u8 = 2;
/// It was cancelled before it began.
const SKIPPED: u8 = 3;

/// The functions of a batch that know the type of its foreign function.
#[derive(Clone, Copy)]
pub(crate) struct Methods {
    run: unsafe fn(NonNull<Batch>),
    drop_args: unsafe fn(NonNull<Batch>, u32),
    drop_result: unsafe fn(NonNull<Batch>, u32),
}

/// Where the columns lie, counted in bytes from the header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns {
    pub(crate) capacity: u32,
    args: u32,
    cancelled: u32,
    results: u32,
    status: u32,
    owners: u32,
    layout: Layout,
}

/// The fields that the runner writes.
#[repr(align(128))]
struct Runner {
    state: AtomicU32,
    /// How long the calls took, and the slowest one, in nanoseconds.
    nanos: Cell<u64>,
    slowest: Cell<u64>,
    panics: RefCell<Vec<(u32, String)>>,
}

/// The fields that only the world reads and writes.
#[repr(align(128))]
pub(crate) struct Own {
    /// The number of results that the streams have got: the results before this position.
    pub(crate) delivered: Cell<u32>,
    /// The number of futures that refer to the batch. While the batch is being filled, the futures
    /// of its calls are not counted, and the number may be below zero.
    pub(crate) held: Cell<u32>,
    /// Whether the batch is in no list of the world.
    pub(crate) is_retired: Cell<bool>,
    /// Whether the frame has given up waiting for the batch.
    pub(crate) is_late: Cell<bool>,
    /// Whether its calls have failed because their deadline has passed.
    pub(crate) is_expired: Cell<bool>,
    /// Whether the batch was given to the workers.
    pub(crate) is_sent: Cell<bool>,
    /// Its lane, which lives as long as the world.
    pub(crate) lane: NonNull<Lane>,
    /// The time at which its first call was made.
    pub(crate) began: Cell<u64>,
    /// Whether the world was dropped, and has left the batch to the futures that hold it.
    pub(crate) is_gone: Cell<bool>,
}

/// The header of a batch.
#[repr(C, align(128))]
pub(crate) struct Batch {
    methods: Methods,
    pub(crate) class: &'static Class,
    columns: Columns,
    /// The position of its size among the sizes of its lane.
    pub(crate) size: usize,
    pub(crate) count: Cell<u32>,
    /// The number of calls that are enough.
    pub(crate) enough: Cell<u32>,
    /// Whether each call is timed by itself.
    pub(crate) times_each: Cell<bool>,
    /// The loans of the calls, or null.
    pub(crate) loans: Cell<*const Loans>,
    any_cancelled: AtomicBool,
    runner: Runner,
    pub(crate) own: Own,
}

impl Columns {
    /// Returns the columns for this number of calls of a function, or for fewer calls if the
    /// columns would be large.
    pub(crate) fn new<F: Native<S>, S>(calls: u32) -> Columns {
        let each = size_of::<(F, F::Args)>() + size_of::<F::Output>() + size_of::<Owner>() + 2;
        let capacity = calls.min((1 << 20) / each as u32).max(1);
        let n = capacity as usize;
        let too_large = "the arguments of a foreign function do not fit into memory";
        let begin = Layout::new::<Batch>();
        let column = |layout: Layout, column: Layout| layout.extend(column).expect(too_large);
        let array = |layout: Result<Layout, _>| Result::expect(layout, too_large);
        let (layout, args) = column(begin, array(Layout::array::<(F, F::Args)>(n)));
        let (layout, cancelled) = column(layout, array(Layout::array::<AtomicU8>(n)));
        let apart = Layout::from_size_align(0, 128).expect("128 is a power of two");
        let (layout, _) = column(layout, apart);
        let (layout, results) = column(layout, array(Layout::array::<F::Output>(n)));
        let (layout, status) = column(layout, array(Layout::array::<u8>(n)));
        let (layout, _) = column(layout, apart);
        let (layout, owners) = column(layout, array(Layout::array::<Option<Owner>>(n)));
        let layout = layout.align_to(128).expect(too_large).pad_to_align();
        let offset = |at: usize| u32::try_from(at).expect(too_large);
        Columns {
            capacity,
            args: offset(args),
            cancelled: offset(cancelled),
            results: offset(results),
            status: offset(status),
            owners: offset(owners),
            layout,
        }
    }

    /// Returns the size of a batch, in bytes.
    pub(crate) fn size(&self) -> usize {
        self.layout.size()
    }
}

/// The bytes of a batch that its runner writes, and the bytes that the world writes while the batch
/// may run.
#[cfg(test)]
pub(crate) struct Parts {
    pub(crate) runners: Vec<std::ops::Range<usize>>,
    pub(crate) worlds: Vec<std::ops::Range<usize>>,
}

#[cfg(test)]
impl Columns {
    pub(crate) fn align(&self) -> usize {
        self.layout.align()
    }
    /// Returns the beginning of each column, and of the column after it.
    pub(crate) fn parts(&self) -> Parts {
        use std::mem::offset_of;
        let [args, cancelled, results, status, owners] =
            [self.args, self.cancelled, self.results, self.status, self.owners].map(|at| at as usize);
        let calls = self.capacity as usize;
        let (runner, own) = (offset_of!(Batch, runner), offset_of!(Batch, own));
        Parts {
            runners: vec![runner..runner + size_of::<Runner>(), results..status, status..status + calls],
            worlds: vec![
                0..runner,
                own..own + size_of::<Own>(),
                args..cancelled,
                cancelled..cancelled + calls,
                owners..owners + calls * size_of::<Option<Owner>>(),
            ],
        }
    }
}

impl Methods {
    pub(crate) fn of<F: Native<S>, S>() -> Methods {
        Methods { run: run::<F, S>, drop_args: drop_args::<F, S>, drop_result: drop_result::<F, S> }
    }
}

impl Batch {
    /// Makes an empty batch.
    pub(crate) fn new(
        methods: Methods,
        class: &'static Class,
        columns: Columns,
        size: usize,
        lane: NonNull<Lane>,
    ) -> NonNull<Batch> {
        // SAFETY: the layout holds at least the header.
        let Some(batch) = NonNull::new(unsafe { alloc(columns.layout) }.cast::<Batch>()) else {
            handle_alloc_error(columns.layout)
        };
        let header = Batch {
            methods,
            class,
            columns,
            size,
            count: Cell::new(0),
            enough: Cell::new(columns.capacity),
            times_each: Cell::new(false),
            loans: Cell::new(null()),
            any_cancelled: AtomicBool::new(false),
            runner: Runner {
                state: AtomicU32::new(PENDING),
                nanos: Cell::new(0),
                slowest: Cell::new(0),
                panics: RefCell::default(),
            },
            own: Own {
                delivered: Cell::new(0),
                held: Cell::new(0),
                is_retired: Cell::new(false),
                is_late: Cell::new(false),
                is_expired: Cell::new(false),
                is_sent: Cell::new(false),
                lane,
                began: Cell::new(0),
                is_gone: Cell::new(false),
            },
        };
        // SAFETY: just allocated; the column is within it.
        unsafe {
            batch.write(header);
            let cancelled = batch.byte_add(columns.cancelled as usize).cast::<AtomicU8>();
            for at in 0..columns.capacity as usize {
                cancelled.add(at).write(AtomicU8::new(0));
            }
        }
        batch
    }

    /// Empties a batch whose results are gone.
    ///
    /// # Safety
    ///
    /// The batch is complete, and no other code refers to it.
    pub(crate) unsafe fn clear(this: NonNull<Batch>) {
        // SAFETY: alive, by the caller's promise.
        let header = unsafe { this.as_ref() };
        header.count.set(0);
        header.own.delivered.set(0);
        header.own.is_retired.set(false);
        header.own.is_late.set(false);
        header.own.is_expired.set(false);
        header.own.is_sent.set(false);
        header.loans.set(null());
        if header.any_cancelled.load(Ordering::Relaxed) {
            header.any_cancelled.store(false, Ordering::Relaxed);
            for at in 0..header.columns.capacity {
                Self::cancelled(this, at).store(0, Ordering::Relaxed);
            }
        }
        header.runner.panics.borrow_mut().clear();
        header.runner.state.store(PENDING, Ordering::Relaxed);
    }

    /// Sets how many calls are enough.
    pub(crate) fn set_enough(&self, calls: u32) {
        self.enough.set(calls.min(self.columns.capacity));
    }

    #[inline(always)]
    fn column<T>(this: NonNull<Batch>, offset: u32, at: u32) -> NonNull<T> {
        // SAFETY: the offset is of a column of that type, with room for `at`; a private function.
        unsafe { this.byte_add(offset as usize).cast::<T>().add(at as usize) }
    }

    fn cancelled<'a>(this: NonNull<Batch>, at: u32) -> &'a AtomicU8 {
        // SAFETY: alive where this private function is called; initialized by `new`, and only
        // written atomically.
        unsafe { Self::column::<AtomicU8>(this, this.as_ref().columns.cancelled, at).as_ref() }
    }

    /// Adds a call, and returns its position.
    ///
    /// # Safety
    ///
    /// The batch is for this function, is not full, and has not been published.
    #[inline(always)]
    pub(crate) unsafe fn add<F: Native<S>, S>(
        this: NonNull<Batch>,
        f: F,
        args: F::Args,
        owner: Option<Owner>,
    ) -> u32 {
        // SAFETY: alive, by the caller's promise; only the world's thread refers to it.
        let header = unsafe { this.as_ref() };
        let at = header.count.get();
        // SAFETY: the columns have room, by the caller's promise.
        unsafe {
            Self::column::<(F, F::Args)>(this, header.columns.args, at).write((f, args));
            Self::column(this, header.columns.owners, at).write(owner);
        }
        header.count.set(at + 1);
        at
    }

    /// Returns the column of the streams that have made the calls and still want the results. Only
    /// the world's thread uses it.
    ///
    /// # Safety
    ///
    /// The batch is alive.
    #[inline(always)]
    pub(crate) unsafe fn owners(this: NonNull<Batch>) -> NonNull<Option<Owner>> {
        // SAFETY: alive, by the caller's promise.
        unsafe { Self::column(this, this.as_ref().columns.owners, 0) }
    }

    /// Notes that no stream wants the result of a call. A call that has not begun will not begin.
    ///
    /// # Safety
    ///
    /// The call is in the batch. Only the world's thread calls this.
    pub(crate) unsafe fn abandon(this: NonNull<Batch>, at: u32) {
        // SAFETY: alive, by the caller's promise.
        let header = unsafe { this.as_ref() };
        Self::cancelled(this, at).store(1, Ordering::Relaxed);
        header.any_cancelled.store(true, Ordering::Release);
        // SAFETY: the column is the world's.
        unsafe { Self::column(this, header.columns.owners, at).write(None::<Owner>) };
    }

    /// Returns `true` if no stream wants the result of a call.
    pub(crate) fn is_abandoned(this: NonNull<Batch>, at: u32) -> bool {
        Self::cancelled(this, at).load(Ordering::Relaxed) != 0
    }

    /// Runs the calls of a batch that was filled.
    ///
    /// # Safety
    ///
    /// The caller has the batch to itself until the batch is complete, but for the steps `abandon`
    /// and `end` of the world. After that only the world uses the batch. The loans of the batch
    /// stay until it is complete.
    pub(crate) unsafe fn run(this: NonNull<Batch>) {
        // SAFETY: alive, by the caller's promise.
        let header = unsafe { this.as_ref() };
        // SAFETY: passed on to the caller.
        unsafe { in_call(header.loans.get(), || (header.methods.run)(this)) };
        // SAFETY: alive: only the runner that completes it, or the world after that, frees it.
        let before = unsafe { this.as_ref() }.runner.state.swap(COMPLETE, Ordering::AcqRel);
        if before == ORPHANED {
            // SAFETY: the world was dropped, and has left the batch to its runner.
            unsafe { Self::free_complete(this) };
        }
    }

    /// Returns `true` if the results are there.
    #[inline(always)]
    pub(crate) fn is_complete(&self) -> bool {
        self.runner.state.load(Ordering::Acquire) == COMPLETE
    }

    /// Returns how long the calls took, and the slowest of them, in nanoseconds. The batch is
    /// complete.
    pub(crate) fn times(&self) -> (u64, u64) {
        (self.runner.nanos.get(), self.runner.slowest.get())
    }

    /// Returns `true` if the call has a result.
    ///
    /// # Safety
    ///
    /// The call is in the batch, which is complete.
    #[inline(always)]
    pub(crate) unsafe fn has_returned(this: NonNull<Batch>, at: u32) -> bool {
        // SAFETY: alive, by the caller's promise; complete, so the status was written before.
        unsafe { Self::column::<u8>(this, this.as_ref().columns.status, at).read() == RETURNED }
    }

    /// Takes the result of a call.
    ///
    /// # Safety
    ///
    /// The batch is complete, and for this function. The call has returned; its result has not been
    /// taken or dropped.
    #[inline(always)]
    pub(crate) unsafe fn take<F: Native<S>, S>(this: NonNull<Batch>, at: u32) -> F::Output {
        // SAFETY: by the caller's promise.
        unsafe { Self::column::<F::Output>(this, this.as_ref().columns.results, at).read() }
    }

    /// Returns the message of a call that has panicked.
    #[cold]
    pub(crate) fn panic_of(&self, at: u32) -> String {
        let panics = self.runner.panics.borrow();
        let found = panics.iter().find(|(call, _)| *call == at);
        found.map_or_else(|| "it was cancelled".into(), |(_, message)| message.clone())
    }

    /// Drops a result that no stream wants.
    ///
    /// # Safety
    ///
    /// The batch is complete. The result has not been taken or dropped.
    pub(crate) unsafe fn drop_result(this: NonNull<Batch>, at: u32) {
        // SAFETY: alive, by the caller's promise.
        let header = unsafe { this.as_ref() };
        // SAFETY: complete, by the caller's promise.
        if unsafe { Self::has_returned(this, at) } {
            // SAFETY: the result is there, and is dropped once.
            let drop = || unsafe { (header.methods.drop_result)(this, at) };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(drop)) {
                forget_panic(panic);
            }
        }
    }

    /// Ends a batch that will not run: drops the arguments.
    ///
    /// # Safety
    ///
    /// The caller has the batch to itself.
    pub(crate) unsafe fn skip(this: NonNull<Batch>) {
        // SAFETY: alive, by the caller's promise.
        let header = unsafe { this.as_ref() };
        for at in 0..header.count.get() {
            // SAFETY: the arguments are there, and are dropped once; the status is ours.
            let drop = || unsafe {
                Self::column::<u8>(this, header.columns.status, at).write(SKIPPED);
                (header.methods.drop_args)(this, at);
            };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(drop)) {
                forget_panic(panic);
            }
        }
        header.runner.state.store(COMPLETE, Ordering::Release);
    }

    /// Frees a batch of a world that ends. A batch that is not complete yet is left to its runner,
    /// which frees it.
    ///
    /// # Safety
    ///
    /// The batch is empty, complete or running. No other code refers to it, and the caller does not
    /// use it any more.
    pub(crate) unsafe fn end(this: NonNull<Batch>) {
        // SAFETY: alive: only the runner that completes it, or this function after that, frees it.
        let is_empty = unsafe { this.as_ref() }.count.get() == 0;
        // No reference to the batch is alive after the step, because the runner may free the batch
        // at once. SAFETY: as above.
        if is_empty || unsafe { this.as_ref() }.runner.state.swap(ORPHANED, Ordering::AcqRel) == COMPLETE {
            // SAFETY: empty or complete; if it has a runner, the runner has let go of it.
            unsafe { Self::free_complete(this) };
        }
    }

    /// Frees a complete batch, or an empty one, with the results that have not been delivered.
    ///
    /// # Safety
    ///
    /// The batch is complete or empty, and no other code refers to it.
    unsafe fn free_complete(this: NonNull<Batch>) {
        // SAFETY: alive, by the caller's promise.
        let header = unsafe { this.as_ref() };
        for at in header.own.delivered.get()..header.count.get() {
            // SAFETY: complete; a result that was not delivered was not taken.
            unsafe { Self::drop_result(this, at) };
        }
        let layout = header.columns.layout;
        // SAFETY: made by `new` with this layout, and not used any more.
        unsafe {
            this.drop_in_place();
            dealloc(this.as_ptr().cast(), layout);
        }
    }
}

/// # Safety
///
/// As for [`Batch::run`], with this function.
unsafe fn run<F: Native<S>, S>(this: NonNull<Batch>) {
    // SAFETY: alive, by the caller's promise.
    let header = unsafe { this.as_ref() };
    let (count, columns) = (header.count.get(), header.columns);
    let (at, slowest) = (Cell::new(0), Cell::new(0));
    let begin = now();
    let all = || {
        let mut last = begin;
        while at.get() < count {
            let call = at.get();
            // SAFETY: the call was added, and is taken once: the position goes on, even if the call
            // panics.
            let (f, args) = unsafe { Batch::column::<(F, F::Args)>(this, columns.args, call).read() };
            let status = Batch::column::<u8>(this, columns.status, call);
            let is_cancelled = header.any_cancelled.load(Ordering::Acquire)
                && Batch::cancelled(this, call).load(Ordering::Relaxed) != 0;
            // SAFETY: the column is the runner's.
            unsafe { status.write(if is_cancelled { SKIPPED } else { PANICKED }) };
            if is_cancelled {
                drop(args);
            } else {
                let result = f.run(args);
                // SAFETY: the columns are the runner's.
                unsafe {
                    Batch::column::<F::Output>(this, columns.results, call).write(result);
                    status.write(RETURNED);
                }
            }
            // This comes before the position goes on: its panic belongs to this call.
            drop(f);
            if header.times_each.get() {
                let end = now();
                slowest.set(slowest.get().max(end - last));
                last = end;
            }
            at.set(call + 1);
        }
    };
    while let Err(panic) = catch_unwind(AssertUnwindSafe(all)) {
        let call = at.get();
        // SAFETY: the column is the runner's, and was written before the call began.
        if unsafe { Batch::column::<u8>(this, columns.status, call).read() } == PANICKED {
            header.runner.panics.borrow_mut().push((call, message(&*panic)));
        }
        forget_panic(panic);
        at.set(call + 1);
    }
    let nanos = now() - begin;
    header.runner.nanos.set(nanos);
    let mean = nanos / u64::from(count.max(1));
    header.runner.slowest.set(if header.times_each.get() { slowest.get() } else { mean });
}

/// # Safety
///
/// The arguments of the call are in the batch, which is for this function; they are not used again.
unsafe fn drop_args<F: Native<S>, S>(this: NonNull<Batch>, at: u32) {
    // SAFETY: passed on to the caller.
    unsafe { Batch::column::<(F, F::Args)>(this, this.as_ref().columns.args, at).drop_in_place() };
}

/// # Safety
///
/// The result of the call is in the batch, which is for this function; it is not used again.
unsafe fn drop_result<F: Native<S>, S>(this: NonNull<Batch>, at: u32) {
    // SAFETY: passed on to the caller.
    unsafe { Batch::column::<F::Output>(this, this.as_ref().columns.results, at).drop_in_place() };
}
