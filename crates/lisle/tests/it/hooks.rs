//! Hooks that run when fibers are resumed and suspended.

use crate::support::watched;
use lisle::fiber::{Hooks, Moment, Switch};
use lisle::par::prelude::*;
use lisle::{Event, Runtime, channel, fiber, never, spawn, spawn_task};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

type Seen = Arc<Mutex<Vec<(String, Moment)>>>;

/// Records the hook calls for fibers that have a name.
struct Notes {
    prefix: &'static str,
    seen: Seen,
}

/// The data that it keeps for each fiber.
#[derive(Default)]
struct Kept {
    calls: usize,
    thread: Option<ThreadId>,
    seen: Option<(String, Seen)>,
}

impl Notes {
    fn new(prefix: &'static str) -> (Self, Seen) {
        let seen = Seen::default();
        (Notes { prefix, seen: seen.clone() }, seen)
    }

    fn note(&self, switch: &Switch<'_>, kept: &mut Kept) {
        // The calls for a fiber come in pairs, on one thread.
        assert_eq!(kept.calls.is_multiple_of(2), matches!(switch.moment(), Moment::Begins | Moment::GoesOn));
        assert_eq!(kept.calls == 0, switch.moment() == Moment::Begins);
        let here = std::thread::current().id();
        assert_eq!(*kept.thread.get_or_insert(here), here);
        kept.calls += 1;
        let Some(name) = switch.name() else { return };
        assert!(switch.spawned_at().file().ends_with("hooks.rs") && !switch.is_runner());
        let name = format!("{}{name}", self.prefix);
        kept.seen = Some((name.clone(), self.seen.clone()));
        self.seen.lock().unwrap().push((name, switch.moment()));
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        assert!(self.calls.is_multiple_of(2) && self.thread == Some(std::thread::current().id()));
        if let Some((name, seen)) = &self.seen {
            seen.lock().unwrap().push((format!("{name} dropped"), Moment::Ends));
        }
    }
}

impl Hooks for Notes {
    type Local = Kept;
    fn resumed(&self, switch: &Switch<'_>, kept: &mut Kept) {
        self.note(switch, kept);
    }
    fn suspended(&self, switch: &Switch<'_>, kept: &mut Kept) {
        self.note(switch, kept);
    }
}

/// Returns the notes about `name`.
fn of(seen: &Seen, name: &str) -> Vec<Moment> {
    seen.lock().unwrap().iter().filter(|note| note.0 == name).map(|note| note.1).collect()
}

fn named<T: Send + 'static>(
    name: &str,
    f: impl FnOnce() -> T + Send + 'static,
) -> lisle::fiber::JoinHandle<T> {
    fiber::Builder::new().name(name).spawn(f)
}

const TURN: [Moment; 2] = [Moment::Begins, Moment::Ends];

#[test]
fn each_turn_of_a_fiber_is_told_from_beginning_to_end() {
    let _watched = watched();
    let (notes, seen) = Notes::new("");
    let told = seen.clone();
    Runtime::builder().domains(1).hooks(notes).run(|| {
        let (tx, rx) = channel::<usize>();
        let waits = named("waits", move || rx.recv().unwrap() + rx.recv().unwrap());
        let yields = named("yields", fiber::yield_now);
        let panics = named("panics", || panic!("in a fiber"));
        let at_once = named("at once", || drop(channel::bounded::<u32>(1)));
        for i in 1..3 {
            while of(&told, "waits").iter().filter(|moment| **moment == Moment::Waits).count() < i {
                fiber::yield_now();
            }
            tx.send(i).unwrap();
        }
        assert_eq!(waits.join().unwrap(), 3);
        yields.join().unwrap();
        assert!(panics.join().is_err());
        at_once.join().unwrap();
    });
    let [begins, goes_on, waits, ends] = [Moment::Begins, Moment::GoesOn, Moment::Waits, Moment::Ends];
    assert_eq!(of(&seen, "waits"), [begins, waits, goes_on, waits, goes_on, ends]);
    assert_eq!(of(&seen, "yields"), [begins, waits, goes_on, ends]);
    assert_eq!(of(&seen, "panics"), TURN);
    assert_eq!(of(&seen, "at once"), TURN);
    assert_eq!(of(&seen, "at once dropped"), [ends]);
}

