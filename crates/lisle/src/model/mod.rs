//! A deterministic context: the interface at which a model replaces a runtime's domains.
//!
//! Fibers run as coroutines of one thread, in an order drawn from a seed. Time is virtual and
//! passes when no fiber can run. The same seed gives the same run, so a test can go through
//! thousands of schedules and name the one that failed.

mod differential_tests;
mod ticker_tests;

use crate::event::{PerformerContext, PerformerWaker, Timer, Unparked};
use crate::shim::random::Random;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, Yielder};
use lisle_core::event::{install, step};
use lisle_core::time::wheel::Wheel;
use std::cell::{Cell, RefCell};
use std::ptr::NonNull;

type Start = Box<dyn FnOnce() + Send>;

/// A fiber of the model. It is boxed and not removed before the end, so wakers may point to it.
struct Fiber {
    coroutine: RefCell<Option<Coroutine<(), (), (), DefaultStack>>>,
    yielder: Cell<*const Yielder<(), ()>>,
    runnable: Cell<bool>,
    finished: Cell<bool>,
}

struct Model {
    // The box keeps the address stable: wakers refer to it while the vector grows.
    #[allow(clippy::vec_box)]
    fibers: RefCell<Vec<Box<Fiber>>>,
    current: Cell<*const Fiber>,
    random: Random,
    now: Cell<u64>,
    wheel: RefCell<Wheel<*const Timer>>,
    stacks: RefCell<Vec<DefaultStack>>,
}

/// Runs `main` and the fibers that it spawns in the schedule of `seed`. Returns the virtual time
/// that passed, in nanoseconds.
///
/// # Panics
///
/// Panics if fibers are left that nothing can wake.
pub(crate) fn run(seed: u64, main: impl FnOnce() + Send + 'static) -> u64 {
    let model: &'static Model = Box::leak(Box::new(Model {
        fibers: RefCell::default(),
        current: Cell::new(std::ptr::null()),
        random: Random::seeded(seed),
        now: Cell::new(0),
        wheel: RefCell::new(Wheel::new(0)),
        stacks: RefCell::new(Vec::new()),
    }));
    let _running = crate::shim::model::Running::begin();
    // SAFETY: the guard is dropped at the end of this function, before the model is.
    let installed = unsafe { install(model) };
    model.start(Box::new(main));
    while let Some(fiber) = model.pick() {
        model.current.set(fiber);
        // SAFETY: fibers stay in place until the model is dropped.
        let fiber = unsafe { &*fiber };
        let mut coroutine = fiber.coroutine.borrow_mut();
        if coroutine.as_mut().expect("a fiber has a stack").resume(()).as_return().is_some() {
            let stack = coroutine.take().map(Coroutine::into_stack);
            stack.into_iter().for_each(|stack| model.stacks.borrow_mut().push(stack));
            fiber.finished.set(true);
            fiber.runnable.set(false);
        }
        model.current.set(std::ptr::null());
    }
    let stuck = model.fibers.borrow().iter().filter(|fiber| !fiber.finished.get()).count();
    assert_eq!(stuck, 0, "seed {seed}: fibers wait and cannot be woken");
    drop(installed);
    // SAFETY: the model was leaked above. All fibers have finished, so nothing refers to it any
    // more.
    unsafe { Box::from_raw(std::ptr::from_ref(model).cast_mut()) }.now.get()
}

