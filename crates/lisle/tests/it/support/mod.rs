//! The worlds in which every case runs, and code that the cases share.
//!
//! A case is written once, as an `async` function over a [`Cx`]. Its performers are spawned through
//! the `Cx` and perform events through it. In a world of futures an event is awaited. Everywhere
//! else `Cx::sync` calls `Event::sync`, which waits in place, so the `async` function never
//! suspends, and one poll runs it from start to end on the performer's own stack.

pub(crate) mod child;
mod executor;
mod watch;

pub(crate) use executor::{Executor, block_on, poll_once};
pub(crate) use watch::watched;

use lisle::event::Source;
use lisle::time::after;
use lisle::{Event, Runtime};
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// The kind of performers of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum World {
    /// Fibers of a runtime with this many domains. The first domain is the calling thread if `here`
    /// is set.
    Fibers { domains: usize, here: bool },
    /// Tasks of a runtime with this many domains.
    Tasks { domains: usize },
    /// Plain OS threads.
    Threads,
    /// Futures on a pool that does not belong to this library.
    Futures,
    /// Fibers, threads, futures and tasks in turn, all against all.
    Mixed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Fiber,
    Task,
    Thread,
    Future,
}

struct Shared {
    world: World,
    runtime: Option<Runtime>,
    executor: Option<Executor>,
    spawned: AtomicUsize,
}

/// The context of a performer.
#[derive(Clone)]
pub(crate) struct Cx {
    shared: Arc<Shared>,
    kind: Kind,
}

/// A performer to be joined with [`Cx::join`].
#[must_use = "a performer's panic is seen by its joiner only"]
pub(crate) struct Join<T> {
    outcome: Arc<Source<Outcome<T>, std::thread::Result<T>>>,
}

type Outcome<T> = Option<std::thread::Result<T>>;
type Performer<T> = Box<dyn FnOnce(Cx) -> Pin<Box<dyn Future<Output = T> + Send>> + Send>;

impl World {
    /// Runs `case` as the first performer of this world, and waits until all performers have gone.
    pub(crate) fn run<F, Fut>(self, case: F)
    where
        F: FnOnce(Cx) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        // Boxed, so worlds are compiled once, and not for each case.
        self.run_boxed(Box::new(move |cx| Box::pin(case(cx))));
    }

    fn run_boxed(self, case: Performer<()>) {
        let _watched = watched();
        let root = Cx { shared: Arc::new(Shared::new(self)), kind: Kind::Thread };
        let first = || root.start(case).outcome.event(Option::take).sync();
        let outcome = match self {
            World::Fibers { domains, here: true } => Runtime::builder().domains(domains).run(first),
            World::Tasks { .. } => {
                let runtime = root.shared.runtime.as_ref().expect("a world of tasks has a runtime");
                runtime.run(first)
            }
            _ => first(),
        };
        if let Err(panic) = outcome {
            // Others may still run, and wait for partners that never come now, so their world is
            // leaked.
            std::mem::forget(root);
            resume_unwind(panic);
        }
        while Arc::strong_count(&root.shared) > 1 {
            std::thread::yield_now();
        }
        let shared = Arc::into_inner(root.shared).expect("nobody else is left");
        if let Some(runtime) = shared.runtime {
            assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
        }
    }
}

impl Cx {
    /// Starts a performer.
    pub(crate) fn spawn<F, Fut, T>(&self, performer: F) -> Join<T>
    where
        F: FnOnce(Cx) -> Fut + Send + 'static,
        Fut: Future<Output = T> + Send + 'static,
        T: Send + 'static,
    {
        // Boxed, so the code that starts a performer is compiled for each type of value, and not
        // for each performer.
        self.start(Box::new(move |cx| Box::pin(performer(cx))))
    }

