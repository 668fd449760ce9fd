//! Waits of producers and computations below functions that foreign code could call. No panic leaves
//! these, so neither a deadline nor the end of a runtime unwinds them.

use lisle::effect::{
    Effect, Generator, Items, Suspended, Values, finish, generate, generator, handle, perform,
};
use lisle::time::{DeadlinePassed, sleep, with_deadline};
use lisle::{Event, Runtime, channel};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const SOON: Duration = Duration::from_millis(5);
/// Beyond the deadline, and within the test.
const LATER: Duration = Duration::from_millis(20);
/// A time that does not pass in a test.
const LONG: Duration = Duration::from_secs(3_600);

thread_local! {
    static WAIT: Cell<fn()> = const { Cell::new(|| ()) };
    static TAKEN: Cell<u32> = const { Cell::new(0) };
}

static DROPPED: AtomicU32 = AtomicU32::new(0);

/// A value with a destructor: it runs before the end of the process if a panic arrives.
struct Counts;

impl Drop for Counts {
    #[inline(never)]
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Ordering::SeqCst);
    }
}

fn wait() {
    WAIT.get()();
}

fn take(count: u32) {
    TAKEN.set(TAKEN.get() + count);
}

fn gives(items: &Items<u32>) {
    items.give(1);
    wait();
    items.give(2);
}

struct Ask;
impl Effect for Ask {
    type Answer = u32;
}

fn asks() -> u32 {
    let first = perform(Ask);
    wait();
    first + perform(Ask)
}

extern "C" fn waits() {
    wait();
    take(3);
}

extern "C" fn waits_with_something_to_drop() {
    let _counts = Counts;
    wait();
    take(3);
}

extern "C" fn takes_from_generator() {
    for item in generator(gives) {
        take(item);
    }
}

extern "C" fn takes_from_generator_of_another() {
    extern "C" fn takes(items: &mut Generator<u32>) {
        items.for_each(take);
    }
    let mut items = generator(gives);
    takes(&mut items);
}

extern "C" fn takes_from_generate() {
    generate(gives, |mut items| {
        extern "C" fn takes(items: &mut Values<'_, u32>) {
            for item in items {
                take(item);
            }
        }
        takes(&mut items);
        assert_eq!(items.next(), None);
    });
}

extern "C" fn takes_from_generator_in_computation() {
    let sum = handle(|| generator(|items| items.give(asks())).sum::<u32>());
    take(sum.answer(|Ask| 1).run() + 1);
}

extern "C" fn handles() {
    let _counts = Counts;
    let mut next = 0;
    let answered = handle(asks).on(|Ask, k| {
        next += 1;
        k.resume(next)
    });
    take(answered.run());
}

extern "C" fn resumes() {
    let kept = Rc::new(RefCell::new(None::<Suspended<u32, u32>>));
    let slot = kept.clone();
    let first = handle(|| {
        perform(Ask);
        wait();
        3
    });
    first
        .on(move |Ask, k| {
            *slot.borrow_mut() = Some(k.keep());
            finish(0)
        })
        .run();
    let kept = kept.take().expect("it was kept");
    take(kept.resume(7));
}

const CALLS: [(&str, extern "C" fn()); 8] = [
    ("wait", waits),
    ("wait with something to drop", waits_with_something_to_drop),
    ("generator", takes_from_generator),
    ("generator of another", takes_from_generator_of_another),
    ("generate", takes_from_generate),
    ("generator in a computation", takes_from_generator_in_computation),
    ("handle", handles),
    ("resume", resumes),
];

/// Returns the cases in which the library recognizes such a function. All but two of them copy
/// much; these it recognizes only on x86-64 Linux.
fn calls() -> &'static [(&'static str, extern "C" fn())] {
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) { &CALLS } else { &CALLS[..2] }
}

/// Runs `f` on this thread, and in a fiber.
fn everywhere(f: impl Fn() + Sync) {
    f();
    Runtime::builder().domains(1).run(&f);
}

#[test]
fn a_deadline_waits_for_them() {
    everywhere(|| {
        for &(name, call) in calls() {
            TAKEN.set(0);
            WAIT.set(|| sleep(LATER));
            let after = Cell::new(false);
            let ended = with_deadline(SOON, || {
                std::hint::black_box(call)();
                after.set(true);
                sleep(LONG);
            });
            assert_eq!((ended, after.get(), TAKEN.get()), (Err(DeadlinePassed), true, 3), "{name}");
        }
    });
}

/// Frames that can be unwound are, also the part of them below an inner deadline.
#[test]
fn a_deadline_unwinds_what_it_can() {
    everywhere(|| {
        WAIT.set(|| sleep(LONG));
        let after = Cell::new(false);
        let ended = with_deadline(SOON, || {
            generator(gives).for_each(drop);
            after.set(true);
        });
        assert_eq!((ended, after.get()), (Err(DeadlinePassed), false));
        let ended = with_deadline(LONG, || with_deadline(SOON, || generator(gives).count()));
        assert_eq!(ended, Ok(Err(DeadlinePassed)));
        // Below such a function, a deadline unwinds up to the function.
        extern "C" fn has_a_deadline() {
            let _counts = Counts;
            assert_eq!(with_deadline(SOON, || generator(gives).count()), Err(DeadlinePassed));
            let mut items = generator(gives);
            assert_eq!(with_deadline(SOON, || items.by_ref().count()), Err(DeadlinePassed));
            assert_eq!(items.next(), None);
        }
        extern "C" fn catches() {
            let _counts = Counts;
            let caught = catch_unwind(|| {
                let _counts = Counts;
                for item in generator(gives) {
                    take(item);
                }
            });
            assert!(caught.is_err());
        }
        std::hint::black_box(has_a_deadline as extern "C" fn())();
        // The outer deadline is out of reach.
        WAIT.set(|| {
            sleep(LATER);
            panic!("caught");
        });
        let ended = with_deadline(SOON, || std::hint::black_box(catches as extern "C" fn())());
        assert_eq!(ended, Ok(()));
    });
}

/// A destructor that a panic runs gets all its items, also after the deadline.
#[test]
fn a_deadline_waits_for_a_destructor_that_takes() {
    struct Takes;
    impl Drop for Takes {
        fn drop(&mut self) {
            for item in generator(gives) {
                take(item);
            }
        }
    }
    everywhere(|| {
        TAKEN.set(0);
        WAIT.set(|| sleep(LATER));
        let caught = catch_unwind(AssertUnwindSafe(|| {
            with_deadline(SOON, || {
                let _takes = Takes;
                panic!("runs the destructor");
            })
        }));
        assert!(caught.is_err());
        assert_eq!(TAKEN.get(), 3);
    });
}

#[test]
fn a_runtime_that_ends_leaves_them() {
    thread_local! {
        static TELL: RefCell<Option<lisle::channel::Sender<()>>> = const { RefCell::new(None) };
    }
    for &(name, call) in calls() {
        let runtime = Runtime::builder().domains(1).start().unwrap();
        let (tell, told) = channel();
        drop(runtime.spawn(move || {
            TELL.set(Some(tell));
            WAIT.set(|| {
                let tell = TELL.take().expect("it waits once");
                tell.send(()).unwrap();
                lisle::never::<()>().sync();
            });
            lisle::fiber::Builder::new().name("within").spawn(move || std::hint::black_box(call)());
        }));
        told.recv().unwrap();
        let shutdown = runtime.shutdown(Duration::from_millis(50));
        assert_eq!(shutdown.unfinished, 1, "{name}: {shutdown}");
        assert!(shutdown.to_string().contains("fiber 'within'"), "{name}: {shutdown}");
    }
}
