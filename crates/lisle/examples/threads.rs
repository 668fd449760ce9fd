//! Plain OS threads and fibers on one channel, in a runtime that the program starts.
//!
//! Run it with `cargo run -p lisle --example threads`.

use lisle::{Runtime, channel};
use std::thread;
use std::time::Duration;

const THREADS: u64 = 3;
const EACH: u64 = 1_000;

fn main() -> std::io::Result<()> {
    // All domains run on the runtime's own threads, so this thread stays a plain one.
    let runtime = Runtime::builder().domains(2).thread_name("workers").start()?;
    let (numbers, given) = channel::bounded::<u64>(16);
    let (sum, sums) = channel::<u64>();

    // Four fibers take the numbers. Each message goes to one of them.
    for _ in 0..4 {
        let (given, sum) = (given.clone(), sum.clone());
        runtime.spawn(move || sum.send(given.iter().sum()).expect("the main thread adds up"));
    }
    drop((given, sum));

    // Three threads send the numbers. A thread that has to wait parks as a thread, and a fiber parks as
    // a fiber.
    thread::scope(|scope| {
        for _ in 0..THREADS {
            let numbers = numbers.clone();
            scope.spawn(move || (1..=EACH).for_each(|n| numbers.send(n).expect("the fibers take them")));
        }
    });
    drop(numbers); // The last sender is dropped, so the fibers end.

    let total: u64 = sums.iter().sum();
    println!("the total is {total}");
    assert_eq!(total, THREADS * EACH * (EACH + 1) / 2);

    let shutdown = runtime.shutdown(Duration::from_secs(5));
    println!("{shutdown}");
    assert!(shutdown.is_clean());
    Ok(())
}
