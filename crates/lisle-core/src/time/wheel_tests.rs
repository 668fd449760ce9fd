//! Tests of the timer wheel. Most of them compare it with a model that keeps every deadline in a
//! sorted map.
//!
//! Where an entry must not be touched after it was handed out, the callback frees it, which lets an
//! address sanitizer detect an access.

use super::{DIGIT_BITS, Entry, LEVELS, SLOTS, TICK_NS, WORDS, Wheel, reached_tick};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

const SECOND: u64 = 1_000_000_000;
const DAY: u64 = 86_400 * SECOND;
const YEAR: u64 = 365 * DAY;

/// Marsaglia's xorshift generator, which makes a failure repeatable.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Returns a number of up to `bits` bits, with all magnitudes equally likely.
    fn magnitude(&mut self, bits: u64) -> u64 {
        let bits = self.below(bits + 1);
        self.next().checked_shr(64 - bits as u32).unwrap_or(0)
    }
}

/// A wheel whose entries are boxed, named by number, and freed as soon as the wheel has released
/// them.
struct Timers {
    wheel: Wheel<usize>,
}

impl Timers {
    fn new(now_ns: u64) -> Timers {
        Timers { wheel: Wheel::new(now_ns) }
    }

    fn start(&mut self, name: usize, deadline_ns: u64) -> NonNull<Entry<usize>> {
        let entry = NonNull::from(Box::leak(Box::new(Entry::new(name))));
        // SAFETY: the entry is new, and only `cancel` and `fired` free it, after the wheel has
        // released it.
        unsafe { self.wheel.insert(entry, deadline_ns) };
        entry
    }

    fn cancel(&mut self, entry: NonNull<Entry<usize>>) {
        // SAFETY: the entry came from `start` of this wheel and has not been freed.
        unsafe { self.wheel.remove(entry) };
        // SAFETY: the entry came from a box, and the wheel no longer holds it.
        let entry = unsafe { Box::from_raw(entry.as_ptr()) };
        assert!(!entry.is_linked());
    }

    /// Advances, and returns which timers fired, in order.
    fn fired(&mut self, now_ns: u64) -> Vec<usize> {
        let mut names = Vec::new();
        self.wheel.advance(now_ns, |entry| {
            // SAFETY: the entry came from a box in `start`, and an entry that was handed out
            // belongs to its owner again.
            let entry = unsafe { Box::from_raw(entry.as_ptr()) };
            assert!(!entry.is_linked());
            assert!(entry.deadline() <= now_ns, "fired early");
            names.push(entry.payload.get());
        });
        names
    }
}

impl Drop for Timers {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        self.fired(u64::MAX);
        assert!(self.wheel.is_empty());
        assert_eq!(self.wheel.occupied, [0; LEVELS * WORDS]);
    }
}

#[test]
fn each_of_ten_thousand_fires_in_its_own_tick() {
    let start = 123 * TICK_NS;
    let mut timers = Timers::new(start);
    // Multiplying by a number coprime to the count visits each tick once, out of order.
    let count = if cfg!(miri) { 100 } else { 10_000_u64 };
    for i in 0..count {
        let tick = i * 7_919 % count + 1;
        timers.start(tick as usize, start + tick * TICK_NS - i % TICK_NS);
    }
    for tick in 1..=count {
        let begin = start + tick * TICK_NS;
        assert_eq!(timers.fired(begin - 1), []);
        assert_eq!(timers.fired(begin), [tick as usize]);
    }
    assert!(timers.wheel.is_empty());
}

#[test]
fn agrees_with_a_sorted_map() {
    let (seeds, steps) = if cfg!(miri) { (2, 200) } else { (300, 1_500) };
    for seed in 1..=seeds {
        compare_with_sorted_map(&mut Random(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed)), steps);
    }
}

/// Runs random operations whose times and differences have every magnitude.
fn compare_with_sorted_map(random: &mut Random, steps: usize) {
    // Runs that begin late, or advance in large steps, reach the end of time; most should not.
    let mut now = random.magnitude(64);
    let stride_bits = random.below(64);
    let mut timers = Timers::new(now);
    let mut elapsed = reached_tick(now);
    // Maps (tick, number of the insertion) to the entry.
    let mut model = BTreeMap::new();
    let mut keys = Vec::new();

    for number in 0..steps {
        match random.below(16) {
            0..8 => {
                let distance = random.magnitude(64);
                let deadline = if random.below(8) == 0 {
                    now.saturating_sub(distance)
                } else {
                    now.saturating_add(distance)
                };
                let key = (deadline.div_ceil(TICK_NS).max(elapsed), number);
                let entry = timers.start(number, deadline);
                // SAFETY: the entry was just inserted and is not freed yet.
                let node = unsafe { entry.as_ref() };
                assert!(node.is_linked());
                assert_eq!(node.deadline(), deadline);
                model.insert(key, entry);
                keys.push(key);
            }
            8..12 if !keys.is_empty() => {
                let key = keys.swap_remove(random.below(keys.len() as u64) as usize);
                if let Some(entry) = model.remove(&key) {
                    timers.cancel(entry);
                }
            }
            _ => {
                let target = match timers.wheel.next_deadline() {
                    Some(next) if random.below(2) == 0 => next.max(now),
                    _ => now.saturating_add(random.magnitude(stride_bits)),
                };
                now = target;
                elapsed = reached_tick(now);
                let later = model.split_off(&(elapsed + 1, 0));
                let expected: Vec<usize> = model.keys().map(|&(_, number)| number).collect();
                model = later;
                assert_eq!(timers.fired(now), expected);
            }
        }
        assert_eq!(timers.wheel.len(), model.len());
        assert_eq!(timers.wheel.is_empty(), model.is_empty());
        check_next_deadline(&timers.wheel, model.keys().next().map(|&(tick, _)| tick));
    }
}

