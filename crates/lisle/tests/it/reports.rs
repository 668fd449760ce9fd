//! Reports of a runtime go only to the handler that its builder has named, and a handler that fails
//! does no harm.

use crate::support::child::{Ended, part};
use crate::support::watched;
use lisle::event::{Attempt, Description, Never, Step};
use lisle::time::sleep;
use lisle::{Builder, Event, OnDeadlock, PanicPolicy, Report, Runtime, channel, fiber, never, spawn};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;

/// The reports so far.
#[derive(Default)]
struct Heard {
    all: Mutex<Vec<Report>>,
    more: Condvar,
}

/// Returns a builder of a runtime whose reports are kept.
fn listened_to(domains: usize) -> (Builder, Arc<Heard>) {
    let heard = Arc::new(Heard::default());
    let here = heard.clone();
    let builder = Runtime::builder().domains(domains).on_report(move |report| {
        here.all.lock().unwrap().push(report.clone());
        here.more.notify_all();
    });
    (builder, heard)
}

impl Heard {
    /// Blocks the thread until `find` returns a value for a report, and returns that value.
    fn wait_for<T>(&self, find: impl Fn(&Report) -> Option<T>) -> T {
        let mut all = self.all.lock().unwrap();
        loop {
            if let Some(found) = all.iter().find_map(&find) {
                return found;
            }
            all = self.more.wait(all).unwrap();
        }
    }
}

fn text_of(name: &str) -> impl Fn(&Report) -> Option<String> {
    move |report| match report {
        Report::Panic(panic) if panic.name.as_deref() == Some(name) => Some(report.to_string()),
        _ => None,
    }
}

#[test]
fn panics_of_fibers_and_tasks_are_reported_with_name_and_place() {
    let _watched = watched();
    for domains in [1, 2] {
        let (builder, heard) = listened_to(domains);
        builder.run(|| {
            let (tx, rx) = channel::<()>();
            drop(fiber::Builder::new().name("forsaken").spawn(|| panic!("nobody hears me")));
            drop(lisle::spawn_task(async move {
                rx.recv_evt().await.unwrap();
                panic!("nor me");
            }));
            tx.send(()).unwrap();
            // Tasks that are left when a runtime ends are not waited for.
            let is_panic = |report: &&Report| matches!(report, Report::Panic(_));
            while heard.all.lock().unwrap().iter().filter(is_panic).count() < 2 {
                fiber::yield_now();
            }
        });
        let text = heard.wait_for(text_of("forsaken"));
        assert!(text.starts_with("fiber 'forsaken' (spawned at crates/lisle/tests/it/reports.rs:"), "{text}");
        assert!(text.ends_with(") panicked and is not joined: nobody hears me"), "{text}");
        let panic = heard.wait_for(|report| match report {
            Report::Panic(panic) if panic.message == "nor me" => Some(panic.clone()),
            _ => None,
        });
        assert!(panic.who.starts_with("a task (spawned at"), "{panic:?}");
        assert!(panic.site.file().ends_with("reports.rs") && panic.name.is_none());
    }
}

#[test]
fn a_policy_that_ignores_panics_reports_none() {
    let _watched = watched();
    let (builder, heard) = listened_to(1);
    let panicked = Arc::new(AtomicUsize::new(0));
    let panics = panicked.clone();
    builder.panic_policy(PanicPolicy::Ignore).drain(true).run(move || {
        drop(spawn(move || {
            panics.fetch_add(1, Ordering::SeqCst);
            panic!("nobody hears me")
        }));
    });
    assert_eq!(panicked.load(Ordering::SeqCst), 1);
    assert!(heard.all.lock().unwrap().is_empty());
}

#[test]
fn a_deadlock_is_reported_with_its_graph() {
    let _watched = watched();
    let (builder, heard) = listened_to(2);
    let runtime = builder.closed_world(true).on_deadlock(OnDeadlock::Report).start().unwrap();
    let (_tx, rx) = channel::<()>();
    let fiber = runtime.spawn(move || rx.recv());
    let deadlock = heard.wait_for(|report| match report {
        Report::Deadlock(deadlock) => Some(deadlock.clone()),
        _ => None,
    });
    assert_eq!(deadlock.waiting().fibers.len(), 1);
    drop(runtime);
    assert!(fiber.join().is_err());
}

