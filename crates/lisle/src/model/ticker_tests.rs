//! Tickers in virtual time.

use super::run;
use crate::Event;
use crate::time::{MissedTicks, Ticker, sleep, ticker};
use lisle_core::event;
use lisle_core::internal::shim;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const PERIOD: Duration = Duration::from_secs(10);

/// Runs `look` in virtual time, where no tick is late.
fn in_virtual_time(look: fn()) {
    for seed in 0..50 {
        run(seed, look);
    }
}

fn taken(ticker: &Ticker, since: Instant, count: usize) -> Vec<u64> {
    (0..count).map(|_| ticker.tick().duration_since(since).as_secs()).collect()
}

fn here() -> Instant {
    shim::clock::instant_of(event::now())
}

#[test]
fn ticks_come_at_multiples_of_the_period() {
    in_virtual_time(|| {
        let start = here();
        let ticker = ticker(PERIOD);
        assert_eq!(ticker.tick_evt().poll(), None);
        for round in 1..100 {
            assert_eq!(ticker.tick(), start + PERIOD * round);
            // The delay of the caller does not matter as long as it is shorter than the period.
            sleep(Duration::from_millis(u64::from(round) * 99));
        }
    });
}

#[test]
fn missed_ticks_are_dealt_with_as_wished() {
    in_virtual_time(|| {
        for (missed, expected) in [
            (MissedTicks::Skip, [10, 40, 50, 60]),
            (MissedTicks::Burst, [10, 20, 30, 40]),
            (MissedTicks::Delay, [10, 45, 55, 65]),
        ] {
            let start = here();
            let ticker = ticker(PERIOD).missed(missed);
            sleep(Duration::from_secs(35));
            assert_eq!(taken(&ticker, start, 4), expected, "{missed:?}");
        }
    });
}

#[test]
fn each_tick_is_taken_once() {
    in_virtual_time(|| {
        let start = here();
        let (ticker, all) = (Arc::new(ticker(PERIOD)), Arc::new(Mutex::new(Vec::new())));
        let fibers: Vec<_> = (0..3)
            .map(|_| {
                let (ticker, all) = (ticker.clone(), all.clone());
                crate::spawn(move || {
                    for _ in 0..4 {
                        let tick = ticker.tick().duration_since(start).as_secs();
                        all.lock().unwrap().push(tick);
                    }
                })
            })
            .collect();
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
        let mut all = all.lock().unwrap().clone();
        all.sort_unstable();
        assert_eq!(all, (1..=12).map(|n| 10 * n).collect::<Vec<_>>());
    });
}

#[test]
fn a_reset_wakes_the_waiters() {
    in_virtual_time(|| {
        let start = here();
        let ticker = Arc::new(ticker(PERIOD));
        let waits = {
            let ticker = ticker.clone();
            crate::spawn(move || taken(&ticker, start, 3))
        };
        sleep(Duration::from_secs(7));
        ticker.reset(); // later
        sleep(Duration::from_secs(5));
        ticker.reset_at(here() + Duration::from_secs(1)); // earlier
        assert_eq!(waits.join().unwrap(), [13, 23, 33]);
    });
}
