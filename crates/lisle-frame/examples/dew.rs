//! The programs by which Dew, the language that this crate comes from, has shown its parallelism,
//! line by line. Dew's text is in a comment, and the line for this crate is below it.
//!
//! Run it with `cargo run --release -p lisle-frame --example dew`. Without `--release` the
//! benchmark is a small one.

use lisle_frame::{Foreign, Workers, World};
use std::mem::take;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

/// The number of frames that are timed, after one that is not.
const FRAMES: u32 = 10;

/// A block of memory that the engine works on. Dew has a pointer to it. Here the stream owns it,
/// moves it to the call, and gets it back as the result.
type Chunk = Vec<i32>;

/// The engine's function, for one of Dew's three workloads.
type Work = fn(Chunk, i32) -> Chunk;

fn main() {
    two_streams();
    println!("\n{:12}{:>8}{:>12}{:>12}", "workload", "workers", "mean", "worst");
    let nchunks = if cfg!(debug_assertions) { 1_000 } else { 30_000 };
    for (name, dowork) in [("none", none as Work), ("arith", arith), ("memory", memory)] {
        for workers in [0, 1, 2] {
            benchmark(name, dowork, workers, nchunks, 100);
        }
    }
    in_a_row(2, nchunks / 30, 30, 100);
}

/// Two streams that call a function of the engine in each frame.
fn two_streams() {
    // The body of the engine's function, which shows that it was called.
    static SUM: AtomicI32 = AtomicI32::new(0);
    let native = |n: i32| {
        SUM.fetch_add(n, Ordering::Relaxed);
    };
    let mut world = World::new();

    // extern func func1: int32 -> () = "func1"
    let func1 = Foreign::new("func1", native);

    // let x1 = dew -> func1 1
    let x1 = world.stream(async move || func1(1));
    // let x2 = dew -> func1 2
    let x2 = world.stream(async move || func1(2));

    let report = world.frame();
    assert_eq!((SUM.swap(0, Ordering::Relaxed), report.calls), (3, 0));
    println!("func1 was called with 1 and 2, by the streams themselves");

    world.remove(x1).and(world.remove(x2)).expect("they are streams of this world");

    // let x1 = dew -> (async func1) 1
    world.stream(async move || func1.call(1).await);
    // let x2 = dew -> (async func1) 2
    world.stream(async move || func1.call(2).await);

    let report = world.frame();
    assert_eq!((SUM.load(Ordering::Relaxed), report.calls), (3, 2));
    println!("func1 was called with 1 and 2, asynchronously");
}

/// The benchmark: a list of streams. In each frame each stream has the engine work on its chunk.
fn benchmark(workload: &str, native: Work, workers: usize, nchunks: usize, chunksize: i32) {
    let pool = Workers::new(workers).expect("the system gives threads");
    let mut world = World::builder().pool(&pool).build();
    let dowork = Foreign::new("dowork", native).batch(100);

    // let chunks = linit nchunks $ fun _ ->
    //    makework chunksize
    let mut chunks: Vec<Chunk> = (0..nchunks).map(|_| makework(chunksize)).collect();

    // let work chunk = dew ->
    //    (async dowork) chunk chunksize
    let work = |mut chunk: Chunk| {
        async move || {
            chunk = dowork.call((take(&mut chunk), chunksize)).await;
            chunk[0]
        }
    };

    // let main = lmap work chunks
    let main = world.list(nchunks, |at| work(take(&mut chunks[at])));

    let (mean, worst) = time(&mut world);
    println!("{workload:12}{workers:>8}{mean:>12.2?}{worst:>12.2?}");

    let doubled = if workload == "memory" { 1 << (FRAMES + 1) } else { 1 };
    let main = world.get(main.members()).expect("a list does not fail");
    assert!(main.iter().all(|&stream| world.get(stream).is_ok_and(|first| first == doubled)));
}

/// The same with many calls in a row in each stream. The calls would lose the cache if each went
/// to another core. Here all calls of a stream go to the same core.
fn in_a_row(workers: usize, nchunks: usize, seq: u32, chunksize: i32) {
    let pool = Workers::new(workers).expect("the system gives threads");
    let mut world = World::builder().pool(&pool).build();
    let dowork = Foreign::new("dowork", memory).homed();

    // let work chunk = dew ->
    //    for i = 1 to seq do
    //       (async dowork) chunk chunksize
    let work = |mut chunk: Chunk| {
        async move || {
            for _ in 1..=seq {
                chunk = dowork.call((take(&mut chunk), chunksize)).await;
            }
        }
    };
    world.list(nchunks, |_| work(makework(chunksize)));

    let (mean, worst) = time(&mut world);
    println!("{:12}{workers:>8}{mean:>12.2?}{worst:>12.2?}", format!("{seq} in a row"));
}

/// Returns the mean and the longest time of some frames after the first.
fn time(world: &mut World) -> (Duration, Duration) {
    world.frame();
    let times: Vec<Duration> = (0..FRAMES).map(|_| world.frame().total).collect();
    (times.iter().sum::<Duration>() / FRAMES, times.into_iter().max().unwrap_or_default())
}

fn makework(chunksize: i32) -> Chunk {
    vec![1; chunksize as usize]
}

// int* sc_dowork(int* chunk, int chunksize) {
//    return chunk;
// }
fn none(chunk: Chunk, _chunksize: i32) -> Chunk {
    chunk
}

// int* sc_dowork(int* chunk, int chunksize) {
//    int x = chunksize;
//    for (int i = 1; i <= chunksize; i++)
//       x *= chunksize;
//    return chunk;
// }
fn arith(chunk: Chunk, chunksize: i32) -> Chunk {
    let mut x = chunksize;
    for _ in 1..=chunksize {
        x = std::hint::black_box(x.wrapping_mul(chunksize));
    }
    chunk
}

// int* sc_dowork(int* chunk, int chunksize) {
//    for (int i = 0; i < chunksize; i++)
//       chunk[i] = chunk[i] * 2;
//    return chunk;
// }
fn memory(mut chunk: Chunk, _chunksize: i32) -> Chunk {
    for i in &mut chunk {
        *i = i.wrapping_mul(2);
    }
    chunk
}
