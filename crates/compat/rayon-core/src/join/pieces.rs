//! The length of the pieces into which a loop is divided, where fibers want the domain as well.
//!
//! rayon divides a loop into a few pieces for each thread, and further only in a half that another thread has taken. A
//! piece is a call to a sequential loop, which nothing can interrupt. So a loop of 20 ms keeps all other fibers of its
//! domain waiting for some 5 ms at a time, a thousand times as long as a light request takes.
//!
//! A half is told by [`FnContext::migrated`](super::FnContext::migrated) whether another thread has taken it, and rayon
//! then divides it. Here a half that is likely to take longer than [`LONG`] is told the same. The time that it will take
//! is known from its sibling, which has as many elements, from the half around it, or from the last loop of the same
//! types. Between two pieces the domain runs other fibers, as between any two halves of a join.
//!
//! A piece may cost something of its own, a buffer for each piece for example. Now and then a loop makes the pieces of one
//! half four times as long as those of the other. If the half with the shorter pieces takes longer, and does so too with
//! the halves exchanged, the loops of these types make longer pieces from then on, and shorter ones again when these take
//! no longer.

use lisle_core::shim::ticks;
use std::cell::Cell;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize};

/// Other fibers should not wait for a piece that is longer than this.
const LONG: u64 = 200 * ticks::A_MICROSECOND;

/// Pieces do not become longer than this.
const LONGEST: u64 = 100_000 * ticks::A_MICROSECOND;

/// At most so many loops lie between two that compare pieces.
const RARELY: u32 = 64;

lisle_runtime::fiber_local! {
    /// The half that runs in this fiber.
    static HERE: Cell<Half> = Cell::new(Half { expected: Expected::NoLoop, most: LONG, pieces: 1 });
}

#[derive(Debug, Clone, Copy)]
struct Half {
    expected: Expected,
    /// What takes longer is divided, in ticks.
    most: u64,
    /// The number of pieces into which it has been divided.
    pieces: u64,
}

/// How long a half is expected to take, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    /// No half runs here.
    NoLoop,
    Unknown,
    Ticks(u64),
}

impl Expected {
    fn half(self) -> Expected {
        match self {
            Expected::NoLoop | Expected::Unknown => Expected::Unknown,
            Expected::Ticks(ticks) => Expected::Ticks(ticks / 2),
        }
    }

    fn exceeds(self, most: u64) -> bool {
        matches!(self, Expected::Ticks(ticks) if ticks > most)
    }
}

/// Calls both closures as [`lisle_par::join`] does, and tells each whether it should divide its work further.
#[inline]
#[track_caller]
pub(super) fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce(bool) -> RA + Send,
    B: FnOnce(bool) -> RB + Send,
    RA: Send,
    RB: Send,
{
    let past = Past::of(join::<A, B, RA, RB> as *const () as usize);
    let here = HERE.with(Cell::get);
    let is_loop = here.expected == Expected::NoLoop;
    let (expected, plan) = if is_loop { past.begin() } else { (here.expected, Plan::all(here.most)) };
    let [most_of_a, most_of_b] = plan.most;
    // How long the first half took, if it was one piece.
    let piece = AtomicU64::new(0);
    let ((first, taken_a), (second, taken_b)) = lisle_par::join(
        || {
            let (result, taken) = run(expected.half(), most_of_a, a);
            if taken.pieces == 1 {
                piece.store(taken.ticks, Relaxed);
            }
            (result, taken)
        },
        || {
            let half = match piece.load(Relaxed) {
                0 => expected.half(),
                sibling => Expected::Ticks(sibling),
            };
            run(half, most_of_b, b)
        },
    );
    if is_loop {
        past.end(plan, [taken_a, taken_b]);
    }
    HERE.with(|half| half.set(Half { pieces: taken_a.pieces + taken_b.pieces, ..here }));
    (first, second)
}

/// A half that has ended.
#[derive(Clone, Copy)]
struct Taken {
    ticks: u64,
    pieces: u64,
}

/// Calls a half, and tells it whether to divide its work.
fn run<R>(expected: Expected, most: u64, half: impl FnOnce(bool) -> R) -> (R, Taken) {
    struct Restore(Half);
    impl Drop for Restore {
        fn drop(&mut self) {
            HERE.with(|here| here.set(self.0));
        }
    }
    let restore = Restore(HERE.with(|here| here.replace(Half { expected, most, pieces: 1 })));
    let start = ticks::now();
    let result = half(expected.exceeds(most));
    let ticks = ticks::now().wrapping_sub(start).max(1);
    let pieces = HERE.with(Cell::get).pieces;
    drop(restore);
    (result, Taken { ticks, pieces })
}