    fn start<T: Send + 'static>(&self, performer: Performer<T>) -> Join<T> {
        let outcome = Arc::new(Source::new(None));
        let join = Join { outcome: outcome.clone() };
        let finish = move |result| {
            outcome.update(|outcome, waiters| {
                if let Err(result) = waiters.grant(result) {
                    *outcome = Some(result);
                }
            });
        };
        let cx = Cx { shared: self.shared.clone(), kind: self.shared.next_kind() };
        match cx.kind {
            Kind::Thread => {
                let run = move || finish(catch_unwind(AssertUnwindSafe(|| at_once(performer(cx)))));
                let builder = std::thread::Builder::new().stack_size(512 * 1024);
                drop(builder.spawn(run).expect("the system gives a thread"));
            }
            Kind::Future => {
                let shared = cx.shared.clone();
                let executor = shared.executor.as_ref().expect("a world with futures has an executor");
                executor.spawn(async move { finish(caught(performer(cx)).await) });
            }
            // On the spawner's stack, for every kind of spawner.
            Kind::Task => drop(lisle::spawn_task(async move { finish(caught(performer(cx)).await) })),
            Kind::Fiber => {
                let shared = cx.shared.clone();
                let run = move || finish(catch_unwind(AssertUnwindSafe(|| at_once(performer(cx)))));
                match &shared.runtime {
                    Some(runtime) => drop(runtime.spawn(run)),
                    None => drop(lisle::spawn(run)),
                }
            }
        }
        join
    }

    /// Waits for a performer. Its panic continues here.
    pub(crate) async fn join<T: Send>(&self, join: Join<T>) -> T {
        match self.join_caught(join).await {
            Ok(value) => value,
            Err(panic) => resume_unwind(panic),
        }
    }

    /// Waits for a performer that may have panicked.
    pub(crate) async fn join_caught<T: Send>(&self, join: Join<T>) -> std::thread::Result<T> {
        self.sync(join.outcome.event(|outcome| outcome.take())).await
    }

    /// Waits for several performers, and returns their values in order.
    pub(crate) async fn join_all<T: Send>(&self, joins: impl Into<Vec<Join<T>>> + Send) -> Vec<T> {
        let joins: Vec<Join<T>> = joins.into();
        let mut values = Vec::with_capacity(joins.len());
        for join in joins {
            values.push(self.join(join).await);
        }
        values
    }

    /// Performs `event` in this world's way.
    ///
    /// The future's type is hidden. Otherwise, for a spawned performer to be `Send`, the compiler
    /// would have to show that bounds such as `E: Event` hold for all lifetimes in `E`, and it
    /// cannot (rust-lang/rust#110338).
    pub(crate) fn sync<'a, E>(&self, event: E) -> Pin<Box<dyn Future<Output = E::Output> + Send + 'a>>
    where
        E: Event + Send + 'a,
    {
        match self.kind {
            Kind::Future | Kind::Task => Box::pin(event.future()),
            Kind::Fiber | Kind::Thread => Box::pin(async move { event.sync() }),
        }
    }

    /// Lets other performers run.
    pub(crate) async fn yield_now(&self) {
        match self.kind {
            Kind::Fiber => lisle::fiber::yield_now(),
            Kind::Task => lisle::task::yield_now().await,
            Kind::Thread => std::thread::yield_now(),
            Kind::Future => {
                let mut yielded = false;
                poll_fn(|cx| {
                    if std::mem::replace(&mut yielded, true) {
                        return Poll::Ready(());
                    }
                    cx.waker().wake_by_ref();
                    Poll::Pending
                })
                .await;
            }
        }
    }

    /// Moves a task off its spawner's stack, where it runs until it awaits. To be called before an
    /// operation that blocks in place and needs the spawner.
    pub(crate) async fn go_apart(&self) {
        if self.kind == Kind::Task {
            lisle::task::inflate().await;
        }
    }

    /// Lets other performers run until `condition` holds.
    pub(crate) async fn until(&self, mut condition: impl FnMut() -> bool + Send) {
        let mut rounds = 0;
        while !condition() {
            self.yield_now().await;
            rounds += 1;
            if rounds % 256 == 0 {
                self.sync(after(Duration::from_millis(1))).await;
            }
        }
    }

    /// Returns `true` if performers are cheap here, so a case may have very many.
    pub(crate) fn is_light(&self) -> bool {
        matches!(self.shared.world, World::Futures | World::Fibers { .. } | World::Tasks { .. })
    }

    /// Returns `true` if this performer awaits instead of waiting in place.
    pub(crate) fn is_future(&self) -> bool {
        matches!(self.kind, Kind::Future | Kind::Task)
    }
}

impl Shared {
    fn new(world: World) -> Self {
        let runtime = match world {
            World::Fibers { domains, here: false } | World::Tasks { domains } => Some(domains),
            World::Mixed => Some(2),
            _ => None,
        };
        let runtime =
            runtime.map(|domains| Runtime::builder().domains(domains).start().expect("a runtime starts"));
        let executor = matches!(world, World::Futures | World::Mixed).then(|| Executor::new(3));
        Shared { world, runtime, executor, spawned: AtomicUsize::new(0) }
    }

