//! How fast a heap is, in three programs:
//!
//! - `cargo run --release --manifest-path bench/heap_trees/Cargo.toml -- [DEPTH [ROUNDS [THREADS]]]` makes binary trees in
//!   `lisle-heap`, in boxes and in gc-arena, and prints the time of each system, its processor time and its largest
//!   resident memory, in each of the rounds. The work is the same for each number of threads.
//! - With `-- places [ROUNDS]` it measures the heap alone: what an entry and an allocation take, and what the threads
//!   in a heap take from each other.
//! - With `-- pauses [MIB [SECONDS [THREADS]]]` it measures how long threads are kept from their work beside a large heap, and
//!   compares that with Go.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod clock;
mod pauses;
mod places;
mod trees;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize, otherwise: u32| {
        arguments.get(index).map_or(otherwise, |text| text.parse().expect("an argument is a number"))
    };
    if arguments.first().is_some_and(|first| first == "places") {
        places::measure(number(1, 9) as usize);
        return;
    }
    if arguments.first().is_some_and(|first| first == "pauses") {
        pauses::compare(number(1, 256).into(), number(2, 5).into(), number(3, 2).into());
        return;
    }
    if arguments.first().is_some_and(|first| first == "pauses-of") {
        pauses::run_one(&arguments[1], number(2, 0).into(), number(3, 1).into(), number(4, 1).into());
        return;
    }
    let (depth, rounds, threads) = (number(0, 18), number(1, 3), number(2, 1) as usize);
    assert!(threads > 0, "the trees need a thread");
    match arguments.get(3) {
        Some(_) => trees::run_one(depth, threads, number(3, 0) as usize),
        None => trees::compare(depth, rounds, threads),
    }
}
