//! How long `snapshot` and `restore` take for a world of half a million streams.
//!
//!     cargo run --release -p lisle-frame --example rollback -- [STREAMS]
//!
//! Times are the least of several rounds, in nanoseconds for each stream. The last number is the
//! time of `restore` divided by the time of `snapshot`.

use lisle_frame::{World, here};
use std::time::Instant;

const ROUNDS: usize = 9;

fn measure(name: &str, streams: usize, world: &mut World, mut change: impl FnMut(&mut World, bool)) {
    let (mut snapshots, mut ways_back) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        let snapshot = world.snapshot().expect("all streams are at rest");
        snapshots.push(begin.elapsed());
        for _ in 0..2 {
            change(world, true);
            world.frame();
        }
        let begin = Instant::now();
        world.restore(&snapshot).expect("all streams are there, or come back");
        ways_back.push(begin.elapsed());
        change(world, false);
        world.frame();
    }
    let least = |times: Vec<std::time::Duration>| {
        times.into_iter().min().unwrap_or_default().as_secs_f64() * 1e9 / streams as f64
    };
    let (snapshot, back) = (least(snapshots), least(ways_back));
    println!(
        "{name:32} {streams:8} streams: snapshot {snapshot:6.1}, back {back:6.1}, {:.2}",
        back / snapshot
    );
}

fn main() {
    let streams = std::env::args().nth(1).and_then(|number| number.parse().ok()).unwrap_or(500_000);

    let mut world = World::new();
    let one = world.stream(async || 1_u64);
    for n in 0..streams as u64 {
        world.fold(one, n, |sum, one| *sum += one);
    }
    world.frame();
    measure("numbers", streams, &mut world, |_, _| {});

    let mut world = World::new();
    let one = world.stream(async || 1_u64);
    for n in 0..streams as u64 {
        world.fold(one, vec![n], |all, one| all[0] += one);
    }
    world.frame();
    measure("vectors", streams, &mut world, |_, _| {});

    // A tenth of the members is replaced.
    let mut world = World::new();
    let one = world.stream(async || 1_u64);
    let members = streams as u64 / 2;
    let keys = world.input((0..members).collect::<Vec<_>>());
    world.keyed(keys.stream(), move |_| {
        let age = here().fold(one, 0, |age, one| *age += one);
        async move || age.await
    });
    world.frame();
    world.frame();
    measure("members, of which a tenth goes", streams, &mut world, |world, is_changed| {
        let from = if is_changed { members / 10 } else { 0 };
        world.set(keys, (from..from + members).collect()).expect("the input is there");
    });
}
