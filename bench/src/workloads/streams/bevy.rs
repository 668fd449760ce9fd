//! Bevy's entities: entities of one kind lie beside each other, and a system goes over them.

use super::{
    Job, Outcome, Plan, Run, of_size,
    plain::Machine,
    plan::{Kind, combined, sum},
};
use bevy_ecs::{prelude::*, schedule::SingleThreadedExecutor};

/// A stream that steps.
#[derive(Component)]
struct Steps<const WORDS: usize>(Machine<WORDS>);

/// The value of a stream that is read, or that reads.
#[derive(Component)]
struct Value(u64);

/// A stream that reads two others.
#[derive(Component)]
struct Reads([Entity; 2]);

pub(super) fn bevy(job: &Job) -> Outcome {
    of_size!(job, of_words)
}

fn of_words<const WORDS: usize>(job: &Job) -> Outcome {
    let plan = Plan::new(job);
    let mut world = World::new();
    let mut schedule = Schedule::default();
    schedule.set_executor(SingleThreadedExecutor::new());
    if plan.kinds.iter().any(|kind| matches!(kind, Kind::Reads(..))) {
        make_all::<WORDS>(&mut world, &plan);
        schedule.add_systems((step_to_be_read::<WORDS>, read).chain());
    } else {
        make_simple::<WORDS>(&mut world, &plan);
        schedule.add_systems(step::<WORDS>);
    }
    let run = Run::<WORDS>::new(job, &plan);
    run.measure(world, |world| schedule.run(world), sum_of::<WORDS>)
}

fn make_simple<const WORDS: usize>(world: &mut World, plan: &Plan) {
    let make = |world: &mut World, kind: Kind| {
        let Kind::Steps(first) = kind else { unreachable!("none of these reads") };
        world.spawn(Steps::<WORDS>(Machine::new(first))).id()
    };
    let all: Vec<Entity> = plan.kinds.iter().map(|&kind| make(world, kind)).collect();
    for &stream in &plan.again {
        world.despawn(all[stream as usize]);
        make(world, plan.kinds[stream as usize]);
    }
}

fn make_all<const WORDS: usize>(world: &mut World, plan: &Plan) {
    let mut all: Vec<Entity> = Vec::with_capacity(plan.kinds.len());
    for kind in &plan.kinds {
        let entity = match *kind {
            Kind::Steps(first) => world.spawn((Steps::<WORDS>(Machine::new(first)), Value(0))),
            Kind::Reads(a, b) => world.spawn((Reads([a, b].map(|other| all[other as usize])), Value(0))),
        };
        all.push(entity.id());
    }
}

fn step<const WORDS: usize>(mut streams: Query<&mut Steps<WORDS>>) {
    streams.iter_mut().for_each(|mut stream| stream.0.frame());
}

fn step_to_be_read<const WORDS: usize>(mut streams: Query<(&mut Steps<WORDS>, &mut Value)>) {
    streams.iter_mut().for_each(|(mut stream, mut value)| {
        stream.0.frame();
        value.0 = stream.0.value();
    });
}

/// They are visited in the order in which they were made: an entity that is read already has its
/// value of this frame.
fn read(readers: Query<(Entity, &Reads)>, mut values: Query<&mut Value>) {
    for (reader, Reads(others)) in &readers {
        let [a, b] = others.map(|other| values.get(other).expect("none is removed").0);
        values.get_mut(reader).expect("none is removed").0 = combined(a, b);
    }
}

fn sum_of<const WORDS: usize>(world: &mut World) -> u64 {
    let steps = sum(world.query::<&Steps<WORDS>>().iter(world).map(|stream| stream.0.value()));
    let reads = sum(world.query_filtered::<&Value, With<Reads>>().iter(world).map(|value| value.0));
    sum([steps, reads])
}