impl Model {
    fn start(&self, start: Start) {
        let stack = self.stacks.borrow_mut().pop();
        let stack =
            stack.unwrap_or_else(|| DefaultStack::new(64 * 1024).expect("a few stacks are to be had"));
        let fiber = Box::new(Fiber {
            coroutine: RefCell::new(None),
            yielder: Cell::new(std::ptr::null()),
            runnable: Cell::new(true),
            finished: Cell::new(false),
        });
        let address: *const Fiber = &raw const *fiber;
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
            // SAFETY: fibers stay in place until the model is dropped.
            unsafe { &*address }.yielder.set(yielder);
            start();
        });
        *fiber.coroutine.borrow_mut() = Some(coroutine);
        self.fibers.borrow_mut().push(fiber);
    }

    /// Returns a random fiber that can run. If there is none, advances the time until a timer is
    /// due.
    fn pick(&self) -> Option<*const Fiber> {
        loop {
            let fibers = self.fibers.borrow();
            let runnable: Vec<&Fiber> =
                fibers.iter().map(|fiber| &**fiber).filter(|fiber| fiber.runnable.get()).collect();
            if !runnable.is_empty() {
                let index = self.random.next() as usize % runnable.len();
                return Some(std::ptr::from_ref(runnable[index]));
            }
            let mut wheel = self.wheel.borrow_mut();
            self.now.set(wheel.next_deadline()?);
            wheel.advance(self.now.get(), |entry| {
                // SAFETY: the wheel has just handed out the entry, and the fiber that owns it
                // waits.
                if let Some(waker) = unsafe { Timer::expire(entry) } {
                    waker.wake();
                }
            });
        }
    }

    fn suspend(&self) {
        // SAFETY: called by the running fiber, which has begun.
        let fiber = unsafe { &*self.current.get() };
        // SAFETY: the yielder was set when the fiber began.
        unsafe { &*fiber.yielder.get() }.suspend(());
    }
}

fn wake(data: *const ()) {
    // SAFETY: fibers stay in place until the model is dropped, and the model runs on one thread.
    unsafe { &*data.cast::<Fiber>() }.runnable.set(true);
}

// SAFETY: `park` returns only when the fiber's waker has made it runnable. Timers stay in the wheel
// until they fire or are removed. Everything happens on one thread.
unsafe impl PerformerContext for Model {
    fn waker(&self) -> PerformerWaker {
        // A wake may come before the park. The fiber is made unrunnable here, so the park sees that
        // wake.
        // SAFETY: the running fiber is alive.
        unsafe { &*self.current.get() }.runnable.set(false);
        // SAFETY: `wake` is sound while the model is alive, and runs on this thread only.
        unsafe { PerformerWaker::new(self.current.get().cast(), wake) }
    }

    fn park(&self, _: bool) -> Unparked {
        // SAFETY: the running fiber is alive.
        let fiber = unsafe { &*self.current.get() };
        while !fiber.runnable.get() {
            self.suspend();
        }
        fiber.runnable.set(false);
        Unparked::Woken
    }

    fn unwind(&self) -> ! {
        unreachable!("the model interrupts no fiber")
    }

    unsafe fn arm(&self, timer: NonNull<Timer>, deadline: u64) {
        // SAFETY: the timer is alive and pinned, as the caller promises.
        let entry = unsafe { Timer::entry(timer) };
        // SAFETY: the entry is not linked, as the caller promises.
        unsafe { self.wheel.borrow_mut().insert(entry, deadline) };
    }

    unsafe fn disarm(&self, timer: NonNull<Timer>) {
        // SAFETY: the timer is alive, as the caller promises.
        let entry = unsafe { Timer::entry(timer) };
        // SAFETY: if the entry is linked, it is linked into this wheel.
        unsafe { self.wheel.borrow_mut().remove(entry) };
    }

    fn spawn(&self, fiber: Start) -> Result<(), Start> {
        self.start(fiber);
        Ok(())
    }

    /// Before every visible operation, other fibers may run.
    fn visible(&self) {
        if step::is_free() && self.random.next().is_multiple_of(2) {
            self.yield_now();
        }
    }

    fn yield_now(&self) {
        // SAFETY: the running fiber is alive.
        let fiber = unsafe { &*self.current.get() };
        // A guard that yields does so after the waker of its performance has been handed out. The
        // value that `waker` has set must be restored before that performance parks.
        let before = fiber.runnable.replace(true);
        self.suspend();
        fiber.runnable.set(before);
    }

    fn now(&self) -> u64 {
        self.now.get()
    }

