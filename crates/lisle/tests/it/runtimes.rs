//! Runtimes: the places where fibers run, several runtimes at the same time, and their end.

use crate::support::{on_domains, scaled, watched};
use lisle::time::{after, sleep};
use lisle::{Event, Runtime, channel, choose, fiber, never};
use std::panic::catch_unwind;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

fn here() -> ThreadId {
    thread::current().id()
}

/// `run` lends the calling thread to its first domain, so its function may borrow values that are
/// not `Send`.
#[test]
fn run_borrows_from_the_calling_thread() {
    let _watched = watched();
    let local = Rc::new(5);
    let caller = here();
    let doubled = lisle::run(|| {
        assert_eq!(here(), caller);
        sleep(Duration::from_millis(1));
        assert_eq!(here(), caller);
        *local * 2
    });
    assert_eq!(doubled, 10);
    let caught = catch_unwind(|| lisle::run(|| std::panic::resume_unwind(Box::new("out of it"))));
    assert_eq!(*caught.unwrap_err().downcast::<&str>().unwrap(), "out of it");
    assert_eq!(lisle::run(|| 3), 3, "and again");
}

#[test]
fn spawn_on_keeps_to_its_domain() {
    let _watched = watched();
    for here_too in [true, false] {
        let check = || {
            for domain in 0..3 {
                let fibers: Vec<_> = (0..10)
                    .map(|_| {
                        lisle::fiber::spawn_on(domain, || {
                            let before = here();
                            sleep(Duration::from_micros(100));
                            fiber::yield_now();
                            assert_eq!(here(), before);
                            (before, thread::current().name().map(str::to_owned))
                        })
                    })
                    .collect();
                let places: Vec<_> = fibers.into_iter().map(|fiber| fiber.join().unwrap()).collect();
                assert!(places.iter().all(|place| place.0 == places[0].0), "{places:?}");
                if domain > 0 {
                    assert_eq!(places[0].1.as_deref(), Some(format!("shed-{domain}").as_str()));
                }
            }
        };
        let builder = Runtime::builder().domains(3).thread_name("shed");
        if here_too { builder.run(check) } else { builder.start().unwrap().run(check) }
    }
    let outside = Runtime::builder().domains(2).start().unwrap();
    assert_eq!(outside.domains(), 2);
    outside.run(|| {
        let caught = catch_unwind(|| lisle::fiber::spawn_on(2, || ()));
        assert!(caught.unwrap_err().downcast::<String>().unwrap().contains("no domain 2"));
    });
}

/// Values that a fiber holds need not be `Send`: after every wait it continues on the thread where
/// it began.
#[test]
fn a_fiber_never_changes_its_thread() {
    let _watched = watched();
    let threads = Arc::new(Mutex::new(std::collections::HashSet::new()));
    let seen = threads.clone();
    Runtime::builder().domains(4).run(move || {
        let (tx, rx) = channel::<usize>();
        let fibers: Vec<_> = (0..200)
            .map(|i| {
                let (tx, rx, seen) = (tx.clone(), rx.clone(), seen.clone());
                lisle::spawn(move || {
                    let began = here();
                    seen.lock().unwrap().insert(began);
                    let local = Rc::new(i);
                    for round in 0..50 {
                        let other = local.clone();
                        match (i + round) % 5 {
                            0 => sleep(Duration::from_micros(50)),
                            1 => fiber::yield_now(),
                            2 => assert_eq!(lisle::blocking(move || round), round),
                            // A performer that finds no partner gives up after a while.
                            3 => drop(
                                choose((tx.send_evt(i), after(Duration::from_micros(500)).wrap(Ok))).sync(),
                            ),
                            _ => drop(rx.recv_timeout(Duration::from_micros(500))),
                        }
                        assert_eq!(here(), began);
                        assert_eq!(*other, i);
                    }
                })
            })
            .collect();
        for fiber in fibers {
            fiber.join().unwrap();
        }
    });
    assert!(!threads.lock().unwrap().is_empty());
}

/// Fibers that are spawned in one place and have not begun spread over the domains.
#[test]
fn idle_domains_take_over_what_has_not_begun() {
    let _watched = watched();
    Runtime::builder().domains(2).run(|| {
        // The first fiber keeps its domain until the second has run, so the second can only run on
        // another one.
        let ran = Arc::new(AtomicBool::new(false));
        let runs = ran.clone();
        let other = lisle::spawn(move || {
            runs.store(true, Ordering::SeqCst);
            here()
        });
        while !ran.load(Ordering::SeqCst) {
            thread::yield_now();
        }
        assert_ne!(other.join().unwrap(), here());
    });
}