/// Asserts that the announced time is not after `earliest`, the true first tick, and is exact where
/// this is promised.
fn check_next_deadline(wheel: &Wheel<usize>, earliest: Option<u64>) {
    let next = wheel.next_deadline();
    assert_eq!(next.is_some(), earliest.is_some());
    let (Some(next), Some(earliest)) = (next, earliest) else { return };
    assert!(next <= earliest.saturating_mul(TICK_NS));
    assert!(next >= wheel.elapsed.saturating_mul(TICK_NS));
    if earliest >> DIGIT_BITS == wheel.elapsed >> DIGIT_BITS {
        assert_eq!(next, earliest.saturating_mul(TICK_NS));
    }
}

/// With only one entry, the early deadline is that entry's.
#[test]
fn an_early_deadline_is_that_of_an_entry() {
    let mut random = Random(43);
    for _ in 0..if cfg!(miri) { 5 } else { 500 } {
        let mut timers = Timers::new(random.magnitude(40));
        assert_eq!(timers.wheel.early_deadline(), None);
        let deadlines: Vec<_> = (0..1 + random.below(4)).map(|_| random.magnitude(60)).collect();
        let entries: Vec<_> = deadlines.iter().map(|&deadline| timers.start(0, deadline)).collect();
        let told = timers.wheel.early_deadline().expect("it is not empty");
        assert!(deadlines.contains(&told));
        entries.into_iter().for_each(|entry| timers.cancel(entry));
        assert_eq!(timers.wheel.early_deadline(), None);
    }
}

#[test]
fn parking_until_the_next_deadline_arrives() {
    let mut random = Random(42);
    for _ in 0..if cfg!(miri) { 20 } else { 2_000 } {
        let start = random.magnitude(63);
        let deadline = start.saturating_add(random.magnitude(64));
        let mut timers = Timers::new(start);
        timers.start(7, deadline);
        let mut wakes = 0;
        loop {
            let next = timers.wheel.next_deadline().expect("the timer has not fired");
            wakes += 1;
            if timers.fired(next.max(start)) == [7] {
                assert!(next.max(start) >= deadline);
                assert!(next.max(start) - deadline < TICK_NS);
                break;
            }
            assert!(wakes <= LEVELS - 2, "no progress");
        }
    }
}

#[test]
fn far_deadlines_are_kept() {
    let deadlines = [DAY, 30 * DAY, YEAR, 100 * YEAR, 500 * YEAR, u64::MAX - TICK_NS, u64::MAX - 1, u64::MAX];
    let mut timers = Timers::new(5 * SECOND);
    for (name, deadline) in deadlines.into_iter().enumerate().rev() {
        timers.start(name, deadline);
    }
    for (name, deadline) in deadlines.into_iter().enumerate().take(6) {
        assert_eq!(timers.fired(deadline - 1), []);
        let tick = deadline.div_ceil(TICK_NS) * TICK_NS;
        assert_eq!(timers.fired(tick), [name]);
    }
    // No tick begins after the last two. They wait for the end of time, where they count as one
    // tick.
    assert_eq!(timers.fired(u64::MAX - 1), []);
    assert_eq!(timers.wheel.next_deadline(), Some(u64::MAX));
    assert_eq!(timers.fired(u64::MAX), [7, 6]);
    // After the end of time everything is overdue.
    timers.start(8, u64::MAX);
    assert_eq!(timers.fired(u64::MAX), [8]);
}

#[test]
fn past_deadlines_fire_at_the_next_advance() {
    let now = 1_000 * TICK_NS + 17;
    let mut timers = Timers::new(now);
    for (name, deadline) in [0, now, now - 1, 1_000 * TICK_NS, 3].into_iter().enumerate() {
        timers.start(name, deadline);
    }
    assert_eq!(timers.wheel.next_deadline(), Some(1_000 * TICK_NS));
    // The deadlines `now` and `now - 1` lie inside the present tick, so they are rounded up to the
    // next one.
    assert_eq!(timers.fired(now), [0, 3, 4]);
    assert_eq!(timers.fired(1_001 * TICK_NS), [1, 2]);
}

