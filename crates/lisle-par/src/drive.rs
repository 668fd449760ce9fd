//! Runs a loop block by block until another domain wants work, and then divides the rest.
//!
//! A loop records its *rest*: the steps that have not begun. To offer the rest is to divide it in
//! two: the second half becomes a job, and the first half stays. The loop notices the division
//! after its current block, and runs the first half as a loop of its own. Then it either takes the
//! second half back and runs it, or waits for the thread that has taken it. Hence there are never
//! more merges than halves given away, and only neighbours are merged. The stack holds one frame
//! for each half that was given away and not yet merged. There are at most as many frames as the
//! number of steps can be halved.
//!
//! A loop whose cost is known is dealt out as it begins. It is divided at once, for as many domains
//! as look for work then, and a domain that takes a part for several domains divides it in turn.
//! Otherwise the domains would come in one after the other, one for each block.
//!
//! This is the lazy binary splitting of A. Tzannes, G. Caragea, R. Barua and U. Vishkin (*Lazy
//! binary-splitting: a run-time adaptive work-stealing scheduler*, PPoPP 2010), except that the
//! oldest loop of a nest is divided first, as in heartbeat scheduling.

mod divided;
mod pace;

use super::at::At;
use super::consumer::Consumer;
use super::cost_history::{self, LONG};
use super::heartbeat;
use super::job::{Ancestor, Job};
use super::join::{PutOff, Second, beside, merge};
use super::origin;
use super::owner;
use super::part::Part;
use super::pending::{Entry, Offer, Pending};
use super::plan::{Limits, Plan};
use super::within;
use crate::event::is_modelled;
use crate::kept::without;
use crate::panics::forget_panic;
use crate::shim::atomic::{AtomicBool, Ordering};
use crate::shim::ticks;
use pace::{BLOCK, Pace, STEPS, TRIAL};
use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::mem::{MaybeUninit, offset_of};
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::ptr::NonNull;
use std::thread;

/// A loop expected to be shorter than this is not divided at all, if a first part of it confirms
/// the expectation.
const SHORT: u64 = 5 * ticks::A_MICROSECOND;
/// The least duration of a part that a loop is divided into as it begins, as expected.
const SHARE: u64 = 10 * ticks::A_MICROSECOND;
/// The first block of a loop of unknown cost is this fraction of it, but at most `FIRST_BLOCK`
/// steps.
const FIRST_SHARE: usize = 256;
const FIRST_BLOCK: usize = 64;

/// Feeds all items of `part` to `consumer`.
#[track_caller]
pub(crate) fn drive<P: Part, C: Consumer<Item = P::Item>>(part: P, consumer: &C, plan: Plan) -> C::Acc {
    let pending = owner::pending();
    let looping = Loop { consumer, terms: Terms::new(plan, pending, Location::caller()) };
    let within = within::enter(pending);
    let is_outermost = within.is_some();
    let site = looping.terms.site;
    let drive = || consumer.end(looping.feed_all(part, is_outermost));
    if !owner::has_room() {
        return owner::on_another_stack(pending, site, drive);
    }
    let acc = drive();
    drop(within);
    acc
}

/// The state that all participants of a loop share, and the way in which the loop is divided.
struct Terms {
    /// Set when a participant has panicked: then no more steps are begun.
    stop: AtomicBool,
    site: &'static Location<'static>,
    grain: Option<usize>,
    limits: Limits,
    is_fixed: bool,
}

/// The past cost of a loop's code, and the time that the loop is expected to take.
struct Forecast {
    code: usize,
    known: Option<u64>,
    expected: Option<u128>,
}

impl Forecast {
    #[inline]
    fn of(code: usize, steps: usize) -> Self {
        let known = cost_history::recall(code);
        let expected = known.map(|known| (u128::from(known) * steps as u128) >> STEPS);
        Forecast { code, known, expected }
    }
}

impl Terms {
    #[inline]
    fn new(plan: Plan, pending: &Pending, caller: &'static Location<'static>) -> Self {
        let site = plan.site.unwrap_or_else(|| origin::of(pending, caller));
        let limits = plan.limits();
        let grain = plan.grain.map(|grain| grain.get().clamp(limits.least, limits.most));
        Terms { stop: AtomicBool::new(false), site, grain, limits, is_fixed: plan.fixed }
    }

