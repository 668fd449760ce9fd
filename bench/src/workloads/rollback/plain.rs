//! A row of structs, in the order of their keys: the work alone.

use super::session::{Game, Plan, State, begun, measure, step, sum};
use crate::job::{Job, Outcome};

struct Plain {
    plan: Plan,
    things: Vec<(u64, State)>,
}

impl Game for Plain {
    type Saved = Vec<(u64, State)>;

    fn save(&mut self) -> Self::Saved {
        self.things.clone()
    }

    fn load(&mut self, saved: &Self::Saved) {
        self.things.clone_from(saved);
    }

    fn advance(&mut self, frame: u64) {
        let keys = self.plan.keys(frame);
        let gone = self.things.partition_point(|(key, _)| *key < keys.start);
        self.things.drain(..gone);
        let next = self.things.last().map_or(keys.start, |(key, _)| key + 1);
        self.things.iter_mut().for_each(|(_, state)| step(state));
        self.things.extend((next..keys.end).map(|key| (key, begun(key))));
    }

    fn sum(&mut self) -> u64 {
        sum(self.things.iter().map(|(_, state)| *state))
    }
}

pub(super) fn plain(job: &Job) -> Outcome {
    let plan = Plan::new(job);
    measure(job, plan, Plain { plan, things: Vec::new() })
}
