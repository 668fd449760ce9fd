//! Equal worlds do the same, in the same order: nothing that can be seen depends on addresses, or
//! on the order in which a map gives its entries.

use crate::worlds::{Make, OnDrop};
use lisle_frame::{List, Stream, World, find_dependence, here, next_frame};
use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::future::poll_fn;
use std::hash::{Hash, Hasher};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

in_all_worlds!(
    members_run_in_the_same_order,
    members_go_in_the_order_of_the_list,
    keys_are_dropped_in_the_order_of_the_list,
    executors_are_woken_in_the_order_of_their_streams,
    a_world_of_lists_is_not_accused,
    handles_have_the_same_fingerprint,
);

type Log<T> = Rc<RefCell<Vec<T>>>;

/// Eight worlds log the same, which is returned.
fn same<T: PartialEq + Debug>(make: Make<'_>, run: impl Fn(&mut World, Log<T>)) -> Vec<T> {
    let mut logs = (0..8).map(|_| {
        let (mut world, log) = (make(), Log::default());
        run(&mut world, log.clone());
        drop(world);
        log.take()
    });
    let first = logs.next().unwrap();
    logs.for_each(|log| assert_eq!(log, first));
    first
}

/// The slots of members that are gone are taken by those that come.
fn members_run_in_the_same_order(make: Make<'_>) {
    let log = same(make, |world, log| {
        let keys = world.input((0..20_u64).collect::<Vec<_>>());
        let (plain, mapped, of) = (log.clone(), log.clone(), log);
        let list = world.keyed(keys.stream(), move |key| {
            let log = plain.clone();
            async move || log.borrow_mut().push(key)
        });
        world.map_list(list, move |member| {
            let log = mapped.clone();
            async move || {
                member.await;
                log.borrow_mut().push(100);
            }
        });
        world.keyed_of(keys.stream(), move |key| {
            let log = of.clone();
            here().stream(async move || log.borrow_mut().push(1_000 + key))
        });
        world.frame();
        for keys_then in [vec![3, 5], (30..50).collect(), vec![], (60..80).rev().collect()] {
            world.set(keys, keys_then).unwrap();
            world.frame();
            world.frame();
        }
    });
    // Members that stay run in both frames, new members in the second.
    assert_eq!(log.len(), 3 * (2 * 2 + 20 + 20));
}

fn members_go_in_the_order_of_the_list(make: Make<'_>) {
    let log = same(make, |world, log| {
        let keys = world.input((0..10_u64).rev().collect::<Vec<_>>());
        world.keyed(keys.stream(), move |key| {
            let log = log.clone();
            let guard = OnDrop(move || log.borrow_mut().push(key));
            async move || {
                let _guard = &guard;
            }
        });
        world.frame();
        world.set(keys, vec![4, 5]).unwrap();
        world.frame();
        world.set(keys, vec![]).unwrap();
        world.frame();
    });
    let in_order = [0, 1, 2, 3, 6, 7, 8, 9, 5, 4];
    assert_eq!(log, in_order);
}

/// A key that says when it is dropped for good.
#[derive(Clone)]
struct Key(Rc<(u64, Log<u64>)>);

impl Drop for Key {
    fn drop(&mut self) {
        if Rc::strong_count(&self.0) == 1 {
            self.0.1.borrow_mut().push(self.0.0);
        }
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.0.0 == other.0.0
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.0.hash(state);
    }
}