    #[inline]
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Returns the pace of a first part of a loop that is expected to be short. The steps may cost
    /// more this time. The first part shows whether they do, and other domains may take the rest
    /// meanwhile.
    #[inline]
    fn trial(&self, forecast: &Forecast, steps: usize) -> Option<Pace> {
        let is_short = forecast.expected.is_some_and(|ticks| ticks < u128::from(SHORT));
        if !is_short || self.grain.is_some() || self.limits != Limits::default() {
            return None;
        }
        Some(Pace {
            block: steps.div_ceil(TRIAL).max(1),
            is_fixed: false,
            limits: self.limits,
            is_proven: false,
            is_dealt: false,
            share: 1,
            code: forecast.code,
        })
    }

    /// Returns the forecast after a first part of `steps` steps that took `took`, or `None` if the
    /// loop is as short as expected.
    #[inline]
    fn tried(&self, code: usize, steps: usize, took: u64) -> Option<Forecast> {
        if took < SHORT {
            return None;
        }
        cost_history::learn(code, (took << STEPS) / steps.max(1) as u64);
        Some(Forecast { code, known: cost_history::recall(code), expected: None })
    }

    /// Returns the pace of a loop of this many steps as it begins.
    #[inline]
    fn begin(&self, forecast: &Forecast, steps: usize, is_outermost: bool) -> Pace {
        let Forecast { code, known, expected } = *forecast;
        if is_outermost {
            // A loop of few long steps has to be divided before the first of them.
            owner::hurry(owner::pending(), expected.is_none_or(|ticks| ticks >= u128::from(LONG)));
        }
        let first = known.map_or_else(
            || (steps / FIRST_SHARE).clamp(1, FIRST_BLOCK),
            |known| usize::try_from((BLOCK << STEPS) / known.max(1)).unwrap_or(usize::MAX).max(1),
        );
        let share = expected.filter(|_| is_outermost).map_or(1, share);
        Pace {
            block: self.grain.unwrap_or(self.limits.block(first)),
            is_fixed: self.grain.is_some(),
            limits: self.limits,
            is_proven: false,
            is_dealt: share > 1,
            share,
            code,
        }
    }

    /// Stops the loop, of which a participant has panicked.
    #[cold]
    fn fail(&self, panic: Panic) -> ! {
        self.stop.store(true, Ordering::Relaxed);
        owner::raise(panic)
    }
}

/// Returns the number of domains among which a loop is dealt out as it begins, if it is expected to
/// take `expected` ticks.
fn share(expected: u128) -> usize {
    let most = usize::try_from(expected / u128::from(SHARE)).unwrap_or(usize::MAX);
    most.min(1 + owner::looking()).max(1)
}

/// A loop.
struct Loop<'c, C> {
    consumer: &'c C,
    terms: Terms,
}

/// A participant of a loop, which runs a range of neighbouring steps.
#[repr(C)]
struct Frame<'l, 'c, P: Part, C: Consumer<Item = P::Item>> {
    entry: Entry,
    looping: &'l Loop<'c, C>,
    /// The steps that have not begun, and the number of the first.
    rest: Cell<Option<P>>,
    at: Cell<usize>,
    pace: Cell<Pace>,
    /// The panic of an attempt to divide the rest.
    broken: Cell<Option<Panic>>,
    /// The second half of the rest, once it has been offered.
    given: Given<P, C::Acc>,
}

#[repr(C)]
struct Given<P, A> {
    job: UnsafeCell<MaybeUninit<Job>>,
    part: UnsafeCell<MaybeUninit<P>>,
    at: Cell<usize>,
    pace: Cell<Pace>,
    result: UnsafeCell<MaybeUninit<thread::Result<A>>>,
}

type Panic = Box<dyn Any + Send>;

/// The state of a loop after its first block.
struct Rest<'l, 'c, P: Part, C: Consumer<Item = P::Item>> {
    looping: &'l Loop<'c, C>,
    part: P,
    at: usize,
    pace: Pace,
}

impl<P: Part, C: Consumer<Item = P::Item>> PutOff for Rest<'_, '_, P, C> {
    type Out = C::Acc;

    fn run(self) -> C::Acc {
        let looping = self.looping;
        // The block before it takes so long that another domain has come. That domain offers a half
        // at once: if its own first block takes long, too, the next one gets a half, and not all.
        let pace = Pace { share: self.pace.share.max(2), ..self.pace };
        looping.or_stop(|| looping.run_apart(self.part, self.at, pace))
    }
}

