//! Pools that host programs provide.

use lisle_frame::{Failure, Foreign, Pool, Progress, Work, Workers, World};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;

/// A job system of a host program: a queue of jobs and threads that take them one by one.
pub(crate) struct Jobs {
    queue: Option<mpsc::Sender<Work>>,
    threads: Vec<JoinHandle<()>>,
}

impl Jobs {
    pub(crate) fn start(threads: usize) -> Jobs {
        let (queue, jobs) = mpsc::channel::<Work>();
        let jobs = Arc::new(Mutex::new(jobs));
        let thread = |_| {
            let jobs = jobs.clone();
            std::thread::spawn(move || {
                loop {
                    let job = jobs.lock().unwrap().recv();
                    let Ok(job) = job else { return };
                    job.run();
                }
            })
        };
        Jobs { queue: Some(queue), threads: (0..threads).map(thread).collect() }
    }

    pub(crate) fn pool(&self) -> JobsPool {
        JobsPool { queue: self.queue.clone().unwrap(), threads: self.threads.len() }
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        self.queue = None;
        self.threads.drain(..).for_each(|thread| thread.join().unwrap());
    }
}

/// The world's handle of the host's job system.
pub(crate) struct JobsPool {
    queue: mpsc::Sender<Work>,
    threads: usize,
}

impl Pool for JobsPool {
    fn workers(&self) -> usize {
        self.threads
    }
    fn submit(&self, work: Work) {
        let _ = self.queue.send(work);
    }
}

/// A pool that keeps submitted work and never runs it.
#[derive(Default)]
pub(crate) struct Idle(RefCell<Vec<Work>>);

impl Pool for Idle {
    fn workers(&self) -> usize {
        3
    }
    fn submit(&self, work: Work) {
        self.0.borrow_mut().push(work);
    }
}

/// Runs a world with a pool, and checks the results of its calls.
fn check(pool: impl Pool, frames: usize) {
    let square = Foreign::new("square", |n: u64| n * n).batch(3);
    let bad = Foreign::new("bad", |n: u64| assert!(n.is_multiple_of(2), "{n} is odd")).batch(2);
    let mut world = World::builder().pool(pool).places(4).build();
    let streams = (0..50).map(|n| {
        world.stream(async move || {
            let first = square.call(n).await;
            let is_even = bad.try_call(first).await.is_ok();
            (square.call(first).await, is_even)
        })
    });
    let streams = streams.collect::<Vec<_>>();
    for _ in 0..frames {
        world.frame();
        for (n, stream) in (0..).zip(&streams) {
            assert_eq!(world.get(*stream).unwrap(), (n * n * n * n, u64::is_multiple_of(n, 2)));
        }
    }
}

/// 22. The world itself runs the calls that nobody takes.
#[test]
fn pools_that_do_nothing_or_too_much() {
    /// It drops its work, which runs the calls then and there.
    struct Drops;
    impl Pool for Drops {
        fn workers(&self) -> usize {
            2
        }
        fn submit(&self, work: Work) {
            drop(work);
        }
    }
    /// It runs the work on the caller's thread.
    struct AtOnce;
    impl Pool for AtOnce {
        fn workers(&self) -> usize {
            1
        }
        fn submit(&self, work: Work) {
            let _ = work.run();
        }
    }
    /// It loses its work.
    struct Forgets;
    impl Pool for Forgets {
        fn workers(&self) -> usize {
            3
        }
        fn submit(&self, work: Work) {
            std::mem::forget(work);
        }
    }
    /// It keeps work, and runs it while the world waits.
    #[derive(Default)]
    struct Helps(RefCell<Vec<Work>>, Cell<usize>);
    impl Pool for Helps {
        fn workers(&self) -> usize {
            2
        }
        fn submit(&self, work: Work) {
            self.0.borrow_mut().push(work);
        }
        fn help(&self) {
            self.1.set(self.1.get() + 1);
            self.0.borrow_mut().retain(|work| work.run() != Progress::Over);
        }
    }
    /// The number of its workers changes with each question.
    #[derive(Default)]
    struct Changes(Cell<usize>, Idle);
    impl Pool for Changes {
        fn workers(&self) -> usize {
            self.0.set(self.0.get() + 1);
            1 + self.0.get() * 7 % 5
        }
        fn submit(&self, work: Work) {
            self.1.submit(work);
        }
    }
    check(Drops, 5);
    check(AtOnce, 5);
    check(Forgets, 5);
    check(Helps::default(), 5);
    check(Changes::default(), 5);
    check(Idle::default(), 5);
    check(Jobs::start(3).pool(), 5);
}

