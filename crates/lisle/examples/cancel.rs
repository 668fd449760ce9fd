//! Cancelling a fiber, waiting for it, and handling a panic of a fiber.
//!
//! Run it with `cargo run -p lisle --example cancel`.

use lisle::time::{after, sleep};
use lisle::{Event, choose, fiber};
use std::time::Duration;

fn main() {
    lisle::run(|| {
        // Cancellation is cooperative: the fiber learns of the request by an alternative of its choice.
        let ticker = fiber::Builder::new().name("ticker").spawn(|| {
            let next = choose((
                after(Duration::from_millis(5)).wrap(|()| true),
                fiber::cancelled_evt().wrap(|()| false),
            ));
            let mut ticks = 0;
            while next.sync() {
                ticks += 1;
            }
            ticks
        });
        sleep(Duration::from_millis(60));
        ticker.cancel();
        let ended =
            choose((ticker.join_evt().wrap(Result::ok), after(Duration::from_secs(10)).wrap(|()| None)));
        let ticks: u32 = ended.sync().expect("it listens every 5 ms");
        println!("'{}' has ticked {ticks} times", ticker.name().unwrap_or("?"));
        assert!(ticks > 0);

        // Fibers that borrow. Only the caller that joins a fiber gets its panic.
        let numbers = [3, 1, 4, 1, 5];
        fiber::scope(|scope| {
            let sum = scope.spawn(|| numbers.iter().sum::<i32>());
            let beyond = scope.spawn(|| numbers[numbers.len()]);
            assert_eq!(sum.join().unwrap(), 14);
            let error = beyond.join().unwrap_err();
            println!("as expected: {error}");
            assert!(error.is_panic());
        });
    });
}