#[test]
fn a_clock_going_backwards_stands_still() {
    let mut timers = Timers::new(100 * TICK_NS);
    timers.start(0, 150 * TICK_NS);
    timers.start(1, 101 * TICK_NS);
    assert_eq!(timers.fired(120 * TICK_NS), [1]);
    assert_eq!(timers.fired(TICK_NS), []);
    assert_eq!(timers.wheel.elapsed, 120);
    assert_eq!(timers.fired(150 * TICK_NS), [0]);
}

#[test]
fn each_position_of_a_slot_can_be_removed() {
    // One tick is in level 0, the other in a level that is cascaded.
    for tick in [10, 5_000] {
        for count in 1..=5 {
            for removed in 0..count {
                let mut timers = Timers::new(0);
                let entries: Vec<_> = (0..count).map(|name| timers.start(name, tick * TICK_NS)).collect();
                timers.cancel(entries[removed]);
                assert_eq!(timers.wheel.next_deadline().is_some(), count > 1);
                timers.start(count, tick * TICK_NS);
                let rest: Vec<usize> = (0..=count).filter(|&name| name != removed).collect();
                assert_eq!(timers.fired(tick * TICK_NS), rest);
            }
        }
    }
}

#[test]
fn an_entry_can_be_used_again() {
    let entry = Entry::new(());
    let pinned = NonNull::from(&entry);
    let mut wheel = Wheel::new(0);
    let mut count = 0;
    for round in 1..=3 * SLOTS as u64 {
        // SAFETY: the entry is not linked, as the end of the loop asserts, and outlives the wheel's
        // use of it.
        unsafe { wheel.insert(pinned, round * SECOND) };
        if round % 2 == 0 {
            // SAFETY: the entry is in this wheel.
            unsafe { wheel.remove(pinned) };
        }
        wheel.advance(round * SECOND + TICK_NS, |_| count += 1);
        assert!(!entry.is_linked());
        // SAFETY: the entry is in no wheel, in which case this does nothing.
        unsafe { wheel.remove(pinned) };
        assert_eq!(wheel.len(), 0);
    }
    assert_eq!(count, 3 * SLOTS / 2);
}

#[test]
fn one_advance_keeps_the_order_of_ticks_and_of_insertions() {
    let mut timers = Timers::new(0);
    // Some entries are inserted while their tick is far, the others when it is already near.
    let ticks = [70_u64, 9, 5_000, 70, 300_000, 9, 5_000, 4_096];
    for (name, tick) in ticks.into_iter().enumerate() {
        timers.start(name, tick * TICK_NS);
    }
    assert_eq!(timers.fired(8 * TICK_NS), []);
    for (name, tick) in ticks.into_iter().enumerate() {
        timers.start(name + ticks.len(), tick * TICK_NS);
    }
    let mut expected: Vec<usize> = (0..2 * ticks.len()).collect();
    expected.sort_by_key(|name| ticks[name % ticks.len()]);
    assert_eq!(timers.fired(DAY), expected);
}

#[test]
fn the_boundaries_of_every_level_are_exact() {
    for level in 0..LEVELS as u32 - 1 {
        let span = 1_u64 << (level * DIGIT_BITS);
        for multiple in [1, 2, SLOTS as u64 - 1] {
            let boundary = multiple * span;
            for start in [0, 1, boundary / 2, boundary - 1] {
                for tick in [boundary - 1, boundary, boundary + 1] {
                    let mut timers = Timers::new(start * TICK_NS);
                    timers.start(0, tick * TICK_NS);
                    if tick > start {
                        assert_eq!(timers.fired(tick * TICK_NS - 1), []);
                    }
                    assert_eq!(timers.fired(tick * TICK_NS), [0], "from {start} to {tick}");
                }
            }
        }
    }
}

#[test]
fn a_panic_while_firing_loses_nothing() {
    let entries = [const { Entry::new(()) }; 3];
    let mut wheel = Wheel::new(0);
    for entry in &entries {
        // SAFETY: the entry is new, and stays in its array until all have been handed out.
        unsafe { wheel.insert(NonNull::from(entry), SECOND) };
    }
    let result = catch_unwind(AssertUnwindSafe(|| wheel.advance(DAY, |_| panic!("in the callback"))));
    assert!(result.is_err());
    assert_eq!(entries.each_ref().map(Entry::is_linked), [false, true, true]);
    let mut fired = Vec::new();
    wheel.advance(DAY, |entry| fired.push(entry));
    assert_eq!(fired, [NonNull::from(&entries[1]), NonNull::from(&entries[2])]);
}