impl<C: Consumer> Loop<'_, C> {
    fn feed_all<P: Part<Item = C::Item>>(&self, mut part: P, is_outermost: bool) -> C::Acc {
        let mut acc = self.consumer.begin();
        if self.terms.is_fixed || is_modelled() {
            return divided::run(part, self, acc);
        }
        let mut at = 0;
        let mut forecast = Forecast::of(Frame::<P, C>::offer as *const () as usize, part.len());
        if let Some(pace) = self.terms.trial(&forecast, part.len()) {
            at = pace.block.min(part.len());
            let (trial, rest) = part.split_at(at);
            let (fed, took, rest) = self.first_block(trial, 0, acc, rest, at, pace);
            let Some(rest) = rest else { return fed };
            let Some(tried) = self.terms.tried(pace.code, at, took) else {
                return self.consumer.feed(fed, At::outermost(at), rest.items());
            };
            (part, acc, forecast) = (rest, fed, tried);
        }
        let pace = self.terms.begin(&forecast, part.len(), is_outermost);
        self.run(part, at, acc, pace)
    }

    /// Calls `f`. If it panics, stops the loop.
    #[inline]
    fn or_stop<R>(&self, f: impl FnOnce() -> R) -> R {
        match catch_unwind(AssertUnwindSafe(f)) {
            Ok(result) => result,
            Err(panic) => self.terms.fail(panic),
        }
    }

    /// Feeds `block` on top of `acc`, while other threads may take `rest`, which follows it.
    /// Returns the accumulator, the time that `block` took, and `rest`, unless another thread has
    /// run `rest` and the result has been merged.
    fn first_block<P: Part<Item = C::Item>>(
        &self,
        block: P,
        at: usize,
        acc: C::Acc,
        rest: P,
        rest_at: usize,
        pace: Pace,
    ) -> (C::Acc, u64, Option<P>) {
        let start = ticks::now();
        let feed = || {
            let fed = self.or_stop(|| self.feed(acc, at, block));
            (fed, ticks::now().wrapping_sub(start))
        };
        let rest = Rest { looping: self, part: rest, at: rest_at, pace };
        let (fed, rest) = beside(feed, rest, self.terms.site, owner::pending());
        match (fed, rest) {
            (Ok((fed, took)), Second::Back(rest)) => (fed, took, Some(rest.part)),
            (Err(panic), Second::Back(rest)) => {
                forget_panic(rest);
                owner::raise(panic)
            }
            (fed, Second::Done(done)) => {
                let ((fed, took), done) = merge(fed, done);
                (self.merge(fed, done), took, None)
            }
        }
    }

    /// Leaves out the first steps of `part` that need not be fed. `at` is the number of the first
    /// step.
    #[inline]
    fn needed<P: Part<Item = C::Item>>(&self, part: P, at: &mut usize) -> P {
        let needless = self.consumer.needless(At::outermost(*at)).min(part.len());
        if needless == 0 {
            return part;
        }
        *at += needless;
        let (past, rest) = part.split_at(needless);
        without(rest, past)
    }

    /// Feeds `block`, whose first step has number `at`, on top of `acc`.
    #[inline]
    fn feed<P: Part<Item = C::Item>>(&self, acc: C::Acc, at: usize, block: P) -> C::Acc {
        let at = At::outermost(at);
        if self.terms.limits.are_pieces() {
            let piece = self.consumer.feed(self.consumer.begin(), at, block.items());
            return self.merge(acc, self.consumer.end(piece));
        }
        self.consumer.feed(acc, at, block.items())
    }

    /// Merges the accumulators of two neighbouring ranges of steps.
    fn merge(&self, left: C::Acc, right: C::Acc) -> C::Acc {
        // A participant has panicked, and its panic is on the way to the caller of the loop. The
        // accumulators may have gaps, which the user's function should not see.
        if self.terms.is_stopped() {
            forget_panic(right);
            return left;
        }
        self.consumer.merge(left, right)
    }

    /// Feeds `part`, whose first step has number `at`, to an accumulator of its own, for another
    /// thread.
    fn run_apart<P: Part<Item = C::Item>>(&self, part: P, at: usize, pace: Pace) -> C::Acc {
        self.consumer.end(self.run(part, at, self.consumer.begin(), pace))
    }

    /// Feeds `part`, whose first step has number `at`, on top of `acc`.
    fn run<P: Part<Item = C::Item>>(&self, part: P, at: usize, mut acc: C::Acc, pace: Pace) -> C::Acc {
        let pending = owner::pending();
        let frame = Frame::<P, C> {
            entry: Entry::new(Frame::<P, C>::offer),
            looping: self,
            rest: Cell::new(Some(part)),
            at: Cell::new(at),
            pace: Cell::new(pace),
            broken: Cell::new(None),
            given: Given {
                job: UnsafeCell::new(MaybeUninit::uninit()),
                part: UnsafeCell::new(MaybeUninit::uninit()),
                at: Cell::new(0),
                pace: Cell::new(pace),
                result: UnsafeCell::new(MaybeUninit::uninit()),
            },
        };
        loop {
            // SAFETY: the frame stays in place until its entry has been popped, below. The steps
            // pop all entries that they push before they end.
            let older = unsafe { pending.push(NonNull::from(&frame).cast()) };
            let fed = catch_unwind(AssertUnwindSafe(|| frame.feed(pending, acc)));
            if fed.is_err() {
                self.terms.stop.store(true, Ordering::Relaxed);
            }
            if pending.pop(&frame.entry, older) {
                return fed.unwrap_or_else(|panic| frame.fail(panic));
            }
            match frame.settle(fed) {
                Settled::Merged(merged) => return merged,
                Settled::TakenBack(before) => acc = before,
            }
        }
    }
}

