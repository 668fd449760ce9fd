//! A stream in memory: eight bytes of head, its value, its future.
//!
//! Slots of one type lie side by side, in pieces that are never moved and are freed only with their
//! world. So a handle may point at a slot: the generation tells whether the stream is still there.

use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;

/// The phase of a stream, in the lowest bits of [`Head::state`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Phase {
    /// The slot has no stream; the rest of the word has the bits of [`vacant`].
    Vacant,
    /// It was made, and has not run; the rest of the word is the frame in which it was made.
    Fresh,
    /// It is done for a frame; the rest of the word is the frame's number.
    Settled,
    /// It is being polled; the rest of the word is the list of its readers.
    Running,
    /// It waits for a stream or a call within this frame; the rest is the list of its readers.
    Waiting,
    /// It waits no more, and is in the queue; the rest is the list of its readers.
    Queued,
    /// It has failed in a frame; the rest is the frame's number, or 0 if it will not be run again.
    Failed,
    /// Its body has returned; its value stays.
    Ended,
}

/// The bits in the state word of a vacant slot.
pub(crate) mod vacant {
    /// The future of the stream that was here has not been dropped yet.
    pub(crate) const HAS_FUTURE: u32 = 1;
    /// The stream that was here was removed because the body that made it has run again.
    pub(crate) const MAKER_RAN_AGAIN: u32 = 2;
    /// It had failed for good.
    pub(crate) const HAS_FAILED: u32 = 4;
    /// The stream is in a snapshot, and can come back.
    pub(crate) const IS_ASIDE: u32 = 8;
}

const PHASES: u32 = 0b111;
/// The stream has a value, of this frame or of an earlier one.
const HAS_VALUE: u32 = 0b1000;
const SHIFT: u32 = 4;
/// The greatest number that fits beside a phase.
pub(crate) const GREATEST: u32 = u32::MAX >> SHIFT;

/// A state word: a phase, whether there is a value, and a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StateWord(u32);

impl StateWord {
    #[inline(always)]
    pub(crate) const fn new(phase: Phase, number: u32) -> StateWord {
        StateWord(phase as u32 | number << SHIFT)
    }
    #[inline(always)]
    pub(crate) const fn with_value(self, other: StateWord) -> StateWord {
        StateWord(self.0 | other.0 & HAS_VALUE)
    }
    #[inline(always)]
    pub(crate) const fn and_value(self) -> StateWord {
        StateWord(self.0 | HAS_VALUE)
    }
    #[inline(always)]
    pub(crate) const fn has_value(self) -> bool {
        self.0 & HAS_VALUE != 0
    }
    #[inline(always)]
    pub(crate) const fn number(self) -> u32 {
        self.0 >> SHIFT
    }
    #[inline(always)]
    pub(crate) const fn phase(self) -> Phase {
        match self.0 & PHASES {
            0 => Phase::Vacant,
            1 => Phase::Fresh,
            2 => Phase::Settled,
            3 => Phase::Running,
            4 => Phase::Waiting,
            5 => Phase::Queued,
            6 => Phase::Failed,
            _ => Phase::Ended,
        }
    }
    /// Replaces the phase only.
    #[inline(always)]
    pub(crate) const fn in_phase(self, phase: Phase) -> StateWord {
        StateWord(self.0 & !PHASES | phase as u32)
    }
}

/// The head of each slot.
#[repr(C, align(8))]
pub(crate) struct Head {
    /// It is odd while a stream lives here, and goes up with each stream that is made or removed
    /// here.
    pub(crate) generation: Cell<u32>,
    pub(crate) state: Cell<StateWord>,
}

impl Head {
    /// Returns `true` if a stream lives here that has not been removed.
    #[inline(always)]
    pub(crate) fn is_alive(&self) -> bool {
        self.generation.get() & 1 == 1
    }

    /// Returns `true` if the stream waits within the frame, or has waited and is in the queue.
    #[inline(always)]
    pub(crate) fn waits(&self) -> bool {
        matches!(self.phase(), Phase::Waiting | Phase::Queued)
    }

    #[inline(always)]
    pub(crate) fn phase(&self) -> Phase {
        self.state.get().phase()
    }
}

/// The part of a slot that readers use. A slot begins with it.
#[repr(C)]
pub(crate) struct Valued<T> {
    pub(crate) head: Head,
    pub(crate) value: UnsafeCell<MaybeUninit<T>>,
}

/// A slot.
#[repr(C)]
pub(crate) struct Slot<T, F> {
    pub(crate) valued: Valued<T>,
    pub(crate) future: UnsafeCell<MaybeUninit<F>>,
}

#[cfg(test)]
mod tests {
    use super::Slot;

    /// A stream costs its future, its value, and eight bytes.
    #[test]
    fn a_slot_has_eight_bytes_beside_the_future_and_the_value() {
        assert_eq!(size_of::<Slot<u64, [u64; 5]>>(), 8 * (1 + 1 + 5));
        assert_eq!(size_of::<Slot<(), [u64; 5]>>(), 8 * (1 + 5));
        assert_eq!(size_of::<Slot<[f32; 4], [u64; 5]>>(), 8 * (1 + 2 + 5));
    }
}
