//! The loop of one performer, of any kind and for any lock: it asks for the lock, holds it, lets it
//! go, and works. And its records.
//!
//! A performer that times itself reads the clock before it asks, when it has the lock, and before
//! it lets it go. The clock costs about as much as an uncontended lock, so how many locks there are
//! is counted by others, which do not.

use super::{
    contest::Contest,
    longest::Longest,
    part::{Part, work},
    wait::Phase,
    waits::Waits,
};
use std::{
    hint::black_box,
    sync::{Arc, atomic::Ordering::Relaxed},
};

/// One of a contest. It reads the clock if `TIMED`.
pub(crate) struct Performer<const TIMED: bool> {
    contest: Arc<Contest>,
    number: usize,
    part: Part,
    seen: Seen,
    /// How many turns it has begun, where it may read.
    begun: u64,
    /// Whether it reads in this turn.
    reads: bool,
    /// When it has had the lock last.
    phase: Phase,
    /// When it has asked for the lock.
    asked: u64,
    /// How long it has waited for the lock that it holds or has held last.
    waited: u64,
}

/// The records of a performer.
pub(crate) struct Seen {
    /// How often it has had the lock at all, and changed the number.
    pub(crate) turns: u64,
    /// And how often it has had the lock while that was counted.
    pub(crate) locks: u64,
    /// In how many of these locks it has read.
    pub(crate) reads: u64,
    /// How long it waited each time to change the number. Empty if it is not timed.
    pub(crate) waits: Waits,
    /// And to read it.
    pub(crate) read_waits: Waits,
    /// How long the lock lay idle before this performer had it, though somebody wanted it. Where
    /// some read, this means nothing: only a performer that changes the number notes when it lets
    /// the lock go.
    pub(crate) longest_idle: Longest,
}

impl Seen {
    fn nothing() -> Self {
        let (waits, read_waits) = (Waits::new(), Waits::new());
        Seen { turns: 0, locks: 0, reads: 0, waits, read_waits, longest_idle: Longest::default() }
    }
}

impl<const TIMED: bool> Performer<TIMED> {
    pub(crate) fn new(contest: &Arc<Contest>, number: usize) -> Self {
        let part = contest.part(number);
        Performer {
            contest: contest.clone(),
            number,
            part,
            seen: Seen::nothing(),
            // All would write at once if they began at the same place.
            begun: number as u64,
            reads: false,
            phase: Phase::WarmUp,
            asked: 0,
            waited: 0,
        }
    }

    pub(crate) fn number(&self) -> usize {
        self.number
    }

    pub(crate) fn part(&self) -> Part {
        self.part
    }

    pub(crate) fn begin(&self) {
        self.contest.has_begun();
    }

    /// Before it asks for the lock.
    #[inline]
    pub(crate) fn ask(&mut self) {
        if TIMED {
            self.asked = self.contest.now();
            self.contest.wants(self.number).store(self.asked, Relaxed);
        }
    }

    /// Before it asks for a lock that has readers: whether it is to read, and not to change.
    #[inline]
    pub(crate) fn is_to_read(&mut self) -> bool {
        self.reads = self.part.reads_in(self.begun);
        self.begun += 1;
        self.reads
    }

    /// Under the lock, with other readers. Returns `false` if the contest is over.
    #[inline]
    pub(crate) fn look(&mut self, value: &u64) -> bool {
        let before = *black_box(value);
        let phase = Phase::now();
        if phase != self.phase {
            self.enter(phase);
        }
        if TIMED {
            self.waited = self.contest.now().saturating_sub(self.asked);
        }
        work(self.part.inside);
        assert_eq!(*black_box(value), before, "the lock lets a writer in beside a reader");
        let goes_on = phase != Phase::Over;
        self.seen.reads += u64::from(goes_on);
        goes_on
    }

    /// Under the lock, which protects `value`. Returns `false` if the contest is over.
    #[inline]
    pub(crate) fn hold(&mut self, value: &mut u64) -> bool {
        *value += 1;
        self.seen.turns += 1;
        let phase = Phase::now();
        if phase != self.phase {
            self.enter(phase);
        }
        if TIMED {
            self.arrive();
        }
        work(self.part.inside);
        if TIMED {
            // Last of all: the steps after it are part of the time for which the lock lies idle.
            self.contest.released.store(self.contest.now(), Relaxed);
        }
        phase != Phase::Over
    }

    /// The phase has changed since its last lock. Records from before all performers began do not
    /// count, nor does the part of a wait before that.
    #[cold]
    fn enter(&mut self, phase: Phase) {
        if self.phase == Phase::WarmUp {
            self.seen = Seen { turns: self.seen.turns, ..Seen::nothing() };
            self.asked = self.asked.max(self.contest.counted_from());
            self.contest.has_taken();
        }
        self.phase = phase;
    }

    /// When it has the lock: how long that took, and for how long nobody had it.
    #[inline]
    fn arrive(&mut self) {
        let now = self.contest.now();
        self.waited = now.saturating_sub(self.asked);
        let released = self.contest.released.load(Relaxed);
        // Most idle times are short; for these it does not ask which performers wanted the lock.
        if self.phase == Phase::Counted
            && released > self.contest.counted_from()
            && self.seen.longest_idle.would_keep(now.saturating_sub(released))
        {
            let wanted = self.contest.wanted_since().max(released);
            self.seen.longest_idle.note(now.saturating_sub(wanted));
        }
        self.contest.wants(self.number).store(u64::MAX, Relaxed);
    }

    /// After it has let the lock go: counts that, and works.
    #[inline]
    pub(crate) fn go_on(&mut self) {
        self.seen.locks += 1;
        if TIMED {
            self.note(self.waited);
        }
        work(self.part.between);
    }

    #[inline]
    fn note(&mut self, waited: u64) {
        let waits = if self.reads { &mut self.seen.read_waits } else { &mut self.seen.waits };
        waits.note(waited);
    }

    /// After it has let go the lock that it got when the contest was over. It has waited at least
    /// until then: since it asked, or all the time if others have kept it from asking.
    pub(crate) fn end(mut self) -> Seen {
        if TIMED {
            let ended = self.contest.ended();
            let never_asked = self.seen.locks == 0 && self.asked > ended;
            let since = if never_asked { self.contest.counted_from() } else { self.asked };
            let waited = ended.saturating_sub(since);
            if waited > 0 {
                self.note(waited);
            }
        }
        self.seen
    }
}