#[test]
fn several_hooks_nest() {
    let _watched = watched();
    let seen = Seen::default();
    let notes = ["a ", "b "].map(|prefix| Notes { prefix, seen: seen.clone() });
    let [a, b] = notes;
    Runtime::builder().domains(1).hooks(a).hooks(b).run(|| named("fiber", || ()).join().unwrap());
    let order = seen.lock().unwrap().iter().map(|note| note.0.clone()).collect::<Vec<_>>();
    assert_eq!(order, ["a fiber", "b fiber", "b fiber", "b fiber dropped", "a fiber", "a fiber dropped"]);
}

#[test]
fn fibers_that_a_shutdown_unwinds_have_their_last_call_and_those_that_never_begin_have_none() {
    let _watched = watched();
    let (notes, seen) = Notes::new("");
    Runtime::builder().domains(1).hooks(notes).run(|| {
        drop(named("unwound", || never::<()>().sync()));
        fiber::yield_now();
        drop(named("unbegun", || ()));
    });
    let [begins, goes_on, waits, ends] = [Moment::Begins, Moment::GoesOn, Moment::Waits, Moment::Ends];
    assert_eq!(of(&seen, "unwound"), [begins, waits, goes_on, ends]);
    // The fiber had begun when its closure was dropped, or it had not.
    assert!([&[][..], &TURN].contains(&&*of(&seen, "unbegun")));
}

/// Fibers of the library run tasks that continue and parts of loops.
#[test]
fn runners_are_told_of() {
    struct Bearers(Arc<AtomicUsize>);
    impl Hooks for Bearers {
        type Local = bool;
        fn resumed(&self, switch: &Switch<'_>, runs: &mut bool) {
            assert!(!std::mem::replace(runs, true));
            self.0.fetch_add(usize::from(switch.is_runner()), Ordering::Relaxed);
        }
        fn suspended(&self, _: &Switch<'_>, runs: &mut bool) {
            assert!(std::mem::replace(runs, false));
        }
    }
    let _watched = watched();
    let turns = Arc::new(AtomicUsize::new(0));
    Runtime::builder().domains(1).hooks(Bearers(turns.clone())).run(|| {
        let (tx, rx) = channel::<u32>();
        let task = spawn_task(async move {
            let first = rx.recv_evt().await.unwrap();
            first + rx.recv().unwrap() // in place
        });
        assert_eq!(turns.load(Ordering::Relaxed), 0, "it has begun on its spawner's stack");
        tx.send(1).unwrap();
        fiber::yield_now();
        tx.send(2).unwrap();
        assert_eq!(task.join().unwrap(), 3);
        // The task continued, and continued again after it had waited in place.
        assert!(turns.load(Ordering::Relaxed) >= 2);
    });
    let turns = Arc::new(AtomicUsize::new(0));
    Runtime::builder().domains(2).hooks(Bearers(turns.clone())).run(|| {
        while turns.load(Ordering::Relaxed) == 0 {
            (0..10_000_u32).into_par_iter().for_each(|_| std::thread::yield_now());
        }
    });
}

/// The current fiber is the one that the hook is called for, and a hook may poll, signal and spawn.
#[test]
fn hooks_act_for_the_fiber() {
    lisle::fiber_local! {
        static NUMBER: Cell<u32> = Cell::new(0);
        static LAST: RefCell<Option<OnDrop>> = RefCell::new(None);
    }
    thread_local! { static CURRENT: Cell<u32> = const { Cell::new(0) }; }
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    struct OnDrop;
    impl Drop for OnDrop {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }
    struct Numbers(channel::Sender<usize>);
    impl Hooks for Numbers {
        type Local = ();
        fn resumed(&self, _: &Switch<'_>, (): &mut ()) {
            CURRENT.set(NUMBER.with(Cell::get));
        }
        fn suspended(&self, switch: &Switch<'_>, (): &mut ()) {
            NUMBER.with(|number| number.set(CURRENT.take()));
            if switch.moment() == Moment::Ends && switch.name().is_some() {
                // Created again after the fiber has dropped its own.
                LAST.with(|last| *last.borrow_mut() = Some(OnDrop));
                self.0.try_send(switch.id()).unwrap();
                drop(spawn(|| ()));
            }
        }
    }
    let _watched = watched();
    let (tx, rx) = channel::bounded(2);
    Runtime::builder().domains(1).hooks(Numbers(tx)).run(|| {
        let counts = || {
            for i in 0..10 {
                assert_eq!(CURRENT.replace(i + 1), i);
                fiber::yield_now();
            }
        };
        let fibers = ["one", "other"].map(|name| named(name, counts));
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
        assert!(rx.recv().unwrap() != 0 && rx.recv().unwrap() != 0);
        assert_eq!((CURRENT.get(), DROPPED.load(Ordering::Relaxed)), (0, 2));
    });
}
