//! Reports about running code name a place in the user's program, for every function of the library
//! that runs it, and never a file of the library itself.

use crate::support::watched;
use lisle::par::dag::Dag;
use lisle::par::prelude::*;
use lisle::par::{self, Scan, sort};
use lisle::{Report, Runtime, fiber, kill_safe, never, spawn, spawn_task, task};
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// The place at which the code that kept a domain was spawned, according to the report.
#[derive(Default)]
struct Seen {
    place: Mutex<Option<&'static str>>,
    has_come: Condvar,
}

impl Seen {
    /// Blocks the thread until there is a report.
    fn wait(&self) {
        let place = self.place.lock().unwrap();
        drop(self.has_come.wait_while(place, |place| place.is_none()).unwrap());
    }

    fn is_there(&self) -> bool {
        self.place.lock().unwrap().is_some()
    }

    #[track_caller]
    fn names_this_file(&self, entry: &str) {
        let place = self.place.lock().unwrap();
        assert!(place.is_some_and(|file| file.ends_with("tests/it/sites.rs")), "{entry}: {place:?}");
    }
}

/// Returns a builder of a runtime whose reports about its last domain are recorded.
fn runtime(domains: usize) -> (lisle::Builder, Arc<Seen>) {
    let seen = Arc::new(Seen::default());
    let here = seen.clone();
    let builder = Runtime::builder().domains(domains).stall_report(Some(Duration::from_millis(15)));
    let builder = builder.on_report(move |report| {
        if let Report::Stall(stall) = report
            && stall.domain + 1 == domains
        {
            let fiber = stall.fiber.as_ref().expect("something runs there");
            here.place.lock().unwrap().get_or_insert(fiber.site.file());
            here.has_come.notify_all();
        }
    });
    (builder, seen)
}