    fn random(&self) -> u64 {
        self.random.next()
    }
}

mod tests {
    use super::run;
    use crate::event::guard;
    use crate::shim::sync::{Arc, Mutex};
    use crate::time::{after, sleep};
    use crate::{Event, always, choose, never};
    use std::collections::HashSet;
    use std::time::Duration;

    /// Two fibers each choose between sending and receiving on one channel. Exactly one of them
    /// receives in every schedule, and both outcomes occur.
    #[test]
    fn a_swap_pairs_off_in_every_schedule() {
        let mut outcomes = HashSet::new();
        for seed in 0..2_000 {
            let received = Arc::new(Mutex::new(Vec::new()));
            let seen = received.clone();
            run(seed, move || {
                let (tx, rx) = crate::channel();
                let fibers = [1, 2].map(|me| {
                    let (tx, rx, seen) = (tx.clone(), rx.clone(), seen.clone());
                    crate::spawn(move || {
                        let swap = choose((tx.send_evt(me).wrap(|_| None), rx.recv_evt().wrap(Result::ok)));
                        if let Some(other) = swap.sync() {
                            seen.lock().unwrap().push((me, other));
                        }
                    })
                });
                for fiber in fibers {
                    fiber.join().unwrap();
                }
            });
            let received = received.lock().unwrap().clone();
            assert!(received == [(1, 2)] || received == [(2, 1)], "seed {seed}: {received:?}");
            outcomes.extend(received);
        }
        assert_eq!(outcomes.len(), 2, "both fibers receive in some schedule");
    }

    #[test]
    fn one_seed_is_one_run_and_seeds_differ() {
        let order_of = |seed| {
            let order = Arc::new(Mutex::new(Vec::new()));
            let log = order.clone();
            run(seed, move || {
                let (tx, rx) = crate::channel::bounded(2);
                for fiber in 0..4 {
                    let tx = tx.clone();
                    crate::spawn(move || (0..3).for_each(|i| tx.send((fiber, i)).unwrap()));
                }
                drop(tx);
                log.lock().unwrap().extend(rx);
            });
            Arc::try_unwrap(order).unwrap().into_inner().unwrap()
        };
        let orders: HashSet<Vec<(i32, i32)>> = (0..50).map(order_of).collect();
        assert!(orders.len() > 25, "only {} different orders", orders.len());
        assert!((0..50).all(|seed| order_of(seed) == order_of(seed)));
    }

    #[test]
    fn time_is_virtual() {
        let start = std::time::Instant::now();
        let passed = run(7, || {
            let (tx, rx) = crate::channel::<()>();
            let hour = Duration::from_secs(3600);
            let waited = choose((rx.recv_evt().wrap(|_| false), after(hour).wrap(|()| true))).sync();
            assert!(waited);
            sleep(23 * hour);
            drop(tx);
        });
        let day = 24 * 3600 * 1_000_000_000;
        assert!((day..day + 1_000_000).contains(&passed), "{passed} ns");
        assert!(start.elapsed() < Duration::from_secs(3600));
    }

    /// A guard, and the closure that makes a second stage, may wait for other fibers in every
    /// schedule.
    #[test]
    fn guards_may_wait() {
        for seed in 0..500 {
            run(seed, || {
                let (tx, rx) = crate::channel::<u32>();
                let fiber = crate::spawn(move || {
                    let second =
                        |n: Result<u32, _>| (n, rx.recv()).1.map_or(never().boxed(), |n| always(n).boxed());
                    let made = guard(|| (rx.recv(), rx.recv_evt().replace(second)).1);
                    choose((made, never())).sync()
                });
                (1..=3).for_each(|n| tx.send(n).unwrap());
                assert_eq!(fiber.join().unwrap(), 3);
            });
        }
    }

    #[test]
    #[should_panic(expected = "cannot be woken")]
    fn a_deadlock_is_found() {
        run(1, || {
            let (_tx, rx) = crate::channel::<()>();
            let _ = rx.recv();
        });
    }
}
