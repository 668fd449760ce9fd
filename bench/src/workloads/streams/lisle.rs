//! Lisle's streams: a stream that steps lives over frames, and a stream that reads is run anew in
//! each.

use super::{
    Job, Outcome, Plan, Run, of_size,
    plan::{Kind, begun, combined, step, sum},
};
use lisle_frame::{Stream, World, next_frame};

pub(super) fn lisle(job: &Job) -> Outcome {
    of_size!(job, of_words)
}

fn of_words<const WORDS: usize>(job: &Job) -> Outcome {
    let plan = Plan::new(job);
    let mut all: Vec<Stream<u64>> = Vec::with_capacity(plan.kinds.len());
    let world = World::new();
    for &kind in &plan.kinds {
        let stream = make::<WORDS>(&world, kind, &all);
        all.push(stream);
    }
    for &stream in &plan.again {
        let stream = stream as usize;
        world.remove(all[stream]).expect("it is there");
        all[stream] = make::<WORDS>(&world, plan.kinds[stream], &all);
    }
    let frame = |world: &mut World| {
        world.frame();
    };
    let value = |world: &World, stream| world.get(stream).expect("each has a value");
    let all = |world: &mut World| sum(all.iter().map(|&stream| value(world, stream)));
    Run::<WORDS>::new(job, &plan).measure(world, frame, all)
}

fn make<const WORDS: usize>(world: &World, kind: Kind, all: &[Stream<u64>]) -> Stream<u64> {
    match kind {
        Kind::Steps(first) => world.live(0, async move |out| {
            let mut state = begun::<WORDS>(first);
            loop {
                out.set(step(&mut state));
                next_frame().await;
            }
        }),
        Kind::Reads(a, b) => {
            let (a, b) = (all[a as usize], all[b as usize]);
            world.stream(async move || combined(a.await, b.await))
        }
    }
}