type Stuck = Box<dyn FnOnce() + Send>;
type Spawns = (&'static str, fn(Stuck));

/// Functions that each run their argument somewhere and wait for it.
const SPAWNS: &[Spawns] = &[
    ("spawn", |stuck| spawn(stuck).join().unwrap()),
    ("spawn_on", |stuck| lisle::fiber::spawn_on(0, stuck).join().unwrap()),
    ("Builder::spawn", |stuck| fiber::Builder::new().spawn(stuck).join().unwrap()),
    ("fiber::scope", |stuck| fiber::scope(|scope| scope.spawn(stuck).join().unwrap())),
    ("spawn_task", |stuck| spawn_task(later(stuck)).join().unwrap()),
    ("Scope::spawn_task", |stuck| {
        fiber::scope(|scope| scope.spawn_task(later(stuck)).join().unwrap());
    }),
    ("a task that has waited in place", |stuck| {
        let in_place = async {
            task::yield_now().await;
            lisle::time::sleep(Duration::from_millis(1));
            stuck();
        };
        spawn_task(in_place).join().unwrap();
    }),
    ("future::spawn", |stuck| lisle::future::spawn(async { stuck() }).join().unwrap()),
    ("race", |stuck| task::race([later(stuck)]).join().unwrap()),
    ("rush", |stuck| task::rush([later(stuck)]).join().unwrap()),
    ("timeout", |stuck| {
        task::timeout(Duration::from_secs(3600), later(stuck)).join().unwrap();
    }),
    ("kill_safe", |stuck| {
        let server = kill_safe::start::<(), ()>(move |_| stuck());
        assert!(server.request(()).is_err());
    }),
    ("what nobody takes, as it goes", |stuck| {
        struct Last(Option<Stuck>, lisle::channel::Sender<()>);
        impl Drop for Last {
            fn drop(&mut self) {
                self.0.take().unwrap()();
                self.1.send(()).unwrap();
            }
        }
        let (tx, rx) = lisle::channel();
        drop(spawn(move || Last(Some(stuck), tx)));
        rx.recv().unwrap();
    }),
];

/// Lets the domain run it, and not its spawner.
async fn later(stuck: Stuck) {
    task::yield_now().await;
    stuck();
}

/// Keeps its domain until that has been reported, while another fiber waits.
fn stuck(seen: Arc<Seen>) -> Stuck {
    Box::new(move || {
        let other = spawn(|| ());
        seen.wait();
        other.join().unwrap();
    })
}

#[test]
fn what_is_spawned_names_its_spawner() {
    let _watched = watched();
    for (entry, run) in SPAWNS {
        let (builder, seen) = runtime(1);
        builder.run(|| run(stuck(seen.clone())));
        seen.names_this_file(entry);
    }
    let (builder, seen) = runtime(1);
    builder.run(|| stuck(seen.clone())());
    seen.names_this_file("run");
    for spawns in [true, false] {
        let (builder, seen) = runtime(1);
        let runtime = builder.start().unwrap();
        let stuck = stuck(seen.clone());
        if spawns {
            runtime.spawn(stuck).join().unwrap()
        } else {
            runtime.run(stuck)
        }
        seen.names_this_file("Runtime");
    }
}

/// The number of steps of a loop.
const STEPS: usize = 2_000;

/// Returns enough numbers that a sort of them is divided.
fn numbers() -> Vec<u64> {
    (0..100_000_u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40).collect()
}

fn tree(depth: u32, with: bool, work: &(dyn Fn() + Sync)) {
    if depth == 0 {
        work();
    } else if with {
        par::join_with(|| tree(depth - 1, with, work), || tree(depth - 1, with, work), |(), ()| ());
    } else {
        par::join(|| tree(depth - 1, with, work), || tree(depth - 1, with, work));
    }
}

type Loops = (&'static str, fn(&(dyn Fn() + Sync)));

/// Functions that each call their argument many times, on any number of domains.
const LOOPS: &[Loops] = &[
    ("join", |work| tree(10, false, work)),
    ("join_with", |work| tree(10, true, work)),
    ("scope", |work| {
        par::scope(|scope| (0..STEPS / 8).for_each(|_| drop(scope.spawn(|| (0..8).for_each(|_| work())))));
    }),
    ("Dag", |work| {
        let mut dag = Dag::new();
        for _ in 0..STEPS / 40 {
            let spark = dag.spark((), |()| (0..40).for_each(|_| work()));
            dag.cost(&spark, Duration::from_millis(2));
        }
        dag.run();
    }),
    ("for_each", |work| (0..STEPS).into_par_iter().for_each(|_| work())),
    ("grain", |work| (0..STEPS).into_par_iter().grain(5).for_each(|_| work())),
    ("deterministic", |work| (0..STEPS).into_par_iter().deterministic(5).for_each(|_| work())),
    ("for_each_init", |work| (0..STEPS).into_par_iter().for_each_init(|| (), |(), _| work())),
    ("try_for_each", |work| {
        let all = (0..STEPS).into_par_iter().try_for_each(|_| {
            work();
            Some(())
        });
        assert!(all.is_some());
    }),
    ("count", |work| {
        (0..STEPS).into_par_iter().inspect(|_| work()).count();
    }),
    ("sum", |work| {
        (0..STEPS).into_par_iter().inspect(|_| work()).sum::<usize>();
    }),
    ("product", |work| {
        (0..STEPS).into_par_iter().map(|_| work()).map(|()| 1_u64).product::<u64>();
    }),
    ("reduce", |work| {
        (0..STEPS).into_par_iter().inspect(|_| work()).reduce(|| 0, usize::max);
    }),
    ("reduce_with", |work| {
        (0..STEPS).into_par_iter().inspect(|_| work()).reduce_with(usize::max);
    }),
    ("fold", |work| {
        (0..STEPS).into_par_iter().fold(|| (), |(), _| work()).count();
    }),
    ("min_by_key", |work| {
        (0..STEPS).into_par_iter().min_by_key(|&n| {
            work();
            n
        });
    }),
    ("max", |work| {
        (0..STEPS).into_par_iter().inspect(|_| work()).max();
    }),
    ("find_any", |work| {
        (0..STEPS).into_par_iter().find_any(|_| {
            work();
            false
        });
    }),
    ("find_first", |work| {
        (0..STEPS).into_par_iter().find_first(|_| {
            work();
            false
        });
    }),
    ("all", |work| {
        (0..STEPS).into_par_iter().all(|_| {
            work();
            true
        });
    }),
    ("collect into a vector", |work| {
        drop((0..STEPS).into_par_iter().inspect(|_| work()).collect::<Vec<_>>());
    }),
    ("collect what is filtered", |work| {
        drop((0..STEPS).into_par_iter().inspect(|_| work()).filter(|n| n % 2 == 0).collect::<Vec<_>>());
    }),
    ("collect into a set", |work| {
        drop((0..STEPS).into_par_iter().inspect(|_| work()).collect::<HashSet<_>>());
    }),
    ("collect into a map", |work| {
        drop((0..STEPS).into_par_iter().inspect(|_| work()).map(|n| (n, n)).collect::<BTreeMap<_, _>>());
    }),
    ("collect results", |work| {
        let all: Result<Vec<usize>, ()> = (0..STEPS).into_par_iter().inspect(|_| work()).map(Ok).collect();
        all.unwrap();
    }),
    ("collect text", |work| {
        drop((0..STEPS).into_par_iter().inspect(|_| work()).map(|_| 'x').collect::<String>());
    }),
    ("collect nothing", |work| (0..STEPS).into_par_iter().map(|_| work()).collect()),
    ("unzip", |work| {
        let _: (Vec<_>, Vec<_>) = (0..STEPS).into_par_iter().inspect(|_| work()).map(|n| (n, n)).unzip();
    }),
    ("partition", |work| {
        let _: (Vec<_>, Vec<_>) = (0..STEPS).into_par_iter().inspect(|_| work()).partition(|n| n % 2 == 0);
    }),
    ("flat_map", |work| {
        let inner = |_| (0..STEPS / 40).into_par_iter();
        (0..40).into_par_iter().flat_map(inner).for_each(|_| work());
    }),
    ("flat_map in a chain", |work| {
        let inner = |_| (0..STEPS / 40).into_par_iter();
        (0..40).into_par_iter().flat_map(inner).chain(0..1).for_each(|_| work());
    }),
    ("zip", |work| (0..STEPS).into_par_iter().zip(0..STEPS).for_each(|_| work())),
    ("until", |work| (0..STEPS).into_par_iter().until(never::<()>()).for_each(|_| work()).unwrap()),
    ("until, collected", |work| {
        let all: Vec<()> = (0..STEPS).into_par_iter().map(|_| work()).until(never::<()>()).collect().unwrap();
        drop(all);
    }),
    ("until, run", |work| {
        let run = (0..STEPS).into_par_iter().until(never::<()>()).run(|items| items.for_each(|_| work()));
        run.unwrap();
    }),
    ("sort", |work| {
        sort::sort_by(&mut numbers(), |a, b| {
            work();
            a.cmp(b)
        });
    }),
    ("sort_by_cached_key", |work| {
        sort::sort_by_cached_key(&mut numbers(), |&n| {
            work();
            n
        });
    }),
    ("sort_unstable", |work| {
        sort::sort_unstable_by(&mut numbers(), |a, b| {
            work();
            a.cmp(b)
        });
    }),
    ("scan", |work| {
        let op = |a: &u64, b: &u64| {
            work();
            a.wrapping_add(*b)
        };
        par::inclusive_scan_in_place(&mut numbers(), op);
        par::exclusive_scan(&numbers(), &mut numbers(), 0, op);
    }),
    ("Scan::fixed", |work| {
        let op = |a: &u64, b: &u64| {
            work();
            a.wrapping_add(*b)
        };
        Scan::new(op).fixed().exclusive_in_place(&mut numbers(), 0);
    }),
];

#[test]
fn parts_of_loops_name_their_caller() {
    let _watched = watched();
    for (entry, run) in LOOPS {
        let (builder, seen) = runtime(2);
        builder.run(|| {
            let home = thread::current().id();
            let work = || {
                if seen.is_there() {
                    return;
                }
                if thread::current().id() == home {
                    let begun = Instant::now();
                    while begun.elapsed() < Duration::from_micros(50) {}
                } else {
                    let other = fiber::Builder::new().domain(1).spawn(|| ());
                    seen.wait();
                    drop(other);
                }
            };
            while !seen.is_there() {
                run(&work);
            }
        });
        seen.names_this_file(entry);
    }
}