/// How a loop is to be divided.
#[derive(Clone, Copy)]
struct Plan {
    /// What takes longer is divided, for each half.
    most: [u64; 2],
    /// What the loop compares.
    question: Question,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Question {
    Nothing,
    /// Whether pieces should be longer. The half with this index has the shorter ones.
    Longer(usize),
    /// Whether pieces could be shorter. The half with this index has the shorter ones.
    Shorter(usize),
}

impl Plan {
    fn all(most: u64) -> Self {
        Plan { most: [most; 2], question: Question::Nothing }
    }
}

/// The past loops of some types. What is known of them is a guess, and is changed without an order.
struct Past {
    /// The address of the code of these loops; 0 if there are none.
    code: AtomicUsize,
    /// How long the last one took on all threads together, in ticks; 0 if it is not known.
    took: AtomicU64,
    /// How long its pieces were, on average.
    piece: AtomicU64,
    /// What takes longer is divided, in ticks; 0 for [`LONG`].
    most: AtomicU64,
    /// The number of comparisons.
    comparisons: AtomicU32,
    /// The number of loops until the next comparison, and between the last two.
    until_next: AtomicU32,
    interval: AtomicU32,
    /// Whether the last comparison has said that pieces should have another length.
    is_in_doubt: AtomicBool,
}

/// By the address of their code. Two loops that fall on one entry push each other out.
static PAST: [Past; 64] = [const {
    Past {
        code: AtomicUsize::new(0),
        took: AtomicU64::new(0),
        piece: AtomicU64::new(0),
        most: AtomicU64::new(0),
        comparisons: AtomicU32::new(0),
        until_next: AtomicU32::new(0),
        interval: AtomicU32::new(0),
        is_in_doubt: AtomicBool::new(false),
    }
}; 64];

impl Past {
    /// Returns the entry of the loops with this code.
    fn of(code: usize) -> &'static Past {
        let past = &PAST[((code / 16 * 0x9E37) >> 8) % PAST.len()];
        if past.code.load(Relaxed) != code {
            past.code.store(code, Relaxed);
            past.took.store(0, Relaxed);
            past.most.store(0, Relaxed);
            past.until_next.store(0, Relaxed);
            past.interval.store(0, Relaxed);
            past.is_in_doubt.store(false, Relaxed);
        }
        past
    }

    /// Begins a loop. Returns how long it is expected to take, and how it is to be divided.
    fn begin(&self) -> (Expected, Plan) {
        let most = self.most.load(Relaxed).max(LONG);
        let took = self.took.load(Relaxed);
        if took == 0 {
            return (Expected::Unknown, Plan::all(most));
        }
        let plan = match self.until_next.load(Relaxed).checked_sub(1) {
            Some(left) => {
                self.until_next.store(left, Relaxed);
                Plan::all(most)
            }
            None => {
                let comparisons = self.comparisons.fetch_add(1, Relaxed);
                // Two with both halves exchanged, and then two of the other question.
                let shorter = (comparisons % 2) as usize;
                let mut plan = Plan::all(most);
                if most > LONG && comparisons & 2 == 0 {
                    plan.most[shorter] = LONG.max(most / 4);
                    plan.question = Question::Shorter(shorter);
                } else {
                    // A loop of few long steps has longer pieces than it is told to make.
                    plan.most[1 - shorter] = 4 * most.max(self.piece.load(Relaxed)).min(LONGEST);
                    plan.question = Question::Longer(shorter);
                }
                plan
            }
        };
        (Expected::Ticks(took), plan)
    }

    /// Notes that a loop has ended.
    fn end(&self, plan: Plan, halves: [Taken; 2]) {
        let took = halves.map(|half| half.ticks);
        self.took.store(took[0] + took[1], Relaxed);
        self.piece.store((took[0] + took[1]) / (halves[0].pieces + halves[1].pieces), Relaxed);
        let (wants_change, most) = match plan.question {
            Question::Nothing => return,
            Question::Longer(short) => (took[short] > took[1 - short] / 4 * 5, plan.most[1 - short]),
            Question::Shorter(short) => (took[short] < took[1 - short] / 8 * 9, plan.most[short]),
        };
        let was_in_doubt = self.is_in_doubt.swap(wants_change, Relaxed);
        // The second of two comparisons follows the first at once.
        if !self.comparisons.load(Relaxed).is_multiple_of(2) {
            return self.until_next.store(0, Relaxed);
        }
        let changes = wants_change && was_in_doubt;
        if changes {
            self.most.store(most, Relaxed);
        }
        let interval = if changes { 0 } else { (2 * self.interval.load(Relaxed) + 1).min(RARELY) };
        self.interval.store(interval, Relaxed);
        self.until_next.store(interval, Relaxed);
    }
}
