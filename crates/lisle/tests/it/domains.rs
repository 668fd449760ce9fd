//! Where code runs, as it is told: the domain of a fiber, of a task, of a part of a loop, and none.

use crate::support::{on_domains, watched};
use lisle::fiber::{self, Hooks, Moment, Switch, domain, domains, spawn_on, yield_now};
use lisle::future::block_on;
use lisle::par::prelude::*;
use lisle::{Event, Runtime, spawn, spawn_task, task};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// The domain, and how many there are.
type Place = (Option<usize>, Option<usize>);

const NOWHERE: Place = (None, None);

fn place() -> Place {
    (domain(), domains())
}

/// The domain of each thread of a runtime.
struct Map {
    threads: HashMap<ThreadId, usize>,
    count: usize,
}

impl Map {
    /// Makes the map of the runtime that runs this.
    fn new() -> Arc<Self> {
        let count = domains().expect("this runs in a runtime");
        let on = |index| (spawn_on(index, || thread::current().id()).join().unwrap(), index);
        let threads: HashMap<_, _> = (0..count).map(on).collect();
        assert_eq!(threads.len(), count);
        Arc::new(Map { threads, count })
    }

    /// Returns the result that `place` must have here.
    fn here(&self) -> Place {
        match self.threads.get(&thread::current().id()) {
            Some(&index) => (Some(index), Some(self.count)),
            None => NOWHERE,
        }
    }

    /// Returns the domain, if it is the one of this thread.
    #[track_caller]
    fn check(&self) -> Option<usize> {
        assert_eq!(place(), self.here());
        domain()
    }
}

#[test]
fn a_thread_of_no_runtime_has_none() {
    let _watched = watched();
    assert_eq!(place(), NOWHERE);
    assert_eq!(block_on(async { place() }), NOWHERE);
    assert_eq!(spawn_task(async { place() }).join().unwrap(), NOWHERE);
    Runtime::builder().domains(2).run(|| {
        assert_eq!(thread::spawn(place).join().unwrap(), NOWHERE);
        assert_eq!(lisle::blocking(place), NOWHERE);
        assert_eq!(place().1, Some(2));
    });
    assert_eq!(place(), NOWHERE);
}

/// Until it ends, also if it waits.
#[test]
fn a_fiber_has_one() {
    on_domains(|| {
        let map = Map::new();
        let f = |map: Arc<Map>| {
            move || {
                let begun = map.check();
                for _ in 0..3 {
                    yield_now();
                    assert_eq!(map.check(), begun);
                }
                lisle::time::sleep(Duration::from_millis(1));
                assert_eq!(map.check(), begun);
                begun.unwrap()
            }
        };
        let anywhere: Vec<_> = (0..20).map(|_| spawn(f(map.clone()))).collect();
        let placed: Vec<_> = (0..20).map(|n| spawn_on(n % map.count, f(map.clone()))).collect();
        anywhere.into_iter().for_each(|fiber| _ = fiber.join().unwrap());
        for (n, fiber) in placed.into_iter().enumerate() {
            assert_eq!(fiber.join().unwrap(), n % map.count);
        }
    });
}

/// Its destructors have it, too, when the runtime ends.
#[test]
fn a_fiber_that_unwinds_has_one() {
    struct Tells(Sender<(Option<usize>, Place)>, Option<usize>);
    impl Drop for Tells {
        fn drop(&mut self) {
            self.0.send((self.1, place())).unwrap();
        }
    }
    let _watched = watched();
    let (tell, told) = channel();
    Runtime::builder().domains(2).run(|| {
        let (waits, all_wait) = lisle::channel::bounded(4);
        for n in 0..4 {
            let (tell, waits) = (tell.clone(), waits.clone());
            let f = move || {
                let _tells = Tells(tell, domain());
                waits.send(()).unwrap();
                lisle::never::<()>().sync();
            };
            drop(spawn_on(n % 2, f));
        }
        (0..4).for_each(|_| all_wait.recv().unwrap());
    });
    drop(tell);
    let all: Vec<_> = told.iter().collect();
    assert_eq!(all.len(), 4);
    assert!(all.iter().all(|&(begun, place)| begun.is_some() && place == (begun, Some(2))), "{all:?}");
}