/// The outcome of a half that was given away.
enum Settled<A> {
    /// Another thread has run it; this is the result of the whole.
    Merged(A),
    /// It was taken back and is the rest now; this is the accumulator of the steps before it.
    TakenBack(A),
}

impl<P: Part<Item = C::Item>, C: Consumer> Frame<'_, '_, P, C> {
    /// Feeds the rest block by block until no step is left or the rest was divided. In the latter
    /// case it feeds the first half, too.
    fn feed(&self, pending: &Pending, mut acc: C::Acc) -> C::Acc {
        let consumer = self.looping.consumer;
        let mut pace = self.pace.get();
        let word = heartbeat::here();
        let is_dealt = pace.share > 1 && !self.looping.terms.is_stopped() && self.deal(pending);
        if !is_dealt && (word.is_wanted() || (!word.is_quiet() && pending.count())) {
            owner::heartbeat(pending);
        }
        pace = self.pace.get();
        loop {
            if !pending.is_youngest(&self.entry) {
                // The rest was divided. The first half goes on in a frame of its own, which can be
                // divided in turn.
                return match self.rest.take() {
                    Some(part) => self.looping.run(part, self.at.get(), acc, pace),
                    None => acc,
                };
            }
            let mut at = self.at.get();
            let Some(part) = self.rest.take() else {
                return self.broken.take().map_or(acc, |panic| owner::raise(panic));
            };
            let part = self.looping.needed(part, &mut at);
            let left = part.len();
            if left == 0 || self.looping.terms.is_stopped() || consumer.is_done(&acc, At::outermost(at)) {
                return without(acc, part);
            }
            let steps = pace.next(left);
            if !pace.is_proven && steps < left && pace.may_hand_over(steps, left) {
                let (block, rest) = part.split_at(steps);
                let (fed, took, rest) = self.looping.first_block(block, at, acc, rest, at + steps, pace);
                let Some(rest) = rest else { return fed };
                pace.adapt(steps, took);
                self.pace.set(pace);
                self.rest.set(Some(rest));
                self.at.set(at + steps);
                acc = fed;
                continue;
            }
            let start = ticks::now();
            if steps == left {
                acc = self.looping.feed(acc, at, part);
                pace.adapt(left, ticks::now().wrapping_sub(start));
                return acc;
            }
            let (block, rest) = part.split_at(steps);
            self.rest.set(Some(rest));
            self.at.set(at + steps);
            acc = self.looping.feed(acc, at, block);
            let end = ticks::now();
            pace.adapt(steps, end.wrapping_sub(start));
            self.pace.set(pace);
            // A block counts as many joins: it is time to look at the clock.
            if !heartbeat::here().is_quiet() && owner::is_due(end) {
                owner::heartbeat(pending);
            }
        }
    }

    /// Offers a part of the rest for some of its domains. The domain that takes the part divides it
    /// in turn. Returns `false` if the rest cannot be divided; then it is for one domain.
    fn deal(&self, pending: &Pending) -> bool {
        owner::offer(pending);
        let is_dealt = !pending.is_youngest(&self.entry);
        if !is_dealt {
            self.is_for_one();
        }
        is_dealt
    }

    fn is_for_one(&self) {
        self.pace.set(Pace { share: 1, ..self.pace.get() });
    }

    /// Drops the steps that have not begun and resumes `panic`.
    fn fail(&self, panic: Panic) -> ! {
        forget_panic(self.rest.take());
        owner::raise(panic)
    }

