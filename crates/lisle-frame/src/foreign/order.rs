//! How results come back to the streams: in the order in which the calls were made.

use super::{Ended, Foreigns, Streams, run_here};
use crate::batch::Batch;
use crate::batch::class::Deadline;
use crate::current::unsuspended;
use crate::shim::now;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ptr::NonNull;
use std::time::Duration;

/// How many times the world looks for work before it takes a batch that was sent to the home of an idle
/// worker. That worker may sleep, or may be busy for another world.
const PATIENCE: u32 = 200;

/// How long the world waits for calls over frames in the mode in which they end in the same frame each
/// time.
const PATIENT: Duration = Duration::from_millis(100);

/// Calls that were made one after the other, and lie one after the other in a batch.
#[derive(Clone, Copy)]
struct Run {
    batch: NonNull<Batch>,
    from: u32,
    to: u32,
}

/// A run that grows. Its parts are loaded one by one: loading two at once, soon after one of them was
/// stored, takes several times as long.
#[derive(Default)]
struct Last {
    batch: Cell<Option<NonNull<Batch>>>,
    from: Cell<u32>,
    to: Cell<u32>,
}

impl Last {
    fn take(&self) -> Option<Run> {
        let (from, to) = (self.from.get(), self.to.get());
        self.batch.take().map(|batch| Run { batch, from, to })
    }
}

/// The calls that were not retired, oldest first, and their numbers for the frame's report.
#[derive(Default)]
pub(crate) struct Order {
    runs: RefCell<VecDeque<Run>>,
    /// The youngest calls, which are not in `runs` yet.
    last: Last,
    pub(crate) calls: Cell<usize>,
    pub(crate) batches: Cell<usize>,
    pub(crate) stalls: Cell<usize>,
    pub(crate) waited: Cell<u64>,
    pub(crate) late: Cell<usize>,
    last_wait: Cell<u64>,
    pub(crate) slowest: Cell<Option<(&'static str, u64)>>,
    /// The state of the random numbers, in the mode that shuffles.
    pub(crate) shuffle: Cell<Option<u64>>,
    /// Whether the world waits between two frames for calls that may take longer than a frame, so that they
    /// end in the same frame each time.
    pub(crate) is_patient: Cell<bool>,
    /// A function with a call that was made over frames, or was late: the frame in which such a call ends
    /// depends on time.
    pub(crate) untimed: Cell<Option<&'static str>>,
}

impl Order {
    /// Notes a call.
    #[inline(always)]
    pub(crate) fn push(&self, batch: NonNull<Batch>, at: u32) {
        let last = &self.last;
        if last.batch.get() != Some(batch) || last.to.get() != at {
            self.begin_run(batch, at);
        }
        last.to.set(at + 1);
    }

    #[inline(never)]
    fn begin_run(&self, batch: NonNull<Batch>, at: u32) {
        if let Some(last) = self.last.take() {
            self.runs.borrow_mut().push_back(last);
        }
        self.last.batch.set(Some(batch));
        self.last.from.set(at);
    }

    /// Takes the oldest calls.
    fn pop(&self) -> Option<Run> {
        self.runs.borrow_mut().pop_front().or_else(|| self.last.take())
    }

    pub(crate) fn count_batch(&self, calls: u32) {
        self.calls.set(self.calls.get() + calls as usize);
        self.batches.set(self.batches.get() + 1);
    }

    pub(crate) fn begin_frame(&self) {
        self.calls.set(0);
        self.batches.set(0);
        self.stalls.set(0);
        self.waited.set(0);
        self.late.set(0);
        self.slowest.set(None);
    }

    fn has_runs(&self) -> bool {
        self.last.batch.get().is_some() || !self.runs.borrow().is_empty()
    }

    fn note_slowest(&self, name: &'static str, nanos: u64) {
        if self.slowest.get().is_none_or(|(_, slowest)| nanos > slowest) {
            self.slowest.set(Some((name, nanos)));
        }
    }

    /// Takes any of the calls, for the mode that shuffles, in which each call is a batch.
    fn pop_any(&self, random: u64) -> Option<Run> {
        let mut runs = self.runs.borrow_mut();
        runs.extend(self.last.take());
        let at = random.checked_rem(runs.len() as u64)?;
        runs.swap_remove_back(at as usize)
    }

    /// Returns a random number in the mode that shuffles.
    fn random(&self) -> Option<u64> {
        let (state, random) = split_mix(self.shuffle.get()?);
        self.shuffle.set(Some(state));
        Some(random)
    }