fn keys_are_dropped_in_the_order_of_the_list(make: Make<'_>) {
    let keys = |log: &Log<u64>, numbers: &[u64]| {
        numbers.iter().map(|n| Key(Rc::new((*n, log.clone())))).collect::<Vec<_>>()
    };
    let log = same(make, |world, log| {
        let input = world.input(keys(&log, &[5, 2, 7, 1, 9]));
        let list = world.keyed(input.stream(), |_| async || ());
        world.frame();
        world.set(input, Vec::new()).unwrap();
        world.frame();
        assert_eq!(*log.borrow(), [5, 2, 7, 1, 9]);
        // The keys of a list that is removed.
        world.set(input, keys(&log, &[8, 3, 6])).unwrap();
        world.frame();
        world.set(input, Vec::new()).unwrap();
        world.remove(list.members()).unwrap();
        // The keys of a list that fails when it makes the last member.
        let failing = world.input(keys(&log, &[4, 0, 10, 11]));
        world.keyed(failing.stream(), |key| {
            assert_ne!(key.0.0, 11, "on purpose");
            async || ()
        });
        world.frame();
        world.set(failing, Vec::new()).unwrap();
        world.frame();
    });
    assert_eq!(log[..8], [5, 2, 7, 1, 9, 8, 3, 6]);
    assert_eq!(log.len(), 12);
}

/// An executor's waker, which logs.
struct Logs(u64, Cell<bool>);

// SAFETY: it is used on one thread.
unsafe impl Send for Logs {}
// SAFETY: as above.
unsafe impl Sync for Logs {}

thread_local! {
    static WOKEN: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

impl Wake for Logs {
    fn wake(self: Arc<Self>) {
        self.1.set(true);
        WOKEN.with_borrow_mut(|woken| woken.push(self.0));
    }
}

fn executors_are_woken_in_the_order_of_their_streams(make: Make<'_>) {
    let log = same(make, |world, log| {
        for number in 0..20 {
            world.live((), async move |_| {
                let executor = Waker::from(Arc::new(Logs(number, Cell::new(false))));
                let mut ends = pin!(async {
                    loop {
                        next_frame().await;
                    }
                });
                poll_fn(|_| -> Poll<()> {
                    let mut context = Context::from_waker(&executor);
                    Pin::as_mut(&mut ends).poll(&mut context)
                })
                .await;
            });
        }
        for _ in 0..3 {
            world.frame();
        }
        log.borrow_mut().extend(WOKEN.take());
    });
    assert_eq!(log, (0..20).chain(0..20).collect::<Vec<_>>());
}

/// Each thing gets the next number, as an entity or a place on the screen does.
fn numbered(world: &mut World) -> List<(u64, u64)> {
    let one = world.stream(async || 1_u64);
    let tick = world.fold(one, 0_u64, |tick, one| *tick += one);
    let keys = world.map(tick, |tick| (0..12).map(|key| key + (tick / 2) * 7).collect::<Vec<_>>());
    let next = Rc::new(Cell::new(0));
    world.keyed(keys, move |key| {
        let next = next.clone();
        async move || {
            next.set(next.get() + 1);
            (key, next.get())
        }
    })
}

fn a_world_of_lists_is_not_accused(make: Make<'_>) {
    let world = || {
        let mut world = make();
        let things = numbered(&mut world);
        let values = world.values(things);
        world.watch(values).unwrap();
        world
    };
    find_dependence(10, 0..4, world).unwrap();
    same(make, |world, log| {
        let things = numbered(world);
        let values = world.values(things);
        world.watch(values).unwrap();
        for _ in 0..10 {
            world.frame();
            log.borrow_mut().push(world.fingerprint());
        }
    });
}

/// They name other slots in each world, and another world.
fn handles_have_the_same_fingerprint(make: Make<'_>) {
    let log = same(make, |world, log| {
        let foreign: Stream<u32> = World::new().stream(async || 1);
        let choice = world.input(0_usize);
        let streams = (0..3_u32).map(|n| world.stream(async move || n)).collect::<Vec<_>>();
        let chosen = world.stream(async move || (streams[choice.stream().await], foreign));
        world.watch(chosen).unwrap();
        for n in [0, 1, 2, 0] {
            world.set(choice, n).unwrap();
            world.frame();
            log.borrow_mut().push(world.fingerprint());
        }
    });
    let mut others = log[..3].to_vec();
    others.sort_unstable();
    others.dedup();
    assert_eq!((others.len(), log[0]), (3, log[3]));
}