    fn next_kind(&self) -> Kind {
        match self.world {
            World::Threads => Kind::Thread,
            World::Futures => Kind::Future,
            World::Fibers { .. } => Kind::Fiber,
            World::Tasks { .. } => Kind::Task,
            World::Mixed => match self.spawned.fetch_add(1, Ordering::Relaxed) % 4 {
                0 => Kind::Fiber,
                1 => Kind::Thread,
                2 => Kind::Task,
                _ => Kind::Future,
            },
        }
    }
}

/// Runs a future that never suspends.
pub(crate) fn at_once<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("a performer that waits in place does not suspend"),
    }
}

/// Runs a future and converts its panic into a value.
async fn caught<F: Future>(future: F) -> std::thread::Result<F::Output> {
    let mut future = pin!(future);
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(poll) => poll.map(Ok),
        Err(panic) => Poll::Ready(Err(panic)),
    })
    .await
}

/// Keeps the thread busy for so long.
pub(crate) fn compute(time: Duration) {
    let end = Instant::now() + time;
    while Instant::now() < end {
        std::hint::spin_loop();
    }
}

/// Runs `f` as a fiber, on one domain and on several.
pub(crate) fn on_domains(f: impl Fn()) {
    // The call of a closure by reference, so that runtimes are compiled for one type of closures.
    let f: &dyn Fn() = &f;
    let _watched = watched();
    for domains in [1, 2, 8] {
        Runtime::builder().domains(domains).stall_report(None).run(f);
    }
}

/// Returns the number of repetitions: fewer without optimization, and fewer still by the divisor
/// `LISLE_TEST_SCALE` (sanitizers make everything slow).
pub(crate) fn scaled(optimized: usize, debug: usize) -> usize {
    let count = if cfg!(debug_assertions) { debug } else { optimized };
    let divisor = std::env::var("LISLE_TEST_SCALE").ok().and_then(|divisor| divisor.parse().ok());
    (count / divisor.unwrap_or(1_usize).max(1)).max(1)
}

/// A user-defined counting semaphore.
pub(crate) struct Semaphore(Source<usize, ()>);

impl Semaphore {
    pub(crate) fn new(tokens: usize) -> Self {
        Semaphore(Source::new(tokens))
    }

    pub(crate) fn post(&self) {
        self.0.update(|tokens, waiters| {
            if waiters.grant(()).is_err() {
                *tokens += 1;
            }
        });
    }

    pub(crate) fn take_evt(&self) -> impl Event<Output = ()> + Send + Sync + '_ {
        self.0.event(|tokens: &mut usize| {
            *tokens = tokens.checked_sub(1)?;
            Some(())
        })
    }
}

/// A small random number generator, for cases that vary their actions.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % bound
    }
}

impl World {
    pub(crate) const ONE_DOMAIN: World = World::Fibers { domains: 1, here: true };
    pub(crate) const TWO_DOMAINS: World = World::Fibers { domains: 2, here: false };
    pub(crate) const TASKS_ON_ONE: World = World::Tasks { domains: 1 };
    pub(crate) const TASKS: World = World::Tasks { domains: 3 };
    /// More domains than the processors of a usual test machine.
    pub(crate) const EIGHT_DOMAINS: World = World::Fibers { domains: 8, here: true };
}

/// Makes one test of each case for each world.
macro_rules! worlds {
    ($($case:ident),* $(,)?) => {
        $crate::support::worlds!(@ one_domain ONE_DOMAIN $($case)*);
        $crate::support::worlds!(@ two_domains TWO_DOMAINS $($case)*);
        $crate::support::worlds!(@ eight_domains EIGHT_DOMAINS $($case)*);
        $crate::support::worlds!(@ tasks_on_one_domain TASKS_ON_ONE $($case)*);
        $crate::support::worlds!(@ tasks TASKS $($case)*);
        $crate::support::worlds!(@ threads Threads $($case)*);
        $crate::support::worlds!(@ futures Futures $($case)*);
        $crate::support::worlds!(@ mixed Mixed $($case)*);
    };
    (@ $name:ident $world:ident $($case:ident)*) => {
        mod $name {
            $(
                #[test]
                fn $case() {
                    $crate::support::World::$world.run(super::$case);
                }
            )*
        }
    };
}
pub(crate) use worlds;
