//! How a spin lock passes its time, and in which phase the contest is: all performers learn that
//! here.
//!
//! The algorithms are written for any way of waiting. So the cost of a queue can be told from the
//! cost of a processor that is not given back. With more threads than cores a queue of spinning
//! threads goes on only when the kernel happens to run the next in line: sixty of them would take
//! seconds to leave it. So all ways of waiting but [`Nothing`] give the processor back once the
//! [contest is over](is_over). The phase is written twice in a contest.

use std::{
    hint::spin_loop,
    sync::atomic::{
        AtomicU8,
        Ordering::{Acquire, Release},
    },
    thread,
    time::Duration,
};

/// In which phase a contest is. A process holds one contest at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Phase {
    /// Not all performers have begun: nothing is counted.
    WarmUp,
    Counted,
    /// Nothing is counted any more.
    Over,
}

static PHASE: AtomicU8 = AtomicU8::new(Phase::WarmUp as u8);

impl Phase {
    /// Makes this the phase of the contest.
    pub(crate) fn set(self) {
        PHASE.store(self as u8, Release);
    }

    #[inline]
    pub(crate) fn now() -> Self {
        match PHASE.load(Acquire) {
            0 => Phase::WarmUp,
            1 => Phase::Counted,
            _ => Phase::Over,
        }
    }
}

/// Returns `true` if the contest is over.
#[inline]
pub(crate) fn is_over() -> bool {
    Phase::now() == Phase::Over
}

/// The way in which a thread passes the time between two looks at a lock.
pub(crate) trait Wait: 'static {
    /// Before the first look.
    fn new() -> Self;

    /// The lock is still not ours.
    fn again(&mut self);
}

/// Looks again at once.
pub(crate) struct Nothing;

/// Tells the processor that this is a loop that waits.
pub(crate) struct Pause;

/// Pauses sixteen times, and then lets the kernel run somebody else.
pub(crate) struct PauseAndYield(u32);

/// Pauses twice as often each time, up to a microsecond or so, and then sleeps, twice as long each
/// time, up to a millisecond: exponential back-off, as Anderson proposes it ("The performance of
/// spin lock alternatives for shared-memory multiprocessors", 1990).
pub(crate) struct BackOff(u32);

impl Wait for Nothing {
    #[inline]
    fn new() -> Self {
        Nothing
    }

    #[inline]
    fn again(&mut self) {}
}

impl Wait for Pause {
    #[inline]
    fn new() -> Self {
        Pause
    }

    #[inline]
    fn again(&mut self) {
        if is_over() {
            thread::yield_now();
        } else {
            spin_loop();
        }
    }
}

impl PauseAndYield {
    /// How many pauses come before the kernel is asked.
    const PAUSES: u32 = 16;
}

impl Wait for PauseAndYield {
    #[inline]
    fn new() -> Self {
        PauseAndYield(0)
    }

    #[inline]
    fn again(&mut self) {
        if self.0 < Self::PAUSES {
            spin_loop();
            self.0 += 1;
        } else {
            thread::yield_now();
            self.0 = 0;
        }
    }
}

impl BackOff {
    /// The steps that pause, the last of them 64 times.
    const PAUSING: u32 = 7;
    /// The steps that sleep, from 8 µs to 1 ms.
    const SLEEPING: u32 = 8;
    const SHORTEST_SLEEP: Duration = Duration::from_micros(8);
}

impl Wait for BackOff {
    #[inline]
    fn new() -> Self {
        BackOff(0)
    }

    fn again(&mut self) {
        if is_over() {
            return thread::yield_now();
        }
        if self.0 < Self::PAUSING {
            (0..1_u32 << self.0).for_each(|_| spin_loop());
        } else {
            thread::sleep(Self::SHORTEST_SLEEP * (1 << (self.0 - Self::PAUSING)));
        }
        self.0 = (self.0 + 1).min(Self::PAUSING + Self::SLEEPING - 1);
    }
}
