//! The session and its things, for all systems.

use super::{COME_AND_GO, STEADY};
use crate::{
    frames::Frames,
    job::{Job, Outcome},
};
use std::collections::VecDeque;
use std::ops::Range;

/// How many frames the session goes back.
const BACK: usize = 7;

/// The state of a thing.
pub(super) type State = [u64; 2];

pub(super) fn begun(key: u64) -> State {
    [key, 0]
}

/// Takes a step.
pub(super) fn step([random, steps]: &mut State) {
    *steps += 1;
    *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(*steps);
}

/// The sum of all states, in any order.
pub(super) fn sum(states: impl IntoIterator<Item = State>) -> u64 {
    states.into_iter().fold(0, |sum, [random, steps]| sum.wrapping_add(random ^ steps))
}

/// Which things there are.
#[derive(Clone, Copy)]
pub(super) struct Plan {
    things: u64,
    /// How many things go in each frame; as many come.
    pub(super) turnover: u64,
}

impl Plan {
    pub(super) fn new(job: &Job) -> Plan {
        let things = job.param("things");
        let turnover = match job.variant.as_str() {
            STEADY => 0,
            COME_AND_GO => things / 100,
            variant => panic!("no variant `{variant}`"),
        };
        Plan { things, turnover }
    }

    /// Returns the keys of the things that there are in a frame.
    pub(super) fn keys(&self, frame: u64) -> Range<u64> {
        let first = frame * self.turnover;
        first..first + self.things
    }
}

/// A game, in which each thing takes a step in each frame after that in which it has come.
pub(super) trait Game {
    type Saved;
    fn save(&mut self) -> Self::Saved;
    fn load(&mut self, saved: &Self::Saved);
    /// Goes on to this frame.
    fn advance(&mut self, frame: u64);
    fn sum(&mut self) -> u64;
}

/// Measures the frames of a session. The sum of all states must be the sum of things that never went
/// back.
pub(super) fn measure<G: Game>(job: &Job, plan: Plan, mut game: G) -> Outcome {
    let (mut frames, mut checksum) = (Frames::new(job), 0);
    let mut saved = VecDeque::with_capacity(BACK + 1);
    let mut now = 1;
    game.advance(now);
    while frames.goes_on() {
        frames.time(|| {
            saved.push_back(game.save());
            now += 1;
            game.advance(now);
            if saved.len() > BACK {
                saved.pop_front();
            }
            game.load(&saved[0]);
            let first = now - saved.len() as u64;
            saved.truncate(1);
            for frame in first..now {
                if frame > first {
                    saved.push_back(game.save());
                }
                game.advance(frame + 1);
            }
        });
        if frames.count() == 1 {
            checksum = game.sum();
        }
    }
    let state = |key: u64| {
        let came = if key < plan.keys(1).end { 1 } else { (key - plan.keys(0).end) / plan.turnover + 1 };
        let mut state = begun(key);
        (came..now).for_each(|_| step(&mut state));
        state
    };
    assert_eq!(game.sum(), sum(plan.keys(now).map(state)), "the states of all things");
    Outcome { checksum: Some(checksum), ..frames.outcome() }
}