    /// Takes back the half that was given away, or waits for its result and merges it, after the
    /// steps before it have been fed.
    #[cold]
    fn settle(&self, fed: thread::Result<C::Acc>) -> Settled<C::Acc> {
        // SAFETY: the job was initialized when it was offered, and since then it has been changed
        // only by its own methods.
        let job = unsafe { (*self.given.job.get()).assume_init_ref() };
        if owner::settle(job) {
            // SAFETY: the part was written when it was offered, and was taken back, so no other
            // thread has it.
            let part = unsafe { (*self.given.part.get()).assume_init_read() };
            self.rest.set(Some(part));
            self.at.set(self.given.at.get());
            // The domains for which it was meant had other work.
            self.is_for_one();
            return Settled::TakenBack(fed.unwrap_or_else(|panic| self.fail(panic)));
        }
        // SAFETY: the job is done, so its result has been written.
        let given = unsafe { (*self.given.result.get()).assume_init_read() };
        match (fed, given) {
            (Ok(fed), Ok(given)) => Settled::Merged(self.looping.merge(fed, given)),
            (Err(panic), given) => {
                forget_panic(given);
                self.fail(panic)
            }
            (Ok(fed), Err(panic)) => {
                forget_panic(fed);
                self.fail(panic)
            }
        }
    }

    /// Divides the rest and makes the job of its second half.
    ///
    /// # Safety
    ///
    /// `entry` is the entry of a `Frame` of this type, and is pending on this thread.
    unsafe fn offer(entry: NonNull<Entry>, within: *const Ancestor) -> Offer {
        // SAFETY: the entry is the first field of the frame.
        let frame = unsafe { entry.cast::<Self>().as_ref() };
        let Some(part) = frame.rest.take() else { return Offer::Nothing };
        let pace = frame.pace.get();
        let divided = catch_unwind(AssertUnwindSafe(|| match pace.kept(part.len()) {
            // Of a part that reports wrong lengths, the number of a step may overflow.
            Some(middle) => Ok((frame.at.get() + middle, part.split_at(middle))),
            None => Err(part),
        }));
        let (given_at, (front, back)) = match divided {
            Ok(Ok(halves)) => halves,
            Ok(Err(part)) => {
                frame.rest.set(Some(part));
                return Offer::Nothing;
            }
            Err(panic) => {
                // The thread that asks for work must not see the panic.
                frame.broken.set(Some(panic));
                return Offer::Nothing;
            }
        };
        frame.rest.set(Some(front));
        frame.given.at.set(given_at);
        let given = pace.share / 2;
        frame.pace.set(Pace { share: pace.share - given, ..pace });
        frame.given.pace.set(Pace { share: given.max(1), ..pace });
        // SAFETY: a half that was given away before has been settled, so no other thread accesses
        // this field.
        unsafe { (*frame.given.part.get()).write(back) };
        let offset = offset_of!(Self, given) + offset_of!(Given<P, C::Acc>, job);
        // SAFETY: `job` is a field of a field of the frame.
        let job = unsafe { entry.byte_add(offset) }.cast::<Job>();
        // SAFETY: as for the part: no other thread accesses this field.
        unsafe { job.write(Job::new(Self::run, Ancestor::new(within, 0), frame.looping.terms.site)) };
        Offer::Last(job)
    }

    /// Runs the half of a job, and stores its result.
    ///
    /// # Safety
    ///
    /// `job` is the job of a `Frame` of this type, and the caller has taken it.
    unsafe fn run(job: NonNull<Job>) {
        let offset = offset_of!(Self, given) + offset_of!(Given<P, C::Acc>, job);
        // SAFETY: the job is this field of a frame, which stays in place until the job is done.
        let frame = unsafe { job.byte_sub(offset) }.cast::<Self>().as_ptr();
        // SAFETY: the field is shared by all participants; the owner of the frame does not change
        // it any more.
        let looping = unsafe { (*frame).looping };
        // SAFETY: the frame is in place, as above, and its owner does not change this field until
        // the job is done.
        let given = unsafe { &(*frame).given };
        // SAFETY: the part was written when it was offered. Only the thread that has taken the job
        // takes it, once.
        let part = unsafe { (*given.part.get()).assume_init_read() };
        let (at, pace) = (given.at.get(), given.pace.get());
        let result = catch_unwind(AssertUnwindSafe(|| looping.run_apart(part, at, pace)));
        if result.is_err() {
            looping.terms.stop.store(true, Ordering::Relaxed);
        }
        // SAFETY: the owner reads the result only after the job is done.
        unsafe { (*given.result.get()).write(result) };
    }
}
