//! Lisle's streams, each of which awaits its calls. The function is foreign: other threads make its
//! calls, in batches.

use crate::{
    frames::{Calls, Chunk},
    job::{Job, Outcome, timed},
    peers,
};
use lisle_frame::{Domains, Foreign, Stream, Workers, World};

/// The world decides how many calls are a batch, and which are not worth one.
pub(super) fn lisle(job: &Job) -> Outcome {
    with_workers(job, |world| one_call(job, world, None))
}

/// Batches of a hundred, as in the text.
pub(super) fn batches(job: &Job) -> Outcome {
    with_workers(job, |world| one_call(job, world, Some(100)))
}

/// The domains of a runtime make the calls, and the world is in a fiber.
pub(super) fn domains(job: &Job) -> Outcome {
    peers::runtime(job.workers).run(|| {
        let world = World::builder().pool(Domains::current()).build();
        one_call(job, world, None)
    })
}

fn one_call(job: &Job, world: World, batch: Option<usize>) -> Outcome {
    let calls = Calls::new(job);
    let call = calls.call;
    let work = Foreign::new("dowork", move |chunk: Chunk| call.once(chunk));
    let work = batch.map_or(work, |calls| work.batch(calls));
    measure(calls, world, |world, chunk| world.stream(async move || work.call(chunk).await))
}

/// Each call of a row is awaited before the next is made.
pub(in super::super) fn in_a_row(job: &Job) -> Outcome {
    with_workers(job, |world| awaited_in_a_row(job, world, false))
}

/// The same, but one worker makes all calls of a stream.
pub(in super::super) fn homed(job: &Job) -> Outcome {
    with_workers(job, |world| awaited_in_a_row(job, world, true))
}

fn awaited_in_a_row(job: &Job, world: World, is_homed: bool) -> Outcome {
    let calls = Calls::new(job);
    let (call, count) = (calls.call, job.param("in-a-row"));
    let work = Foreign::new("dowork", move |chunk: Chunk| call.once(chunk));
    let work = if is_homed { work.homed() } else { work };
    let in_a_row = async move |mut chunk| {
        for _ in 0..count {
            chunk = work.call(chunk).await;
        }
        chunk
    };
    measure(calls, world, |world, chunk| world.stream(async move || in_a_row(chunk).await))
}

/// The calls of a row are a chain, which travels as one.
pub(in super::super) fn chain(job: &Job) -> Outcome {
    assert_eq!(job.param("in-a-row"), 30, "so many are put together here");
    let calls = Calls::new(job);
    let call = calls.call;
    let one = Foreign::new("dowork", move |chunk: Chunk| call.once(chunk));
    let two = one.then(one);
    let four = two.clone().then(two.clone());
    let eight = four.clone().then(four.clone());
    let sixteen = eight.clone().then(eight.clone());
    let all = sixteen.then(eight).then(four).then(two);
    with_workers(job, |world| {
        measure(calls, world, |world, chunk| {
            let all = all.clone();
            world.stream(async move || all.call(chunk).await)
        })
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

/// Measures the frames of a world that has a stream for each chunk.
fn measure(mut calls: Calls, mut world: World, make: impl Fn(&World, Chunk) -> Stream<Chunk>) -> Outcome {
    let streams: Vec<_> = calls.streams.iter().map(|stream| make(&world, stream.chunk)).collect();
    while calls.goes_on() {
        let took = timed(|| {
            world.frame();
        });
        // They are looked at where no frame is measured.
        if calls.is_first() {
            calls.have_given(streams.iter().map(|&stream| value(&world, stream)));
        }
        calls.note(took);
    }
    calls.have_given(streams.iter().map(|&stream| value(&world, stream)));
    calls.outcome()
}

fn value(world: &World, stream: Stream<Chunk>) -> Chunk {
    world.get(stream).expect("the stream has called")
}
