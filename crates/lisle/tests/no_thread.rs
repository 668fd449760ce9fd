//! The system refuses threads.
//!
//! Each case is a process of its own: the limit is one of the user, so a case that runs as root first
//! becomes another user. The process runs this program again, with the name of the case in its
//! environment. There is no harness, whose threads would count.

use lisle::net::Pollable;
use lisle::time::{after, sleep};
use lisle::{Event, Report, Runtime, blocking, channel, choose, par, spawn};
use std::future::poll_fn;
use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::process::Command;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

const PART: &str = "LISLE_TEST_NO_THREAD";
const SHORT: Duration = Duration::from_millis(1);
/// In seconds: longer than anything takes here on a machine that is busy.
const PATIENCE: u32 = 120;

/// Each case with its text on standard error, where no runtime hears of it.
const CASES: &[(&str, fn(), &str)] = &[
    ("a_foreign_call_waits_for_a_thread", a_foreign_call_waits_for_a_thread, ""),
    ("foreign_calls_share_the_threads_that_there_are", foreign_calls_share_the_threads_that_there_are, ""),
    ("a_runtime_of_one_domain_needs_no_thread", a_runtime_of_one_domain_needs_no_thread, ""),
    ("a_runtime_of_several_is_refused", a_runtime_of_several_is_refused, ""),
    ("a_plain_thread_cannot_wait_for_a_time", a_plain_thread_cannot_wait_for_a_time, ""),
    (
        "loops_go_on_without_help",
        loops_go_on_without_help,
        "loops and joins of plain threads run without help",
    ),
    ("a_thread_is_an_error", a_thread_is_an_error, ""),
    (
        "sockets_that_outlive_their_runtime_wait_for_a_thread",
        sockets_that_outlive_their_runtime,
        "no thread for sockets that outlive",
    ),
    (
        "timers_that_outlive_their_runtime_wait_for_a_thread",
        timers_that_outlive_their_runtime,
        "timers of a runtime that has ended wait",
    ),
];

fn main() {
    if let Ok(part) = std::env::var(PART) {
        let (_, run, _) = CASES.iter().find(|(name, ..)| *name == part).unwrap();
        become_a_user_with_limits();
        // SAFETY: it takes a number.
        unsafe { libc::alarm(PATIENCE) };
        return run();
    }
    let filters: Vec<_> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    for (name, _, words) in CASES {
        if filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str())) {
            eprint!("{name} ... ");
            let own = std::env::current_exe().unwrap();
            let output = Command::new(own).env(PART, name).env("RUST_BACKTRACE", "0").output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{name}: {}\n{said}", output.status);
            assert!(words.is_empty() || said.matches(words).count() == 1, "{name}: {said}");
            eprintln!("ok");
        }
    }
}

/// Root has as many threads as it likes.
fn become_a_user_with_limits() {
    const NOBODY: u32 = 65_534;
    // SAFETY: these take numbers, and this process has one thread.
    unsafe {
        if libc::getuid() == 0 {
            assert_eq!((libc::setgid(NOBODY), libc::setuid(NOBODY)), (0, 0));
        }
    }
}

fn limit(soft: libc::rlim_t) {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a live value.
    assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_NPROC, &raw mut limit) }, 0);
    limit.rlim_cur = soft.min(limit.rlim_max);
    // SAFETY: as above.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NPROC, &raw const limit) }, 0);
}

/// No thread can be started from here on.
fn no_threads() {
    limit(1);
}

fn threads_again() {
    limit(libc::RLIM_INFINITY);
}

/// Returns the message of the panic of `f`.
#[track_caller]
fn panic_of<R>(f: impl FnOnce() -> R) -> String {
    let panic = catch_unwind(AssertUnwindSafe(f)).map(drop).unwrap_err();
    *panic.downcast::<String>().expect("it has a message that was made for it")
}

/// Checks that a text names the purpose of a thread, the cause and the limit.
#[track_caller]
fn names(text: &str, purpose: &str) {
    for part in [&format!("no thread for {purpose}"), "os error 11", "ulimit -u is 1", "pids.max"] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
}

