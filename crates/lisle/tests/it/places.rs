//! Where fibers go that are spread, or spawned near others.

use crate::support::watched;
use lisle::fiber::{self, Builder, JoinHandle};
use lisle::sync::Latch;
use lisle::{Runtime, channel};
use std::collections::HashMap;
use std::sync::Arc;
use std::thread::{self, ThreadId};

fn here() -> ThreadId {
    thread::current().id()
}

/// Runs `f` on `domains` domains, whose threads have names that tell them apart.
fn on(domains: usize, f: impl FnOnce()) {
    Runtime::builder().domains(domains).stall_report(None).run(f);
}

/// Spawns a fiber that says where it is when `end` opens.
fn stays_until(end: &Arc<Latch>, builder: Builder) -> JoinHandle<ThreadId> {
    let end = end.clone();
    builder.spawn(move || {
        end.wait();
        here()
    })
}

fn spread() -> Builder {
    Builder::new().spread()
}

#[test]
fn spread_fibers_are_shared_out_evenly() {
    let _watched = watched();
    for domains in [1, 2, 3, 8] {
        on(domains, || {
            let end = Arc::new(Latch::new(1));
            let fibers: Vec<_> = (0..4 * domains).map(|_| stays_until(&end, spread())).collect();
            end.count_down();
            let mut counts = HashMap::new();
            for fiber in fibers {
                *counts.entry(fiber.join().unwrap()).or_insert(0) += 1;
            }
            assert_eq!(counts.len(), domains, "{counts:?}");
            assert!(counts.values().all(|&count| count == 4), "{counts:?}");
        });
    }
}

#[test]
fn those_that_have_ended_make_room() {
    let _watched = watched();
    on(3, || {
        let open: [_; 3] = std::array::from_fn(|_| Arc::new(Latch::new(1)));
        let fibers = open.each_ref().map(|end| stays_until(end, spread()));
        for (end, fiber) in open.iter().zip(fibers).skip(1) {
            end.count_down();
            let place = fiber.join().unwrap();
            for _ in 0..10 {
                // The others are full: this one goes where the last one has ended.
                assert_eq!(spread().spawn(here).join().unwrap(), place);
            }
            // It is kept full from here on.
            let full = Arc::new(Latch::new(1));
            drop(stays_until(&full, spread()));
        }
        open[0].count_down();
    });
}

#[test]
fn a_panic_makes_room_as_well() {
    let _watched = watched();
    on(2, || {
        let end = Arc::new(Latch::new(1));
        let stays = stays_until(&end, spread());
        let fails = || {
            spread()
                .spawn(|| -> () { std::panic::resume_unwind(Box::new(here())) })
                .join()
                .unwrap_err()
                .into_panic()
        };
        let place = |panic: Box<dyn std::any::Any + Send>| *panic.downcast::<ThreadId>().unwrap();
        let first = place(fails().unwrap());
        (0..10).for_each(|_| assert_eq!(place(fails().unwrap()), first));
        end.count_down();
        assert_ne!(stays.join().unwrap(), first);
    });
}

#[test]
fn near_is_where_the_other_fiber_is() {
    let _watched = watched();
    on(4, || {
        for domain in 0..4 {
            let end = Arc::new(Latch::new(1));
            let first = stays_until(&end, Builder::new().domain(domain));
            // Its place is known though it has not begun.
            let second = stays_until(&end, Builder::new().near(&first));
            let third = stays_until(&end, Builder::new().near(&second));
            end.count_down();
            let (second, third) = (second.join().unwrap(), third.join().unwrap());
            while !first.is_finished() {
                fiber::yield_now();
            }
            let late = Builder::new().near(&first).spawn(here).join().unwrap();
            let place = first.join().unwrap();
            assert_eq!([second, third, late], [place; 3]);
        }
    });
}

#[test]
fn near_one_without_a_place_is_where_that_one_has_begun() {
    let _watched = watched();
    on(4, || {
        let (tx, rx) = channel();
        let (end, ended) = channel::<()>();
        let first = lisle::spawn(move || {
            tx.send(here()).unwrap();
            let _ = ended.recv();
        });
        let place = rx.recv().unwrap();
        let beside = || Builder::new().near(&first).spawn(here).join().unwrap();
        (0..10).for_each(|_| assert_eq!(beside(), place));
        // From another domain, too.
        fiber::scope(|scope| {
            for domain in 0..4 {
                Builder::new().domain(domain).spawn_scoped(scope, || assert_eq!(beside(), place));
            }
        });
        end.close();
    });
}

#[test]
fn near_one_that_has_not_begun_is_no_place() {
    let _watched = watched();
    on(1, || {
        let first = lisle::spawn(|| 1);
        let second = Builder::new().near(&first).spawn(|| 2);
        assert_eq!(second.join().unwrap() + first.join().unwrap(), 3);
    });
}

#[test]
fn near_one_of_another_runtime_is_no_place() {
    let _watched = watched();
    let other = Runtime::builder().domains(2).start().unwrap();
    let stranger = other.spawn(here);
    while !stranger.is_finished() {
        thread::yield_now();
    }
    on(2, || {
        let beside = Builder::new().near(&stranger).spawn(here).join().unwrap();
        assert_ne!(beside, stranger.join().unwrap());
    });
}

/// All tests in this process share the default runtime, so nothing is known of its counts.
#[test]
fn plain_threads_place_fibers_on_the_default_runtime() {
    let _watched = watched();
    let end = Arc::new(Latch::new(1));
    let first = stays_until(&end, spread());
    let second = stays_until(&end, Builder::new().near(&first));
    end.count_down();
    let place = first.join().unwrap();
    assert_ne!(place, here());
    assert_eq!(second.join().unwrap(), place);
}

#[test]
fn the_last_place_counts() {
    let _watched = watched();
    on(2, || {
        let on_one = fiber::spawn_on(1, here);
        let none = Builder::new().domain(7).spread().near(&on_one).spawn(here);
        let again = Builder::new().near(&on_one).spread().domain(0).spawn(here).join().unwrap();
        let place = on_one.join().unwrap();
        assert_eq!(none.join().unwrap(), place);
        assert_ne!(again, place);
    });
}

#[test]
fn scoped_fibers_have_names_and_places() {
    let _watched = watched();
    on(2, || {
        let end = Latch::new(1);
        let places = fiber::scope(|scope| {
            let player = |name: &str| {
                let waits = || {
                    end.wait();
                    here()
                };
                Builder::new().name(name).spread().spawn_scoped(scope, waits)
            };
            let players = ["black", "white"].map(player);
            end.count_down();
            players.map(|player| player.join().unwrap())
        });
        assert_ne!(places[0], places[1]);
        let fails = || {
            fiber::scope(|scope| {
                let fails = Builder::new().name("third").spawn_scoped(scope, || panic!("three"));
                fails.join().unwrap_err().to_string()
            })
        };
        assert!(fails().contains("'third'"));
    });
}

/// Fibers that are unwound give up their places as well as others do, and nothing waits for them.
#[test]
fn a_runtime_ends_with_spread_fibers_that_wait() {
    let _watched = watched();
    let runtime = Runtime::builder().domains(3).start().unwrap();
    let (tx, rx) = channel::<()>();
    let fibers = runtime.run(move || -> Vec<_> {
        (0..30)
            .map(|_| {
                let rx = rx.clone();
                spread().spawn(move || rx.recv())
            })
            .collect()
    });
    assert!(runtime.shutdown(std::time::Duration::MAX).is_clean());
    assert!(fibers.into_iter().all(|fiber| fiber.join().unwrap_err().is_cancelled()));
    drop(tx);
}
