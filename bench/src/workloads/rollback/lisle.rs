//! Lisle's streams: one for each thing, whose state is its value.

use super::session::{Game, Plan, State, begun, measure, step, sum};
use crate::job::{Job, Outcome};
use lisle_frame::{Input, List, Snapshot, Stream, World, here};

struct Streams {
    plan: Plan,
    world: World,
    keys: Input<Vec<u64>>,
    things: List<State>,
}

impl Game for Streams {
    type Saved = Snapshot;

    fn save(&mut self) -> Snapshot {
        self.world.snapshot().expect("all state is in values")
    }

    fn load(&mut self, saved: &Snapshot) {
        self.world.restore(saved).expect("it is of this world");
    }

    fn advance(&mut self, frame: u64) {
        if frame == 1 || self.plan.turnover > 0 {
            self.world.set(self.keys, self.plan.keys(frame).collect()).expect("the input is there");
        }
        self.world.frame();
    }

    fn sum(&mut self) -> u64 {
        let members =
            self.world.with(self.things.members(), |all| all.iter().copied().collect::<Vec<Stream<State>>>());
        let members = members.expect("the list has been made");
        sum(members.into_iter().map(|thing| self.world.get(thing).expect("each has a state")))
    }
}

pub(super) fn lisle(job: &Job) -> Outcome {
    let plan = Plan::new(job);
    let world = World::new();
    let keys = world.input(Vec::new());
    let one = world.stream(async || ());
    let things =
        world.keyed_of(keys.stream(), move |key| here().fold(one, begun(key), |state, ()| step(state)));
    measure(job, plan, Streams { plan, world, keys, things })
}