/// Returns a builder of a runtime of one domain, and a receiver of its reports.
fn reporting() -> (lisle::Builder, mpsc::Receiver<Report>) {
    let (tx, rx) = mpsc::channel();
    let builder = Runtime::builder().domains(1).on_report(move |report| drop(tx.send(report.clone())));
    (builder, rx)
}

fn a_foreign_call_waits_for_a_thread() {
    let (builder, reports) = reporting();
    builder.run(|| {
        no_threads();
        let calls: Vec<_> = (0..3).map(|n| spawn(move || blocking(move || n))).collect();
        let waits = loop {
            let waits: Vec<_> = lisle::waiting().fibers.into_iter().flat_map(|fiber| fiber.waits).collect();
            if waits.len() >= 2 * calls.len() {
                break waits;
            }
            sleep(SHORT);
        };
        let for_threads = waits.iter().filter(|wait| wait.to_string().contains("thread for a blocking call"));
        assert_eq!(for_threads.count(), calls.len());
        assert!(!waits.iter().any(|wait| wait.to_string().contains("point in time (")));
        // They are refused again and again, and all of this is said once.
        sleep(Duration::from_millis(100));
        let Report::NoThread(report) = reports.recv().unwrap() else { panic!("something else") };
        names(&report.error, "foreign calls (`blocking`)");
        assert!(reports.try_recv().is_err());
        assert!(!calls.iter().any(|call| call.is_finished()));
        threads_again();
        for (n, call) in calls.into_iter().enumerate() {
            assert_eq!(call.join().unwrap(), n);
        }
        assert_eq!(blocking(|| 5), 5);
    });
}

fn foreign_calls_share_the_threads_that_there_are() {
    let (builder, _reports) = reporting();
    builder.run(|| {
        let (go, gone) = channel::<()>();
        let (tell, told) = channel::<()>();
        let first = spawn(move || {
            blocking(move || {
                tell.send(()).unwrap();
                gone.recv()
            })
        });
        told.recv().unwrap();
        no_threads();
        let second = spawn(|| blocking(|| 2));
        let waits =
            choose((second.join_evt().wrap(|_| false), after(Duration::from_millis(60)).wrap(|()| true)));
        assert!(waits.sync());
        go.send(()).unwrap();
        assert!(first.join().unwrap().is_ok());
        assert_eq!(second.join().unwrap(), 2);
    });
}

fn a_runtime_of_one_domain_needs_no_thread() {
    no_threads();
    let (builder, reports) = reporting();
    let outcome = builder.try_run(|| {
        let (tx, rx) = channel();
        spawn(move || tx.send(1));
        assert_eq!(rx.recv(), Ok(1));
        sleep(SHORT);
        assert_eq!(par::join(|| 1, || 2), (1, 2));
        let Report::NoThread(report) = reports.recv().unwrap() else { panic!("something else") };
        names(&report.error, "the monitor of a runtime");
        threads_again();
        while !has_thread("lisle-monitor") {
            sleep(SHORT);
        }
        // The monitor is there, and finds that this waits for ever.
        let (_tx, rx) = channel::<u32>();
        rx.recv()
    });
    assert!(outcome.is_err());
}

fn has_thread(name: &str) -> bool {
    let names = std::fs::read_dir("/proc/self/task").unwrap().filter_map(|task| {
        let name = std::fs::read_to_string(task.ok()?.path().join("comm")).ok()?;
        Some(name.trim_end().to_owned())
    });
    names.into_iter().any(|found| found == name)
}

fn a_runtime_of_several_is_refused() {
    no_threads();
    let two = || Runtime::builder().domains(2);
    names(&two().start().unwrap_err().to_string(), "");
    names(&panic_of(|| two().run(|| ())), "");
    // With a little more some of the threads can be started.
    let mut most = 1;
    while let Err(error) = Runtime::builder().domains(4).start() {
        assert!(error.to_string().contains(&format!("ulimit -u is {most}")), "{error}");
        most += 1;
        limit(most);
    }
    threads_again();
    assert_eq!(two().run(|| 1), 1);
}