/// Both ways to end a runtime: `run`, which also names fibers that do not run, and dropping a
/// runtime.
#[test]
fn fibers_that_do_not_end_are_reported() {
    let _watched = watched();
    let let_go = Arc::new((Mutex::new(false), Condvar::new()));
    let stuck = |let_go: Arc<(Mutex<bool>, Condvar)>| {
        move || {
            let lock = let_go.0.lock().unwrap();
            drop(let_go.1.wait_while(lock, |is_let_go| !*is_let_go).unwrap());
        }
    };
    let unfinished = |report: &Report| match report {
        Report::Unfinished(unfinished) => Some(unfinished.clone()),
        _ => None,
    };
    let (builder, heard) = listened_to(2);
    builder.shutdown_deadline(Duration::from_millis(10)).run(|| {
        let (tx, rx) = std::sync::mpsc::channel();
        let stuck = stuck(let_go.clone());
        let stuck = move || {
            tx.send(()).unwrap();
            stuck();
        };
        drop(fiber::Builder::new().name("stubborn").domain(1).spawn(stuck));
        rx.recv().unwrap();
    });
    let shutdown = heard.wait_for(unfinished);
    assert_eq!((shutdown.unfinished, shutdown.stragglers.len()), (1, 1));
    assert_eq!(shutdown.stragglers[0].name.as_deref(), Some("stubborn"));
    *let_go.0.lock().unwrap() = true;
    let_go.1.notify_all();

    let let_go = Arc::new((Mutex::new(false), Condvar::new()));
    let (builder, heard) = listened_to(1);
    let runtime = builder.start().unwrap();
    drop(runtime.spawn(stuck(let_go.clone())));
    while runtime.waiting().silent.is_empty() {}
    drop(runtime);
    assert_eq!(heard.wait_for(unfinished).unfinished, 1);
    *let_go.0.lock().unwrap() = true;
    let_go.1.notify_all();
}

/// Wakers, destructors and the like that panic where only the library can observe it.
#[test]
fn what_is_contained_is_reported() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("not now");
        }
    }
    let _watched = watched();
    let (builder, heard) = listened_to(1);
    builder.run(|| {
        let (tx, rx) = channel::<()>();
        let waker = Waker::from(Arc::new(Panics));
        let mut future = Box::pin(rx.recv_evt().future());
        assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        tx.send(()).unwrap();
    });
    let contained = |report: &Report| match report {
        Report::Contained(what) => Some(what.clone()),
        _ => None,
    };
    assert_eq!(heard.wait_for(contained), "a waker given to an event's future has panicked");
}

/// An event that never happens. It panics when it is asked to describe itself, with a payload whose
/// destructor panics.
struct Shy(Never<()>);

struct Payload;

impl Drop for Payload {
    fn drop(&mut self) {
        resume_unwind(Box::new("nor at that"));
    }
}

impl Event for Shy {
    type Output = ();
    type Branch<'e> = <Never<()> as Event>::Branch<'e>;
    fn is_single(&self) -> bool {
        self.0.is_single()
    }
    fn branch(&self) -> Self::Branch<'_> {
        self.0.branch()
    }
    fn try_commit<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        self.0.try_commit(branch, attempt)
    }
    fn publish<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        self.0.publish(branch, attempt)
    }
    fn withdraw<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
        self.0.withdraw(branch, attempt)
    }
    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) {
        self.0.complete(branch);
    }
    fn describe<'e>(&'e self, _: &Self::Branch<'e>, _: &mut Description) {
        resume_unwind(Box::new(Payload));
    }
}