/// 22. In each of its functions. The streams keep their values, and the next frame goes on.
#[test]
fn a_pool_that_panics_does_not_take_the_world_with_it() {
    #[derive(Clone, Default)]
    struct Panics(Rc<Cell<Option<&'static str>>>, Rc<RefCell<Vec<Work>>>);
    impl Panics {
        fn now(&self, place: &str) {
            if self.0.get() == Some(place) {
                self.0.set(None);
                panic!("in {place}");
            }
        }
    }
    impl Pool for Panics {
        fn workers(&self) -> usize {
            1
        }
        fn submit(&self, work: Work) {
            self.1.borrow_mut().push(work);
            self.now("submit");
        }
        fn wake(&self) {
            self.now("wake");
        }
        fn help(&self) {
            self.now("help");
            self.1.borrow_mut().retain(|work| work.run() != Progress::Over);
        }
    }
    for place in ["submit", "wake", "help"] {
        let pool = Panics::default();
        // A worker's own queue, which the world leaves to it for a while.
        let work = Foreign::new("work", |n: usize| vec![n; 10]).batch(2).homed();
        let mut world = World::builder().pool(pool.clone()).build();
        let streams = (0..21).map(|n| world.retrying().stream(async move || work.call(n).await[0]));
        let streams = streams.collect::<Vec<_>>();
        pool.0.set(Some(place));
        let _ = catch_unwind(AssertUnwindSafe(|| world.frame()));
        pool.0.set(None);
        for _ in 0..3 {
            world.frame();
        }
        for (n, stream) in streams.iter().enumerate() {
            assert_eq!(world.get(*stream).unwrap(), n, "after a panic in {place}");
        }
    }
}

/// 6, 22. Work may be kept for longer than the world, and run then.
#[test]
fn work_outlives_its_world() {
    let kept = Rc::new(RefCell::new(Vec::new()));
    #[derive(Clone)]
    struct Keeps(Rc<RefCell<Vec<Work>>>);
    impl Pool for Keeps {
        fn workers(&self) -> usize {
            2
        }
        fn submit(&self, work: Work) {
            self.0.borrow_mut().push(work);
        }
    }
    let token = Arc::new(());
    let work = Foreign::new("work", |token: Arc<()>| token).batch(1);
    let mut world = World::builder().pool(Keeps(kept.clone())).build();
    for _ in 0..10 {
        let token = token.clone();
        world.stream(async move || drop(work.call_over_frames(token.clone()).await));
    }
    world.frame();
    assert!(!kept.borrow().is_empty());
    drop(world);
    assert_eq!(Arc::strong_count(&token), 1);
    for work in kept.take() {
        assert!(work.has_ended() && !work.is_ready());
        assert_eq!(work.run(), Progress::Over);
    }
}

/// 6, 11. A call that is held until after the end of its world.
#[test]
fn a_call_outlives_its_world() {
    let workers = Workers::new(1).unwrap();
    let (go, wait) = mpsc::channel::<()>();
    let (begun, has_begun) = mpsc::channel::<()>();
    let wait = Arc::new(Mutex::new(wait));
    let done = Arc::new(AtomicBool::new(false));
    let finishes = done.clone();
    let block = Foreign::new("block", move |numbers: Vec<u64>| {
        begun.send(()).unwrap();
        wait.lock().unwrap().recv().unwrap();
        assert_eq!(numbers.iter().sum::<u64>(), 4_950);
        finishes.store(true, Ordering::Release);
        numbers
    });
    let mut world = World::builder().pool(&workers).build();
    let stream = world.stream(async move || block.call_over_frames((0..100).collect()).await.len());
    world.frame();
    has_begun.recv().unwrap();
    for _ in 0..3 {
        world.frame();
        let error = world.get(stream).unwrap_err();
        assert!(matches!(error.failure(), Failure::NoValue(_)), "{error}");
    }
    drop(world);
    assert!(!done.load(Ordering::Acquire));
    go.send(()).unwrap();
    drop(workers);
    assert!(done.load(Ordering::Acquire));
}
