//! Bevy's entities: a system goes over them in parallel, with the grid as a resource.

use super::birds::{Bird, Grid, Run};
use crate::job::{Job, Outcome};
use bevy_ecs::{prelude::*, schedule::SingleThreadedExecutor};
use bevy_tasks::{ComputeTaskPool, TaskPoolBuilder};

#[derive(Component)]
struct Flies(Bird);

#[derive(Resource)]
struct Cells(Grid);

pub(super) fn bevy(job: &Job) -> Outcome {
    // The thread of the frame is one of them.
    ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(job.workers - 1).build());
    let (run, birds) = Run::new(job);
    let mut world = World::new();
    world.insert_resource(Cells(Grid::new(birds.len())));
    for bird in birds {
        world.spawn(Flies(bird));
    }
    let mut schedule = Schedule::default();
    schedule.set_executor(SingleThreadedExecutor::new());
    schedule.add_systems((build, step).chain());
    run.measure(world, |world, _| schedule.run(world), all)
}

fn build(birds: Query<&Flies>, mut cells: ResMut<Cells>) {
    let all: Vec<Bird> = birds.iter().map(|bird| bird.0).collect();
    cells.0.build(all.into_iter());
}

fn step(mut birds: Query<&mut Flies>, cells: Res<Cells>) {
    birds.par_iter_mut().for_each(|mut bird| bird.0 = cells.0.step(bird.0));
}

fn all(world: &mut World) -> Vec<Bird> {
    world.query::<&Flies>().iter(world).map(|bird| bird.0).collect()
}
