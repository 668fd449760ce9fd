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

use lisle_core::internal::shim::ticks;
use lisle_par::by_code::{self, SLOTS, Slot, Table};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

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
    let here = HERE.with(Cell::get);
    // Only the join that is part of no other one looks at the past.
    let code = (here.expected == Expected::NoLoop).then_some(join::<A, B, RA, RB> as *const () as usize);
    let (expected, plan) = match code {
        Some(code) => past(code, Past::begin),
        None => (here.expected, Plan::all(here.most)),
    };
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
    if let Some(code) = code {
        past(code, |past| past.end(plan, [taken_a, taken_b]));
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

/// The facts that a domain remembers of the loops of some types.
#[derive(Clone, Copy)]
struct Past {
    /// How long the last one took on all threads together, in ticks.
    took: Option<u64>,
    /// How long its pieces were, on average.
    piece: u64,
    /// What takes longer is divided, in ticks.
    most: u64,
    /// The number of loops until the next comparison, and between the last two.
    until_next: u32,
    interval: u32,
    /// The number of comparisons.
    comparisons: u32,
    /// Whether the last comparison has said that pieces should have another length.
    is_in_doubt: bool,
}

thread_local! {
    static PAST: Table<Past> = const { [const { Cell::new(Slot::empty(Past::NOTHING)) }; SLOTS] };
}

fn past<R>(code: usize, f: impl FnOnce(&mut Past) -> R) -> R {
    PAST.with(|past| by_code::with(past, code, Past::NOTHING, f))
}

impl Past {
    const NOTHING: Past = Past {
        took: None,
        piece: 0,
        most: LONG,
        until_next: 0,
        interval: 0,
        comparisons: 0,
        is_in_doubt: false,
    };

    /// Begins a loop. Returns how long it is expected to take, and how it is to be divided.
    fn begin(&mut self) -> (Expected, Plan) {
        let mut plan = Plan::all(self.most);
        let Some(took) = self.took else { return (Expected::Unknown, plan) };
        if self.until_next > 0 {
            self.until_next -= 1;
            return (Expected::Ticks(took), plan);
        }
        // Two with both halves exchanged, and then two of the other question.
        let short = (self.comparisons % 2) as usize;
        if self.most > LONG && self.comparisons & 2 == 0 {
            plan.most[short] = LONG.max(self.most / 4);
            plan.question = Question::Shorter(short);
        } else {
            // A loop of few long steps has longer pieces than it is told to make.
            plan.most[1 - short] = (4 * self.most.max(self.piece)).min(LONGEST);
            plan.question = Question::Longer(short);
        }
        (Expected::Ticks(took), plan)
    }

    /// Notes that a loop has ended.
    fn end(&mut self, plan: Plan, halves: [Taken; 2]) {
        let took = halves.map(|half| half.ticks);
        self.took = Some(took[0] + took[1]);
        self.piece = (took[0] + took[1]) / (halves[0].pieces + halves[1].pieces);
        let (wants_change, most) = match plan.question {
            Question::Nothing => return,
            Question::Longer(short) => (took[short] > took[1 - short] / 4 * 5, plan.most[1 - short]),
            Question::Shorter(short) => (took[short] < took[1 - short] / 8 * 9, plan.most[short]),
        };
        self.comparisons = self.comparisons.wrapping_add(1);
        let was_in_doubt = std::mem::replace(&mut self.is_in_doubt, wants_change);
        if self.comparisons % 2 == 1 {
            // The second comparison follows the first at once.
            return;
        }
        if wants_change && was_in_doubt {
            (self.most, self.interval) = (most, 0);
        } else {
            self.interval = (2 * self.interval + 1).min(RARELY);
        }
        self.until_next = self.interval;
    }
}