/// Case 43 and more: fibers of three runtimes and the main thread communicate over the same
/// channels.
#[test]
fn several_runtimes_side_by_side() {
    let _watched = watched();
    let count = scaled(2_000, 300);
    let runtimes = [1, 2, 3].map(|domains| Runtime::builder().domains(domains).start().unwrap());
    let (tx, rx) = channel::<usize>();
    let (sum, sums) = channel::<usize>();
    for runtime in &runtimes {
        for _ in 0..2 {
            let (rx, sum, tx) = (rx.clone(), sum.clone(), tx.clone());
            runtime.spawn(move || sum.send(rx.iter().sum()).unwrap());
            runtime.spawn(move || (0..count).for_each(|i| tx.send(i).unwrap()));
        }
    }
    drop((tx, rx, sum));
    let total: usize = sums.iter().sum();
    assert_eq!(total, 6 * count * (count - 1) / 2);
    for runtime in runtimes {
        assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
    }
}

#[test]
fn a_nested_run_panics_and_says_why() {
    on_domains(|| {
        let caught = catch_unwind(|| lisle::run(|| ()));
        let message = caught.unwrap_err();
        assert!(message.downcast_ref::<&str>().unwrap().contains("inside a fiber"));
        fiber::yield_now();
        // It is allowed from a plain thread that a fiber starts.
        assert_eq!(lisle::blocking(|| lisle::run(|| 4)), 4);
    });
}

/// Outside any runtime there is a default one.
#[test]
fn spawning_from_a_plain_thread() {
    let _watched = watched();
    let fibers: Vec<_> = (0..100).map(|i| lisle::spawn(move || i + here_is_no_test_thread())).collect();
    for (i, fiber) in fibers.into_iter().enumerate() {
        assert_eq!(fiber.join().unwrap(), i);
    }
    fiber::yield_now();
    assert_eq!(lisle::blocking(here), here(), "a plain thread may block by itself");
}

fn here_is_no_test_thread() -> usize {
    assert!(thread::current().name().unwrap().starts_with("lisle"));
    0
}

/// Counts its drops.
struct Flag(Arc<AtomicUsize>);