#[test]
fn an_event_that_does_not_want_to_be_described_is_reported() {
    let _watched = watched();
    let (builder, heard) = listened_to(1);
    builder.run(|| {
        drop(spawn(|| Shy(never()).sync()));
        fiber::yield_now();
        assert_eq!(lisle::waiting().fibers.len(), 1);
    });
    assert!(heard.all.lock().unwrap().iter().any(|report| matches!(report, Report::Contained(_))));
}

/// The panic reports the refusal to wait.
#[test]
fn an_event_that_does_not_want_to_be_described_is_refused_all_the_same() {
    let _watched = watched();
    let (builder, _) = listened_to(1);
    builder.run(|| {
        let event = Shy(never());
        let refused = catch_unwind(AssertUnwindSafe(|| fiber::no_suspend(|| event.sync()))).unwrap_err();
        let text = refused.downcast::<String>().unwrap();
        assert!(text.contains("wait for an event"), "{text}");
    });
}

/// Each report has one handler: the handler of the runtime that the report is about.
#[test]
fn runtimes_do_not_hear_each_other() {
    let _watched = watched();
    let (loud, heard) = listened_to(1);
    let (quiet, nothing) = listened_to(2);
    let quiet = quiet.start().unwrap();
    loud.run(|| {
        drop(fiber::Builder::new().name("forsaken").spawn(|| panic!("nobody hears me")));
        fiber::yield_now();
    });
    quiet.run(fiber::yield_now);
    heard.wait_for(text_of("forsaken"));
    drop(quiet);
    assert!(nothing.all.lock().unwrap().is_empty());
}

/// The handler panics, and the next report still reaches it. Both go to standard error.
#[test]
fn a_handler_that_panics_harms_nobody() {
    let test = "reports::a_handler_that_panics_harms_nobody";
    let _watched = watched();
    if part().is_none() {
        let ended = Ended::of(test, "child");
        ended
            .succeeded()
            .says("lisle: the handler of reports has panicked: I have enough; its report was: fiber 'one' (");
        ended
            .says("lisle: the handler of reports has panicked: I have enough; its report was: fiber 'two' (");
        assert_eq!(ended.stderr.matches("lisle: ").count(), 2, "{}", ended.stderr);
        return;
    }
    let called = Arc::new(AtomicUsize::new(0));
    let count = called.clone();
    let handler = move |_: &Report| {
        count.fetch_add(1, Ordering::SeqCst);
        panic!("I have enough");
    };
    Runtime::builder().domains(1).on_report(handler).run(|| {
        for name in ["one", "two"] {
            drop(fiber::Builder::new().name(name).spawn(|| panic!("nobody hears me")));
            fiber::yield_now();
        }
        assert_eq!(spawn(|| 1).join().unwrap(), 1);
    });
    assert_eq!(called.load(Ordering::SeqCst), 2);
}

/// Actions of a handler may cause reports, which do not go to the handler itself.
#[test]
fn a_handler_is_not_called_within_itself() {
    let test = "reports::a_handler_is_not_called_within_itself";
    let _watched = watched();
    if part().is_none() {
        let ended = Ended::of(test, "child");
        ended.succeeded().says("lisle: a waker given to an event's future has panicked\n");
        assert_eq!(ended.stderr.matches("lisle: ").count(), 1, "{}", ended.stderr);
        return;
    }
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("not now");
        }
    }
    let handler = |_: &Report| {
        let (tx, rx) = channel::<()>();
        let waker = Waker::from(Arc::new(Panics));
        let mut future = Box::pin(rx.recv_evt().future());
        assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        tx.try_send(()).unwrap();
    };
    Runtime::builder().domains(1).on_report(handler).run(|| {
        drop(spawn(|| panic!("nobody hears me")));
        fiber::yield_now();
    });
}

