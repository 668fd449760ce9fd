//! Bevy's entities. A snapshot saves their components; a rollback makes entities again that have
//! gone meanwhile.

use super::session::{Game, Plan, State, begun, measure, step, sum};
use crate::job::{Job, Outcome};
use bevy_ecs::{prelude::*, schedule::SingleThreadedExecutor};
use std::collections::VecDeque;

#[derive(Component, Clone, Copy)]
struct Thing {
    key: u64,
    state: State,
}

struct Entities {
    plan: Plan,
    world: World,
    schedule: Schedule,
    query: QueryState<&'static Thing>,
    /// The entities, in the order of their keys, and the key of the first.
    all: VecDeque<Entity>,
    first: u64,
}

impl Entities {
    /// Makes the things that are missing at the ends, and removes others.
    fn have(&mut self, first: u64, end: u64, state: impl Fn(u64) -> State) {
        let spawn = |world: &mut World, key| world.spawn(Thing { key, state: state(key) }).id();
        while self.first < first {
            let Some(gone) = self.all.pop_front() else { break };
            self.world.despawn(gone);
            self.first += 1;
        }
        while self.first + self.all.len() as u64 > end {
            let Some(gone) = self.all.pop_back() else { break };
            self.world.despawn(gone);
        }
        if self.all.is_empty() {
            self.first = first;
        }
        while self.first > first {
            self.first -= 1;
            self.all.push_front(spawn(&mut self.world, self.first));
        }
        while self.first + (self.all.len() as u64) < end {
            self.all.push_back(spawn(&mut self.world, self.first + self.all.len() as u64));
        }
    }
}

impl Game for Entities {
    /// In the order of their keys, which begin with this one.
    type Saved = (u64, Vec<State>);

    fn save(&mut self) -> Self::Saved {
        let mut states = vec![[0; 2]; self.all.len()];
        for thing in self.query.iter(&self.world) {
            states[(thing.key - self.first) as usize] = thing.state;
        }
        (self.first, states)
    }

    fn load(&mut self, (first, states): &Self::Saved) {
        self.have(*first, first + states.len() as u64, |key| states[(key - first) as usize]);
        let mut things = self.world.query::<&mut Thing>();
        for mut thing in things.iter_mut(&mut self.world) {
            thing.state = states[(thing.key - first) as usize];
        }
    }

    fn advance(&mut self, frame: u64) {
        let keys = self.plan.keys(frame);
        let last = self.first + self.all.len() as u64;
        self.have(keys.start, last.max(keys.start), begun);
        self.schedule.run(&mut self.world);
        self.have(keys.start, keys.end, begun);
    }

    fn sum(&mut self) -> u64 {
        sum(self.query.iter(&self.world).map(|thing| thing.state))
    }
}

fn step_each(mut things: Query<&mut Thing>) {
    things.iter_mut().for_each(|mut thing| step(&mut thing.state));
}

pub(super) fn bevy(job: &Job) -> Outcome {
    let plan = Plan::new(job);
    let mut world = World::new();
    let mut schedule = Schedule::default();
    schedule.set_executor(SingleThreadedExecutor::new());
    schedule.add_systems(step_each);
    let query = world.query();
    measure(job, plan, Entities { plan, world, schedule, query, all: VecDeque::new(), first: 0 })
}