impl Drop for Flag {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Suspends in every possible way, with a flag on its stack. None of these waits ends.
fn suspend_somehow(
    kind: usize,
    flag: Flag,
    tx: lisle::channel::Sender<Flag>,
    rx: lisle::channel::Receiver<Flag>,
) {
    match kind % 7 {
        0 => drop(rx.recv()),
        1 => return drop(tx.send(flag)),
        2 => sleep(Duration::from_secs(3_600)),
        3 => drop(choose((rx.recv_evt(), never())).sync()),
        4 => drop(tx.send_with_evt(|| unreachable!("nobody receives")).sync()),
        5 => drop(lisle::spawn(move || never::<Flag>().sync()).join()),
        _ => loop {
            fiber::yield_now();
            sleep(Duration::from_micros(10));
        },
    }
    drop(flag);
}

#[test]
fn suspended_fibers_are_unwound_at_shutdown() {
    let _watched = watched();
    for domains in [1, 2, 5] {
        for outside in [true, false] {
            let drops = Arc::new(AtomicUsize::new(0));
            let begun = Arc::new(AtomicUsize::new(0));
            let made = Arc::new(AtomicUsize::new(0));
            let (drops_seen, begun_seen, made_here) = (drops.clone(), begun.clone(), made.clone());
            let crowd = move || {
                let fibers = 7 * 20;
                for kind in 0..fibers {
                    let (begun, flag) = (begun.clone(), Flag(drops.clone()));
                    // Each fiber has both ends of a channel of its own, so no two fibers meet.
                    let (tx, rx) = channel();
                    made.fetch_add(1, Ordering::SeqCst);
                    drop(lisle::spawn(move || {
                        begun.fetch_add(1, Ordering::SeqCst);
                        let ends = (tx.clone(), rx.clone());
                        suspend_somehow(kind, flag, tx, rx);
                        drop(ends);
                    }));
                }
                while begun.load(Ordering::SeqCst) < fibers {
                    fiber::yield_now();
                }
            };
            if outside {
                let runtime = Runtime::builder().domains(domains).start().unwrap();
                runtime.run(crowd);
                let shutdown = runtime.shutdown(Duration::from_secs(60));
                assert!(shutdown.is_clean(), "{shutdown}");
            } else {
                Runtime::builder().domains(domains).shutdown_deadline(Duration::from_secs(60)).run(crowd);
            }
            assert_eq!(drops_seen.load(Ordering::SeqCst), made_here.load(Ordering::SeqCst));
            assert_eq!(begun_seen.load(Ordering::SeqCst), 140);
        }
    }
}

/// Fibers that have not begun when the runtime ends are not run, but the values that they hold are
/// dropped.
#[test]
fn unbegun_fibers_are_dropped_at_shutdown() {
    let _watched = watched();
    let drops = Arc::new(AtomicUsize::new(0));
    let ran = Arc::new(AtomicUsize::new(0));
    Runtime::builder().domains(1).run(|| {
        for _ in 0..1_000 {
            let (flag, ran) = (Flag(drops.clone()), ran.clone());
            drop(lisle::spawn(move || {
                ran.fetch_add(1, Ordering::SeqCst);
                drop(flag);
            }));
        }
    });
    assert_eq!(drops.load(Ordering::SeqCst), 1_000);
}

#[test]
fn draining_waits_for_all_fibers() {
    let _watched = watched();
    let ended = Arc::new(AtomicUsize::new(0));
    Runtime::builder().domains(2).drain(true).run(|| {
        for i in 0..50 {
            let ended = ended.clone();
            drop(lisle::spawn(move || {
                sleep(Duration::from_micros(i * 50));
                ended.fetch_add(1, Ordering::SeqCst);
            }));
        }
    });
    assert_eq!(ended.load(Ordering::SeqCst), 50);
}

/// An outside joiner learns that the fiber was ended without a result.
#[test]
fn joining_a_fiber_that_was_shut_down_says_so() {
    let _watched = watched();
    let runtime = Runtime::builder().domains(1).start().unwrap();
    let begun = Arc::new(AtomicBool::new(false));
    let begins = begun.clone();
    let fiber = runtime.spawn(move || {
        begins.store(true, Ordering::SeqCst);
        never::<u32>().sync()
    });
    while !begun.load(Ordering::SeqCst) {
        thread::yield_now();
    }
    assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
    let error = fiber.join().unwrap_err();
    assert!(error.is_cancelled() && !error.is_panic());
    assert!(error.to_string().contains("runtimes.rs"), "{error}");
}

/// A fiber that does not return to its domain is named and left behind.
#[test]
fn a_shutdown_names_what_still_runs() {
    let _watched = watched();
    let stop = Arc::new(AtomicBool::new(false));
    let (running, stopped) = (channel::<()>(), stop.clone());
    let runtime = Runtime::builder().domains(2).stall_report(None).start().unwrap();
    let tx = running.0;
    let stubborn = runtime.run(move || {
        fiber::Builder::new().name("stubborn").spawn(move || {
            tx.send(()).unwrap();
            while !stopped.load(Ordering::SeqCst) {
                std::hint::spin_loop();
            }
        })
    });
    running.1.recv().unwrap();
    let shutdown = runtime.shutdown(Duration::from_millis(500));
    assert!(!shutdown.is_clean());
    assert_eq!(shutdown.unfinished, 1);
    assert_eq!(shutdown.stragglers[0].name.as_deref(), Some("stubborn"));
    assert!(shutdown.to_string().contains("'stubborn'"), "{shutdown}");
    stop.store(true, Ordering::SeqCst);
    drop(stubborn.join());
}

/// Only one domain is busy. Fibers that ran on the others before have ended, and are not named.
#[test]
fn a_shutdown_names_nobody_else() {
    let _watched = watched();
    for busy in 0..3 {
        let stop = Arc::new(AtomicBool::new(false));
        let (tx, running) = channel::<()>();
        let stopped = stop.clone();
        let runtime = Runtime::builder().domains(3).stall_report(None).start().unwrap();
        runtime.run(|| (0..3).for_each(|domain| lisle::fiber::spawn_on(domain, || ()).join().unwrap()));
        let stubborn = runtime.run(move || {
            fiber::Builder::new().name("stubborn").domain(busy).spawn(move || {
                tx.send(()).unwrap();
                while !stopped.load(Ordering::SeqCst) {
                    std::hint::spin_loop();
                }
            })
        });
        running.recv().unwrap();
        let shutdown = runtime.shutdown(Duration::from_millis(500));
        stop.store(true, Ordering::SeqCst);
        drop(stubborn.join());
        assert_eq!(shutdown.unfinished, 1);
        let named: Vec<_> = shutdown.stragglers.iter().map(|s| (s.domain, s.name.as_deref())).collect();
        assert_eq!(named, [(busy, Some("stubborn"))], "{shutdown}");
    }
}

/// A message whose sender or receiver is unwound by a shutdown is neither lost to others nor
/// doubled.
#[test]
fn a_shutdown_in_the_middle_of_traffic_conserves_messages() {
    let _watched = watched();
    for round in 0..scaled(100, 15) {
        let (tx, rx) = lisle::channel::bounded::<Flag>(round % 3);
        let (drops, made) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let runtime = Runtime::builder().domains(2).start().unwrap();
        for _ in 0..3 {
            let (tx, drops, made) = (tx.clone(), drops.clone(), made.clone());
            runtime.spawn(move || {
                loop {
                    made.fetch_add(1, Ordering::SeqCst);
                    tx.send(Flag(drops.clone())).unwrap();
                }
            });
            let rx = rx.clone();
            runtime.spawn(move || while rx.recv().is_ok() {});
        }
        for _ in 0..50 {
            drop(rx.recv().unwrap());
        }
        let shutdown = runtime.shutdown(Duration::from_secs(60));
        assert!(shutdown.is_clean(), "{shutdown}");
        drop((tx, rx));
        assert_eq!(drops.load(Ordering::SeqCst), made.load(Ordering::SeqCst));
    }
}

/// `blocking` frees the domain, passes panics on, and serves many calls at once.
#[test]
fn blocking_calls_block_nobody_else() {
    on_domains(|| {
        let (tx, rx) = std::sync::mpsc::channel::<u32>();
        // Only a fiber that runs while the foreign call blocks can end it.
        let waker = lisle::spawn(move || tx.send(6).unwrap());
        let domain = here();
        let got = lisle::blocking(move || {
            assert_ne!(here(), domain);
            rx.recv().unwrap()
        });
        assert_eq!((got, here()), (6, domain));
        waker.join().unwrap();

        let barrier = Arc::new(std::sync::Barrier::new(20));
        let fibers: Vec<_> = (0..20)
            .map(|_| {
                let barrier = barrier.clone();
                lisle::spawn(move || lisle::blocking(move || barrier.wait().is_leader()))
            })
            .collect();
        let leaders = fibers.into_iter().map(|fiber| fiber.join().unwrap()).filter(|leads| *leads);
        assert_eq!(leaders.count(), 1);

        let failing = lisle::spawn(|| lisle::blocking(|| std::panic::resume_unwind(Box::new("in the pool"))));
        let error = failing.join().unwrap_err();
        assert!(error.to_string().contains("in the pool"), "{error}");
    });
}

#[test]
fn only_domains_are_pinned() {
    let processors = || thread::available_parallelism().unwrap();
    let before = processors();
    // The thread that runs it is a domain for a while.
    thread::spawn(move || {
        Runtime::builder().domains(2).pin(true).run(|| {
            assert_eq!(lisle::blocking(processors), before);
            assert_eq!(lisle::thread::spawn(processors).join().unwrap(), before);
        });
        assert_eq!(processors(), before);
    })
    .join()
    .unwrap();
}

/// A deadline beyond the range of the clock is no deadline: `run` and `shutdown` wait for as long
/// as it takes.
#[test]
fn a_shutdown_deadline_beyond_the_clock_is_never() {
    let _watched = watched();
    for domains in [1, 2] {
        for deadline in [Duration::MAX, Duration::MAX / 2, Duration::from_secs(u64::MAX)] {
            let builder = || Runtime::builder().domains(domains).shutdown_deadline(deadline);
            let ended = Arc::new(AtomicBool::new(false));
            let answer = builder().run({
                let ended = ended.clone();
                move || {
                    // It is left when the function returns, and is unwound.
                    let (began, begun) = channel();
                    lisle::fiber::spawn_on(domains - 1, move || {
                        struct Told(Arc<AtomicBool>);
                        impl Drop for Told {
                            fn drop(&mut self) {
                                self.0.store(true, Ordering::Release);
                            }
                        }
                        let _told = Told(ended);
                        began.send(()).unwrap();
                        never::<()>().sync();
                    });
                    begun.recv().unwrap();
                    7
                }
            });
            assert_eq!(answer, 7);
            assert!(ended.load(Ordering::Acquire));
            let runtime = builder().start().unwrap();
            runtime.spawn(|| never::<()>().sync());
            assert!(runtime.shutdown(deadline).is_clean());
        }
    }
}
