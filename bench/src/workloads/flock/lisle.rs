//! Lisle's streams. The grid is the host's, and lent to the calls of each frame.

use super::birds::{Bird, Grid, Run};
use crate::job::{Job, Outcome};
use lisle_frame::{Foreign, Lent, Stream, Workers, World};

/// How many birds a stream has, if it has several.
const CHUNK: usize = 256;

/// A stream for each bird.
pub(super) fn each(job: &Job) -> Outcome {
    let (run, birds) = Run::new(job);
    let grid = Lent::<Grid>::new("grid");
    let step = Foreign::new("step", move |bird: Bird| grid.with(|grid| grid.step(bird)));
    with_workers(job, |world| {
        let first = birds.clone();
        let flock = world.list(birds.len(), move |nth| {
            let mut bird = first[nth];
            async move || {
                bird = step.call(bird).await;
                bird
            }
        });
        let values = world.values(flock);
        let frame = |(world, birds): &mut (World, Vec<Bird>), own: &mut Grid| {
            own.build(birds.iter().copied());
            world.lend(grid, own).frame();
            world.with(values, |values| birds.copy_from_slice(values)).expect("each has stepped");
        };
        run.measure((world, birds), frame, |(_, birds)| birds.clone())
    })
}

/// A stream for some birds, which one call moves.
pub(super) fn chunks(job: &Job) -> Outcome {
    let (run, birds) = Run::new(job);
    let grid = Lent::<Grid>::new("grid");
    let step = Foreign::new("step", move |mut birds: Vec<Bird>| {
        grid.with(|grid| birds.iter_mut().for_each(|bird| *bird = grid.step(*bird)));
        birds
    });
    let step = step.batch(1);
    with_workers(job, |world| {
        let begun = |birds: &[Bird]| {
            let first = birds.to_vec();
            let before = world.delay(first);
            let last = before.stream();
            let stream = world.stream(async move || step.call(last.await).await);
            before.follow(stream);
            stream
        };
        let streams: Vec<Stream<Vec<Bird>>> = birds.chunks(CHUNK).map(begun).collect();
        let frame = |(world, birds): &mut (World, Vec<Bird>), own: &mut Grid| {
            own.build(birds.iter().copied());
            world.lend(grid, own).frame();
            for (birds, &stream) in birds.chunks_mut(CHUNK).zip(&streams) {
                world.with(stream, |values| birds.copy_from_slice(values)).expect("it has stepped");
            }
        };
        run.measure((world, birds), frame, |(_, birds)| birds.clone())
    })
}

/// Gives `main` a world that has as many threads as the job asks for, its own among them.
fn with_workers(job: &Job, main: impl FnOnce(World) -> Outcome) -> Outcome {
    if job.workers == 1 {
        return main(World::new());
    }
    let workers = Workers::pinned(job.workers - 1).expect("threads can be started");
    main(World::builder().pool(&workers).build())
}
