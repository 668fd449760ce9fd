//! Long loops are divided further where fibers may want the domain, and only there.

use lisle_runtime::facade as lisle;

use lisle::Runtime;
use rayon_core::{ThreadPoolBuilder, join_context};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

const ITEMS: Range<u32> = 0..64;
const ITEM: Duration = Duration::from_micros(100);

/// How rayon divides a loop.
fn divided(items: Range<u32>, splits: usize, migrated: bool, piece: &(impl Fn(Range<u32>) + Sync)) {
    let splits = match (migrated, splits) {
        (true, _) => rayon_core::current_num_threads().max(splits / 2),
        (false, 0) => return piece(items),
        (false, _) => splits / 2,
    };
    if items.len() < 2 {
        return piece(items);
    }
    let middle = items.start + items.len() as u32 / 2;
    let (start, end) = (items.start, items.end);
    join_context(
        |a| divided(start..middle, splits, a.migrated(), piece),
        |b| divided(middle..end, splits, b.migrated(), piece),
    );
}

fn spin(time: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Runs a loop, whose pieces take `own` and [`ITEM`] for each item. Returns the number of pieces.
fn pieces(own: Duration) -> usize {
    let pieces = AtomicUsize::new(0);
    divided(ITEMS, rayon_core::current_num_threads(), false, &|items| {
        pieces.fetch_add(1, Relaxed);
        spin(own + ITEM * items.len() as u32);
    });
    pieces.into_inner()
}

#[test]
fn in_a_pool_of_its_own_a_loop_has_the_pieces_that_rayon_makes() {
    let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| (0..5).for_each(|_| assert_eq!(pieces(Duration::ZERO), 2)));
}

#[test]
fn a_long_loop_is_divided_where_fibers_are() {
    Runtime::builder().domains(1).run(|| {
        let first = pieces(Duration::ZERO);
        assert!(first >= 2);
        // The first loop shows how long it takes. Where the machine has much else to do, times are not what they are.
        while pieces(Duration::ZERO) < 16 {}
    });
}

#[test]
fn between_two_pieces_other_fibers_run() {
    Runtime::builder().domains(1).run(|| {
        let turns = AtomicUsize::new(0);
        let is_over = AtomicUsize::new(0);
        lisle::fiber::scope(|scope| {
            scope.spawn(|| {
                while is_over.load(Relaxed) == 0 {
                    turns.fetch_add(1, Relaxed);
                    lisle::fiber::yield_now();
                }
            });
            while turns.load(Relaxed) < 50 {
                pieces(Duration::ZERO);
            }
            is_over.store(1, Relaxed);
        });
    });
}

#[test]
fn a_loop_whose_pieces_are_dear_is_divided_no_further() {
    Runtime::builder().domains(1).run(|| {
        // Another function of a piece is another loop.
        let dear = || {
            let pieces = AtomicUsize::new(0);
            divided(ITEMS, 1, false, &|items| {
                pieces.fetch_add(1, Relaxed);
                spin(Duration::from_millis(2) + ITEM * items.len() as u32);
            });
            pieces.into_inner()
        };
        dear();
        while dear() > 4 {}
    });
}