/// After each await it is the domain of the thread on which the task goes on. A task that begins on a
/// plain thread has none until then.
#[test]
fn a_task_has_that_of_its_turn() {
    on_domains(|| {
        let map = Map::new();
        let (tx, rx) = lisle::channel::<()>();
        let tasks: Vec<_> = (0..20)
            .map(|n| {
                let (map, rx) = (map.clone(), rx.clone());
                spawn_task(async move {
                    assert!(map.check().is_some());
                    if n % 2 == 0 {
                        task::yield_now().await;
                    } else {
                        rx.recv_evt().await.unwrap();
                    }
                    assert!(map.check().is_some());
                    task::inflate().await;
                    assert!(map.check().is_some());
                })
            })
            .collect();
        let sends = |index: usize| {
            spawn_on(index % map.count, {
                let tx = tx.clone();
                move || tx.send(())
            })
        };
        let senders: Vec<_> = (0..10).map(sends).collect();
        senders.into_iter().for_each(|sender| sender.join().unwrap().unwrap());
        tasks.into_iter().for_each(|task| task.join().unwrap());
    });
    let (began, went_on) = spawn_task(async {
        let began = place();
        task::yield_now().await;
        (began, place())
    })
    .join()
    .unwrap();
    assert_eq!(began, NOWHERE);
    assert!(went_on.0 < went_on.1, "{went_on:?}");
}

#[test]
fn what_a_fiber_drives_has_its_own() {
    on_domains(|| {
        let map = Map::new();
        for index in 0..map.count {
            let map = map.clone();
            let drives = move || {
                block_on(async {
                    assert_eq!(map.check(), Some(index));
                    task::yield_now().await;
                    lisle::time::after(Duration::from_millis(1)).await;
                    assert_eq!(map.check(), Some(index));
                });
            };
            spawn_on(index, drives).join().unwrap();
        }
    });
}

/// A part is run by the domain that has taken it.
#[test]
fn a_part_of_a_loop_has_that_of_its_thread() {
    on_domains(|| {
        let map = Map::new();
        (0..2_000_u32).into_par_iter().grain(10).for_each(|n| {
            if n % 50 == 0 {
                yield_now();
            }
            assert!(map.check().is_some());
        });
        let (first, second) = lisle::par::join(|| map.check(), || map.check());
        assert!(first.is_some() && second.is_some());
    });
    // Some on this thread, which has none, and others on the domains of the default runtime.
    let map = spawn(Map::new).join().unwrap();
    (0..2_000_u32).into_par_iter().grain(10).for_each(|_| {
        map.check();
    });
}

/// Each runtime counts its own.
#[test]
fn two_runtimes_are_told_apart() {
    let _watched = watched();
    let other = Runtime::builder().domains(3).start().unwrap();
    let handle = other.handle();
    Runtime::builder().domains(2).run(|| {
        let own = Map::new();
        let others = handle.spawn(Map::new).join().unwrap();
        assert_eq!((own.count, others.count), (2, 3));
        assert!(own.threads.keys().all(|thread| !others.threads.contains_key(thread)));
        for _ in 0..10 {
            let (elsewhere, others) = (own.clone(), others.clone());
            let there = handle.spawn(move || {
                yield_now();
                (others.check(), elsewhere.here())
            });
            let (there, as_own) = there.join().unwrap();
            assert!(there.is_some());
            assert_eq!(as_own, NOWHERE);
            own.check();
        }
    });
    drop(other);
}

/// The second call of a hook may come when the fiber has ended.
#[test]
fn a_hook_has_that_of_its_fiber() {
    struct Tells(Mutex<Sender<(Moment, Place)>>);
    impl Hooks for Tells {
        type Local = ();
        fn resumed(&self, switch: &Switch<'_>, (): &mut ()) {
            self.suspended(switch, &mut ());
        }
        fn suspended(&self, switch: &Switch<'_>, (): &mut ()) {
            if switch.name().is_some() {
                self.0.lock().unwrap().send((switch.moment(), place())).unwrap();
            }
        }
    }
    let _watched = watched();
    let (tell, told) = channel();
    Runtime::builder().domains(2).hooks(Tells(Mutex::new(tell))).run(|| {
        let named = fiber::Builder::new().name("watched").spawn(|| {
            yield_now();
            place()
        });
        let place = named.join().unwrap();
        let moments = [Moment::Begins, Moment::Waits, Moment::GoesOn, Moment::Ends];
        assert!(told.iter().take(4).eq(moments.map(|moment| (moment, place))));
    });
}

/// A thread's locals are destroyed when it has left its runtime.
#[test]
fn a_destructor_of_a_thread_local_has_none() {
    struct Tells(Sender<Place>);
    impl Drop for Tells {
        fn drop(&mut self) {
            self.0.send(place()).unwrap();
        }
    }
    thread_local! {
        static TELLS: RefCell<Option<Tells>> = const { RefCell::new(None) };
    }
    let _watched = watched();
    let (tell, told) = channel();
    thread::spawn(move || {
        Runtime::builder().domains(3).run(|| {
            for index in 0..3 {
                let tell = tell.clone();
                spawn_on(index, move || TELLS.set(Some(Tells(tell)))).join().unwrap();
            }
        });
    })
    .join()
    .unwrap();
    assert_eq!(told.iter().collect::<Vec<_>>(), [NOWHERE; 3]);
}
