//! The orders of the buffer that differ, by hand: a thread that puts two messages into one place,
//! and one that takes them, with a condition variable each, in all interleavings of their steps.
//!
//! A *section* is the code of a thread under the lock. Two interleavings are the same if each
//! section follows the same section, each notification comes after the same looks and waits, and
//! each wait is ended by the same notification.

use std::collections::BTreeSet;

/// The next step of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Section,
    /// Waits, unless it was notified since it has looked.
    Wait,
    Notify,
    Nothing,
    /// It waits.
    Asleep,
}

/// The steps that a thread has taken, each with the step that it came after.
type History = Vec<(&'static str, usize)>;

#[derive(Debug, Clone)]
struct State {
    is_full: bool,
    next: [Next; 2],
    /// How many messages each has put or taken.
    messages: [u32; 2],
    /// How often each was notified, and how often it was when it looked.
    notified: [u32; 2],
    since: [u32; 2],
    /// The last section, and the last step that has changed the condition that each waits for.
    section: usize,
    condition: [usize; 2],
    histories: [History; 2],
}

impl State {
    /// Returns the state after the next step of a thread. If `waits_at_once`, a thread that finds
    /// the place as it does not want it waits in the same step.
    fn after(&self, thread: usize, waits_at_once: bool) -> State {
        let (mut state, other) = (self.clone(), 1 - thread);
        let name = 2 * self.histories[thread].len() + thread + 1;
        let (what, origin) = match self.next[thread] {
            Next::Section if self.is_full == (thread == 1) => {
                (state.is_full, state.next[thread]) = (thread == 0, Next::Notify);
                ("changes", self.section)
            }
            Next::Section => {
                state.histories[thread].push(("looks", self.condition[thread]));
                state.since[thread] = self.notified[thread];
                state.next[thread] = if waits_at_once { Next::Asleep } else { Next::Wait };
                ("finds", self.section)
            }
            Next::Wait if self.notified[thread] != self.since[thread] => {
                state.next[thread] = Next::Section;
                ("goes on", self.condition[thread])
            }
            Next::Wait => {
                state.next[thread] = Next::Asleep;
                ("waits", self.condition[thread])
            }
            Next::Notify => {
                state.messages[thread] += 1;
                state.notified[other] += 1;
                state.next[thread] = if state.messages[thread] == 2 { Next::Nothing } else { Next::Section };
                if self.next[other] == Next::Asleep {
                    state.next[other] = Next::Section;
                    state.histories[other].push(("is woken", name));
                }
                ("notifies", self.condition[other])
            }
            Next::Nothing | Next::Asleep => unreachable!("it can do nothing"),
        };
        match what {
            "changes" => state.section = name,
            "finds" => {
                state.section = name;
                if waits_at_once {
                    state.condition[thread] = name;
                }
            }
            "waits" => state.condition[thread] = name,
            "notifies" => state.condition[other] = name,
            _ => {}
        }
        state.histories[thread].push((what, origin));
        state
    }

    /// Adds the observations at the end of each interleaving.
    fn explore(&self, waits_at_once: bool, all: &mut BTreeSet<[History; 2]>) {
        let can_run = |thread: &usize| !matches!(self.next[*thread], Next::Nothing | Next::Asleep);
        let mut runnable = [0, 1].into_iter().filter(can_run).peekable();
        if runnable.peek().is_none() {
            assert_eq!(self.messages, [2, 2], "it blocks: {self:?}");
            all.insert(self.histories.clone());
        }
        runnable.for_each(|thread| self.after(thread, waits_at_once).explore(waits_at_once, all));
    }
}

fn orders(waits_at_once: bool) -> usize {
    let begin = State {
        is_full: false,
        next: [Next::Section; 2],
        messages: [0; 2],
        notified: [0; 2],
        since: [0; 2],
        section: 0,
        condition: [0; 2],
        histories: [Vec::new(), Vec::new()],
    };
    let mut all = BTreeSet::new();
    begin.explore(waits_at_once, &mut all);
    all.len()
}

/// Were waiting one step with the section, there would be ten.
#[test]
fn thirty_four_orders_of_the_buffer_differ() {
    assert_eq!((orders(false), orders(true)), (34, 10));
}