/// The process asks the system for more stacks than it may have, until some fibers have ended.
#[cfg(target_os = "linux")]
#[test]
fn a_fiber_without_a_stack_waits_and_that_is_reported() {
    let test = "reports::a_fiber_without_a_stack_waits_and_that_is_reported";
    let _watched = watched();
    if part().is_none() {
        let ended = Ended::of(test, "child");
        if ended.stderr.contains("AddressSanitizer failed to allocate") {
            return eprintln!("not tried: AddressSanitizer itself does not survive it");
        }
        ended.succeeded().says_not("lisle: ");
        return;
    }
    let (builder, heard) = listened_to(1);
    builder.run(|| {
        leave_address_space(256 << 20);
        let waiting: Vec<_> = (0..2_000).map(|_| spawn(|| fiber::cancelled_evt().sync())).collect();
        let is_told = |report: &Report| match report {
            Report::NoStack(no_stack) => Some((no_stack.domain, no_stack.site.file())),
            _ => None,
        };
        let told = || heard.all.lock().unwrap().iter().find_map(is_told);
        while told().is_none() {
            sleep(Duration::from_millis(1));
        }
        assert_eq!(told().unwrap(), (0, file!()));
        waiting.iter().for_each(lisle::fiber::JoinHandle::cancel);
        waiting.into_iter().for_each(|fiber| drop(fiber.join()));
    });
    thread::yield_now();
}

/// Limits the address space of this process to its present size and `more` bytes.
#[cfg(target_os = "linux")]
fn leave_address_space(more: u64) {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = status.split(' ').next().unwrap().parse().unwrap();
    let limit = pages * 4096 + more;
    let limit = libc::rlimit { rlim_cur: limit, rlim_max: limit };
    // SAFETY: the pointer is to a live value.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
}

/// One domain has all the stacks that there are, and another one has none. When the first has some left
/// over, they are for the other.
#[cfg(target_os = "linux")]
#[test]
fn a_domain_without_a_stack_waits_for_those_of_another() {
    let test = "reports::a_domain_without_a_stack_waits_for_those_of_another";
    let _watched = watched();
    if part().is_none() {
        let ended = Ended::of(test, "child");
        if ended.stderr.contains("AddressSanitizer failed to allocate") {
            return eprintln!("not tried: AddressSanitizer itself does not survive it");
        }
        ended.succeeded().says_not("lisle: ");
        return;
    }
    let (builder, heard) = listened_to(2);
    builder.run(|| {
        leave_address_space(100 << 20);
        let gate = Arc::new(lisle::sync::Condition::new());
        let waits = |gate: Arc<lisle::sync::Condition>| move || gate.wait();
        let held: Vec<_> = (0..300).map(|_| fiber::spawn_on(0, waits(gate.clone()))).collect();
        let waits_for_stacks = |domain| {
            let fibers = lisle::waiting().fibers.into_iter();
            let here = fibers.filter(|fiber| fiber.domain == Some(domain));
            here.filter(|fiber| fiber.waits.iter().any(|wait| wait.to_string().contains("stack"))).count()
        };
        while waits_for_stacks(0) == 0 {
            sleep(Duration::from_millis(1));
        }
        let others: Vec<_> = (0..20).map(|n| fiber::spawn_on(1, move || n)).collect();
        while waits_for_stacks(1) == 0 {
            sleep(Duration::from_millis(1));
        }
        // Meanwhile those that have begun go on.
        sleep(Duration::from_millis(5));
        gate.signal();
        for (n, other) in others.into_iter().enumerate() {
            assert_eq!(other.join().unwrap(), n);
        }
        held.into_iter().for_each(|fiber| fiber.join().unwrap());
    });
    let told = heard.all.lock().unwrap().iter().filter(|report| matches!(report, Report::NoStack(_))).count();
    assert_eq!(told, 1);
}

/// A size of stacks that no address space holds is an error of the start.
#[test]
fn stacks_that_no_address_space_holds_are_refused() {
    let _watched = watched();
    let builder = Runtime::builder().domains(1).stack_size(usize::MAX / 2);
    let error = builder.clone().start().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
    assert!(error.to_string().contains("do not fit into the address space"), "{error}");
    assert!(catch_unwind(AssertUnwindSafe(|| builder.run(|| ()))).is_err());
}