    fn next(&self) -> Option<Run> {
        match self.random() {
            Some(random) => self.pop_any(random),
            None => self.pop(),
        }
    }

    /// Returns `true` if a call that may be late is made late by chance.
    fn is_late_by_chance(&self) -> bool {
        self.random().is_some_and(|random| random & 1 == 1)
    }
}

impl Foreigns {
    pub(crate) fn order(&self) -> &Order {
        &self.order
    }

    /// Retires calls, and runs the streams that wait for them, until no call is left.
    pub(crate) fn retire_all(&self, streams: &impl Streams) {
        loop {
            streams.drain();
            self.retire_unordered(streams);
            if let Some(run) = self.order.next() {
                self.retire(streams, run);
            } else if !self.wait_for_unordered(streams) {
                return;
            }
        }
    }

    fn retire(&self, streams: &impl Streams, run: Run) {
        // SAFETY: batches live as long as their lane.
        let header = unsafe { run.batch.as_ref() };
        let is_late = header.own.is_late.get()
            || header.class.deadline != Deadline::Wait && self.order.is_late_by_chance();
        let in_time = !is_late && self.wait_until(|| header.is_complete(), header.class.deadline);
        if in_time {
            self.deliver(streams, run.batch, run.from, run.to);
        } else {
            self.go_on_without(streams, run);
        }
    }

    /// Gives results to their streams, and runs the streams.
    fn deliver(&self, streams: &impl Streams, batch: NonNull<Batch>, from: u32, to: u32) {
        // SAFETY: batches live as long as their lane.
        let header = unsafe { batch.as_ref() };
        let own = &header.own;
        // SAFETY: batches live as long as their lane.
        let owners = unsafe { Batch::owners(batch) };
        let ended = Ended { owners, at: Cell::new(from), to, delivered: &own.delivered };
        let all = || {
            while ended.at.get() < to {
                streams.deliver(&ended);
                if ended.at.get() < to && ended.owner().is_none() {
                    let call = ended.at.get();
                    ended.pass();
                    if Batch::is_abandoned(batch, call) {
                        // SAFETY: complete. A stream that gives up a call before it is delivered leaves the
                        // result.
                        unsafe { Batch::drop_result(batch, call) };
                    }
                }
                if streams.has_queued() {
                    streams.drain();
                }
            }
        };
        while streams.caught(|| unsuspended(all)) {
            streams.drain();
        }
        if own.delivered.get() == header.count.get() {
            self.has_retired(header, batch);
        }
    }

    /// Goes on with the streams whose calls have not returned before the deadline.
    fn go_on_without(&self, streams: &impl Streams, run: Run) {
        // SAFETY: batches live as long as their lane.
        let header = unsafe { run.batch.as_ref() };
        if !header.own.is_late.replace(true) {
            header.own.is_expired.set(matches!(header.class.deadline, Deadline::Cancel(_)));
            self.late.borrow_mut().push(run.batch);
            self.order.late.set(self.order.late.get() + 1);
            self.order.untimed.set(Some(header.class.name));
            self.order.note_slowest(header.class.name, self.order.last_wait.get());
        }
        // SAFETY: batches live as long as their lane.
        let owners = unsafe { Batch::owners(run.batch) };
        // No result was delivered: there are none.
        let nowhere = Cell::new(0);
        let ended = Ended { owners, at: Cell::new(run.from), to: run.to, delivered: &nowhere };
        let all = || {
            while ended.at.get() < run.to {
                streams.deliver(&ended);
                if ended.owner().is_none() {
                    ended.pass();
                }
            }
        };
        while streams.caught(|| unsuspended(all)) {}
    }

    /// Notes that all results of a batch have been given out.
    fn has_retired(&self, header: &Batch, batch: NonNull<Batch>) {
        header.own.is_retired.set(true);
        let (_, slowest) = header.times();
        self.order.note_slowest(header.class.name, slowest);
        // SAFETY: lanes live as long as the world.
        let lane = unsafe { header.own.lane.as_ref() };
        if header.own.is_sent.get() {
            lane.has_cost(header);
        }
        if header.own.held.get() == 0 {
            lane.recycle(batch);
        }
    }