fn a_plain_thread_cannot_wait_for_a_time() {
    no_threads();
    let (tx, rx) = channel::<u32>();
    names(&panic_of(|| rx.recv_timeout(SHORT)), "timers outside a runtime");
    names(&panic_of(|| sleep(SHORT)), "timers outside a runtime");
    let tick = lisle::time::ticker(SHORT);
    names(&panic_of(|| tick.tick_evt().sync()), "timers outside a runtime");
    let mut polled = Box::pin(after(SHORT).into_future());
    let poll = || polled.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
    names(&panic_of(poll), "timers outside a runtime");
    // The fiber that has panicked waits for nothing any more.
    assert!(tx.try_send(1).is_err());
    threads_again();
    assert!(rx.recv_timeout(SHORT).is_err());
    tick.tick_evt().sync();
}

fn loops_go_on_without_help() {
    no_threads();
    let sum = |n: u64| par::join(|| (0..n).sum::<u64>(), || (0..n).sum::<u64>());
    assert_eq!(sum(1_000_000).0, sum(1_000_000).1);
    names(&panic_of(|| spawn(|| ())), "");
    threads_again();
    assert_eq!(spawn(|| 1).join().unwrap(), 1);
    assert_eq!(sum(1_000).0, sum(1_000).1);
}

fn a_thread_is_an_error() {
    no_threads();
    let refused = lisle::thread::Builder::new().name("reader").spawn(|| ());
    names(&refused.unwrap_err().to_string(), "thread 'reader'");
    names(&panic_of(|| lisle::thread::spawn(|| ())), "a thread");
    let refused = lisle::io::lines_of(std::io::empty(), 1);
    names(&refused.unwrap_err().to_string(), "a reader that blocks");
    let refused = lisle::kill_safe::Server::<u32, u32>::start_on_thread(|_| ());
    names(&refused.unwrap_err().to_string(), "the manager of a server");
    threads_again();
    assert_eq!(lisle::thread::spawn(|| 1).join().unwrap(), 1);
}

fn sockets_that_outlive_their_runtime() {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let reader = Pollable::new(reader).unwrap();
    let (builder, _reports) = reporting();
    builder.run(|| {
        let ready = choose((reader.readable_evt().wrap(|_| true), after(SHORT).wrap(|()| false)));
        assert!(!ready.sync());
        no_threads();
    });
    threads_again();
    writer.write_all(b"x").unwrap();
    assert_eq!(reader.read_with(|mut pipe| pipe.read(&mut [0; 1])).unwrap(), 1);
    // A pipe that was registered before is told of later data, too.
    let reads = lisle::thread::spawn(move || reader.read_with(|mut pipe| pipe.read(&mut [0; 1])));
    writer.write_all(b"y").unwrap();
    assert_eq!(reads.join().unwrap().unwrap(), 1);
}

fn timers_that_outlive_their_runtime() {
    type Timer = Pin<Box<dyn Future<Output = ()> + Send>>;
    let (tx, rx) = channel::bounded::<Timer>(1);
    let (builder, _reports) = reporting();
    builder.run(|| {
        let task = lisle::spawn_task(async move {
            let mut timer: Timer = Box::pin(after(Duration::from_millis(50)).into_future());
            // Armed with the domain, since this task runs there.
            let is_pending = poll_fn(|context| Poll::Ready(timer.as_mut().poll(context).is_pending())).await;
            assert!(is_pending);
            tx.send(timer).unwrap();
        });
        task.join().unwrap();
        no_threads();
    });
    let mut timer = rx.recv().unwrap();
    threads_again();
    // The next use of the clock thread starts it.
    assert!(channel::<u32>().1.recv_timeout(SHORT).is_err());
    let waker = Waker::from(Arc::new(Unparks(thread::current())));
    while timer.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
        thread::park();
    }
}

struct Unparks(Thread);

impl Wake for Unparks {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