    /// Gives out the results of late batches that have become complete, between two frames. The next frame
    /// runs their streams.
    pub(super) fn look_after_late(&self) {
        let mut at = 0;
        loop {
            let Some(batch) = self.late.borrow().get(at).copied() else { return };
            // SAFETY: batches live as long as their lane.
            let header = unsafe { batch.as_ref() };
            if self.order.is_patient.get() {
                self.wait_until(|| header.is_complete(), Deadline::KeepLast(PATIENT));
            }
            if !header.is_complete() || self.order.is_late_by_chance() {
                at += 1;
                continue;
            }
            self.late.borrow_mut().swap_remove(at);
            for call in header.own.delivered.replace(header.count.get())..header.count.get() {
                // SAFETY: the call is in the batch, which is complete; as in `deliver`.
                unsafe {
                    if Batch::is_abandoned(batch, call) {
                        Batch::drop_result(batch, call);
                    }
                }
            }
            self.has_retired(header, batch);
        }
    }

    /// Retires the batches of unordered functions that are complete.
    fn retire_unordered(&self, streams: &impl Streams) {
        // This goes through the list once, whatever number of batches is complete. Streams that go on
        // meanwhile add to another list.
        let mut looked_at = self.looked_at.take();
        std::mem::swap(&mut looked_at, &mut *self.unordered.borrow_mut());
        looked_at.retain(|batch| {
            // SAFETY: batches live as long as their lane.
            let header = unsafe { batch.as_ref() };
            let is_complete = header.is_complete();
            if is_complete {
                self.deliver(streams, *batch, 0, header.count.get());
            }
            !is_complete
        });
        let mut unordered = self.unordered.borrow_mut();
        looked_at.append(&mut unordered);
        std::mem::swap(&mut looked_at, &mut *unordered);
        *self.looked_at.borrow_mut() = looked_at;
    }

    /// Waits until a batch of an unordered function is complete, or its deadline has passed. Returns
    /// `false` if there is no such batch, and none is being filled.
    fn wait_for_unordered(&self, streams: &impl Streams) -> bool {
        self.close_open(true);
        // SAFETY: batches live as long as their lane.
        let complete = |batch: &NonNull<Batch>| unsafe { batch.as_ref() }.is_complete();
        // SAFETY: as above.
        let deadline = |batch: &NonNull<Batch>| unsafe { batch.as_ref() }.class.deadline;
        // The batch whose deadline passes first, which may not be the one that was sent first.
        let first = self.unordered.borrow().iter().copied().min_by_key(|batch| deadline(batch).nanos());
        let Some(first) = first else { return self.order.has_runs() };
        if !self.wait_until(|| self.unordered.borrow().iter().any(complete), deadline(&first)) {
            self.unordered.borrow_mut().retain(|batch| *batch != first);
            // SAFETY: as above.
            let to = unsafe { first.as_ref() }.count.get();
            self.go_on_without(streams, Run { batch: first, from: 0, to });
        }
        true
    }

    /// Waits until no batch with loans runs.
    pub(super) fn wait_for_borrowing(&self) {
        let mut at = 0;
        loop {
            let Some(batch) = self.borrowing.borrow().get(at).copied() else { break };
            // SAFETY: batches live as long as their lane.
            let header = unsafe { batch.as_ref() };
            // The batch may have been used again since: in this frame, and then it is in the list once
            // more, or for a call without loans.
            let borrows = || header.own.is_sent.get() && !header.loans.get().is_null();
            self.wait_until(|| !borrows() || header.is_complete(), Deadline::Wait);
            at += 1;
        }
        self.borrowing.borrow_mut().clear();
    }

    /// Waits, and helps the workers meanwhile. Returns `false` if the deadline has passed.
    fn wait_until(&self, is_done: impl Fn() -> bool, deadline: Deadline) -> bool {
        if is_done() {
            return true;
        }
        self.close_open(true);
        if is_done() {
            return true;
        }
        self.order.stalls.set(self.order.stalls.get() + 1);
        let begin = now();
        let deadline = deadline.nanos();
        let (mut in_time, mut idle) = (true, 0);
        while in_time && !is_done() {
            let mut batch = self.link.take_as_world();
            if batch.is_none() && idle >= PATIENCE {
                batch = self.link.take_left();
            }
            if let Some(batch) = batch {
                // SAFETY: taken out, it is ours.
                unsafe { run_here(batch) };
                idle = 0;
            } else {
                idle += 1;
                self.link.relax();
                in_time = deadline == u64::MAX || now() - begin < deadline;
            }
        }
        let waited = now() - begin;
        self.order.last_wait.set(waited);
        self.order.waited.set(self.order.waited.get() + waited);
        in_time
    }
}

/// Returns the next state of a generator of random numbers, and its number (SplitMix64).
fn split_mix(state: u64) -> (u64, u64) {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (state, mixed ^ mixed >> 31)
}
