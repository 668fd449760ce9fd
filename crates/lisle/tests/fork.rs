//! Forked children, which have all that the library remembers of its threads and none of the threads.
//!
//! Each child is killed after a while if it hangs. The tests run one after the other on the main thread,
//! without the usual harness: the standard library has locks of its own that a thread takes when it
//! begins, ends or panics, and a child that inherits one of these cannot start a thread. So no thread
//! does that when a test forks, see `settle`.

use lisle::net::Pollable;
use lisle::time::{DeadlinePassed, after, deadline, sleep, with_deadline};
use lisle::{Event, Runtime, blocking, channel, choose, fiber, par, spawn};
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsRawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Once};
use std::thread;
use std::time::Duration;

/// Longer than anything takes here on a machine that is busy.
const PATIENCE: u32 = 60;
/// For how long a test may run: a few children, one after the other.
const LIMIT: u32 = 600;
const SHORT: Duration = Duration::from_millis(1);

/// A child's end, and its standard error.
struct Ended {
    status: libc::c_int,
    said: String,
}

impl Ended {
    #[track_caller]
    fn well(&self) {
        assert!(libc::WIFEXITED(self.status), "killed by {}: {}", libc::WTERMSIG(self.status), self.said);
        assert_eq!(libc::WEXITSTATUS(self.status), 0, "{}", self.said);
    }

    #[track_caller]
    fn by_abort(&self, words: &str) {
        assert!(libc::WIFSIGNALED(self.status), "it has ended by itself: {}", self.said);
        assert_eq!(libc::WTERMSIG(self.status), libc::SIGABRT, "{}", self.said);
        assert!(self.said.contains(words), "no {words:?} in {}", self.said);
    }
}

/// Waits until no thread is about to begin or to end. A thread has its own name once it has begun. Of
/// the runtimes that have ended, only monitors may be left, and `monitors` of those are to stay.
fn settle(monitors: usize) {
    let name = |task: std::io::Result<std::fs::DirEntry>| {
        let name = std::fs::read_to_string(task.ok()?.path().join("comm")).ok()?;
        Some(name.trim_end().to_owned())
    };
    let main = thread_name();
    loop {
        let names: Vec<_> = std::fs::read_dir("/proc/self/task").unwrap().filter_map(name).collect();
        let count = |which: &dyn Fn(&str) -> bool| names.iter().filter(|name| which(name)).count();
        let begins = count(&|name| name == main) > 1;
        let ends =
            count(&|name| name == "lisle-monitor") > monitors || count(&|name| name == "lisle-reaper") > 0;
        if !begins && !ends {
            return;
        }
        thread::yield_now();
    }
}

/// Returns the system's name for this thread.
fn thread_name() -> String {
    let name = std::fs::read_to_string("/proc/thread-self/comm").unwrap();
    name.trim_end().to_owned()
}

/// Forks. The child calls `f`, and succeeds if that returns.
fn forked(f: impl FnOnce()) -> Ended {
    forked_within(0, f)
}

/// Does the same where `runtimes` with the usual name run.
fn forked_within(runtimes: usize, f: impl FnOnce()) -> Ended {
    settle(runtimes);
    let (mut reader, writer) = std::io::pipe().unwrap();
    // SAFETY: the child's steps after it are the subject of this test.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "{}", std::io::Error::last_os_error());
    if child == 0 {
        let no_core = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the pointer is to a live value.
        unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const no_core) };
        // SAFETY: both descriptors are open.
        unsafe { libc::dup2(writer.as_raw_fd(), libc::STDERR_FILENO) };
        // SAFETY: it takes a number.
        unsafe { libc::alarm(PATIENCE) };
        let outcome = catch_unwind(AssertUnwindSafe(f));
        let told = outcome.as_ref().err().map(|panic| message(&**panic));
        if let Some(told) = told {
            let _ = writeln!(&writer, "a panic: {told}");
        }
        // SAFETY: it ends the process.
        unsafe { libc::_exit(i32::from(outcome.is_err())) };
    }
    drop(writer);
    let mut said = String::new();
    reader.read_to_string(&mut said).unwrap();
    let mut status = 0;
    // SAFETY: the pointer is to a live value.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    Ended { status, said }
}

fn message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default()
}

/// Installs the default runtime of this process, once.
fn with_default_runtime() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        Runtime::builder().domains(2).thread_name("own").install_default().unwrap();
        spawn(|| ()).join().unwrap();
    });
}

fn waits_for_a_time() {
    let (_tx, rx) = channel::<u32>();
    assert!(rx.recv_timeout(SHORT).is_err());
}

fn a_plain_thread_waits_for_a_time() {
    waits_for_a_time();
    forked(waits_for_a_time).well();
}

fn a_deadline_of_the_parents_is_none_of_the_childs() {
    let soon = Duration::from_millis(20);
    let ended = with_deadline(soon, || {
        let child = forked(|| {
            assert_eq!(deadline(), None);
            sleep(2 * soon);
            assert_eq!(with_deadline(SHORT, || sleep(PATIENCE * SHORT * 1000)), Err(DeadlinePassed));
            lisle::run(|| sleep(SHORT));
        });
        child.well();
        sleep(PATIENCE * SHORT * 1000);
    });
    assert_eq!(ended, Err(DeadlinePassed));
    // A child leaves the call that it was forked in, whose deadline has passed or is to come.
    for within in [Duration::ZERO, SHORT, PATIENCE * SHORT * 1000] {
        forked(|| {
            let mut child = 0;
            let left = with_deadline(within, || {
                settle(0);
                // SAFETY: as in `forked`.
                child = unsafe { libc::fork() };
            });
            assert_eq!(left, Ok(()));
            if child == 0 {
                sleep(SHORT);
                // SAFETY: it ends the process.
                unsafe { libc::_exit(7) };
            }
            let mut status = 0;
            // SAFETY: the pointer is to a live value.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            assert!(libc::WIFEXITED(status), "killed by {}", libc::WTERMSIG(status));
            assert_eq!(libc::WEXITSTATUS(status), 7);
        })
        .well();
    }
}

fn children_of_children_begin_anew_too() {
    waits_for_a_time();
    let child = || {
        waits_for_a_time();
        let grandchild = || {
            waits_for_a_time();
            assert_eq!(lisle::run(|| blocking(|| 1)), 1);
        };
        forked(grandchild).well();
        waits_for_a_time();
    };
    forked(child).well();
}

/// A future was polled before the fork, and its timer is in a wheel that the child does not use.
fn a_future_that_was_polled_before_is_dropped() {
    let mut polled = Box::pin(after(Duration::from_secs(3_600)).into_future());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(polled.as_mut().poll(&mut context).is_pending());
    forked(|| {
        drop(polled);
        waits_for_a_time();
    })
    .well();
}

fn the_default_runtime_has_the_settings_of_the_parents() {
    with_default_runtime();
    forked(|| {
        let name = spawn(|| thread::current().name().map(str::to_owned)).join().unwrap();
        assert!(name.is_some_and(|name| name.starts_with("own-")));
        let sums = par::join(|| (0..1_000).sum::<u32>(), || (0..1_000).sum::<u32>());
        assert_eq!(sums.0, sums.1);
    })
    .well();
    let others = || {
        Runtime::builder().domains(1).thread_name("other").install_default().unwrap();
        let name = spawn(|| thread::current().name().map(str::to_owned)).join().unwrap();
        assert_eq!(name.as_deref(), Some("other-0"));
    };
    forked(others).well();
}

fn foreign_calls_have_threads() {
    lisle::run(|| blocking(|| 1));
    forked(|| assert_eq!(lisle::run(|| blocking(|| 2)), 2)).well();
}

fn runtimes_start_and_end() {
    let runs = || {
        Runtime::builder().domains(2).run(|| {
            let (tx, rx) = channel();
            let sends = fiber::spawn_on(1, move || tx.send(1));
            assert_eq!(rx.recv(), Ok(1));
            sends.join().unwrap().unwrap();
            sleep(SHORT);
            assert_eq!(par::join(|| 1, || 2), (1, 2));
            let slept = lisle::spawn_task(async { after(SHORT).await });
            slept.join().unwrap();
        });
    };
    runs();
    forked(runs).well();
}

/// The child has no thread that is not known, although its parent has many.
fn deadlocks_are_noticed() {
    // A call that is under way in the parent is none of the child's.
    let (stop, stopped) = channel::<()>();
    let (tell, told) = channel::<()>();
    let waits = move || {
        tell.send(()).unwrap();
        let _ = stopped.recv();
    };
    let caller = thread::Builder::new().name("caller".into());
    let caller = caller.spawn(|| lisle::run(|| blocking(waits))).unwrap();
    told.recv().unwrap();
    forked_within(1, || {
        let outcome = Runtime::builder().domains(1).try_run(|| {
            let (_tx, rx) = channel::<u32>();
            rx.recv()
        });
        assert!(outcome.is_err());
    })
    .well();
    drop(stop);
    caller.join().unwrap();
}

/// Waits for a byte that comes while this waits, or before.
fn reads_a_byte(reader: &Pollable<PipeReader>, mut writer: &PipeWriter) {
    thread::scope(|scope| {
        let read = scope.spawn(|| reader.read_with(|mut pipe| pipe.read(&mut [0; 1])));
        writer.write_all(b"x").unwrap();
        assert_eq!(read.join().unwrap().unwrap(), 1);
    });
}

/// Waits in vain, and so has the descriptor registered.
fn waits_in_vain(reader: &Pollable<PipeReader>) {
    let ready = choose((reader.readable_evt().wrap(|_| true), after(SHORT).wrap(|()| false)));
    assert!(!ready.sync());
}

/// For a descriptor that the parent has registered, the kernel would tell the parent. And if the
/// child ended the registration, it would end for the parent.
fn descriptors_that_the_parent_has_waited_for_are_waited_for() {
    let (reader, writer) = std::io::pipe().unwrap();
    let mut reader = Some(Pollable::new(reader).unwrap());
    waits_in_vain(reader.as_ref().unwrap());
    let uses_and_drops_it = || {
        let reader = reader.take().unwrap();
        waits_in_vain(&reader);
        reads_a_byte(&reader, &writer);
        lisle::run(|| reads_a_byte(&reader, &writer));
        drop(reader);
    };
    forked(uses_and_drops_it).well();
    let reader = reader.unwrap();
    waits_in_vain(&reader);
    reads_a_byte(&reader, &writer);
}

fn a_runtime_of_the_parent_refuses() {
    let runtime = Runtime::builder().domains(2).start().unwrap();
    let handle = runtime.handle();
    assert_eq!(runtime.run(|| 1), 1);
    let mut kept = Some(runtime);
    forked_within(1, || {
        let runtime = kept.take().unwrap();
        let refuses = |call: &dyn Fn()| {
            let panic = catch_unwind(AssertUnwindSafe(call)).unwrap_err();
            assert!(message(&*panic).contains("before the process forked"), "{}", message(&*panic));
        };
        refuses(&|| drop(runtime.spawn(|| ())));
        refuses(&|| runtime.run(|| ()));
        refuses(&|| drop(runtime.waiting()));
        refuses(&|| drop(handle.spawn(|| ())));
        refuses(&|| drop(handle.waiting()));
        assert!(handle.has_ended());
        assert_eq!((handle.domains(), runtime.domains()), (2, 2));
        drop(runtime);
        let panic =
            catch_unwind(AssertUnwindSafe(|| Runtime::builder().domains(1).start().unwrap().run(|| 2)));
        assert_eq!(panic.unwrap(), 2);
    })
    .well();
    assert_eq!(kept.unwrap().run(|| 3), 3);
}

fn a_fiber_forks_and_the_child_ends() {
    lisle::run(|| {
        forked_within(1, || ()).well();
        sleep(SHORT);
    });
}

const IN_A_FIBER: &str = "a fiber has forked the process";

fn a_fiber_forks_and_the_child_waits() {
    const LONG: Duration = Duration::from_secs(3_600);
    let waits: [fn(); 6] = [
        || sleep(LONG),
        fiber::yield_now,
        || _ = channel::<u32>().1.recv_timeout(LONG),
        || _ = spawn(|| ()).join(),
        || blocking(|| thread::sleep(LONG)),
        || _ = par::join(|| sleep(LONG), || sleep(LONG)),
    ];
    for domains in [1, 2] {
        Runtime::builder().domains(domains).run(|| {
            for wait in waits {
                forked_within(1, wait).by_abort(IN_A_FIBER);
            }
            // The parent goes on.
            sleep(SHORT);
            spawn(|| ()).join().unwrap();
        });
    }
}

/// The fiber ends in the child, and its runtime does not.
fn a_fiber_forks_and_ends_in_the_child() {
    forked(|| {
        let outcome = forked(|| {
            lisle::run(|| {
                settle(1);
                // SAFETY: as in `forked`.
                if unsafe { libc::fork() } > 0 {
                    let mut status = 0;
                    // SAFETY: the pointer is to a live value.
                    unsafe { libc::wait(&raw mut status) };
                    assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGABRT);
                }
            });
        });
        outcome.well();
        assert!(outcome.said.contains(IN_A_FIBER), "{}", outcome.said);
    })
    .well();
}

fn a_task_forks_and_the_child_waits() {
    let waits = || forked_within(1, || sleep(Duration::from_secs(3_600))).by_abort(IN_A_FIBER);
    lisle::run(|| lisle::spawn_task(async move { waits() }).join().unwrap());
}

fn a_foreign_call_forks_and_returns_in_the_child() {
    let outcome = forked(|| {
        lisle::run(|| {
            blocking(|| {
                settle(1);
                // SAFETY: as in `forked`.
                let child = unsafe { libc::fork() };
                let mut status = 0;
                if child > 0 {
                    // SAFETY: the pointer is to a live value.
                    unsafe { libc::waitpid(child, &raw mut status, 0) };
                    assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGABRT);
                }
            });
        });
    });
    outcome.well();
    assert!(outcome.said.contains("a foreign call (`blocking`) has forked"), "{}", outcome.said);
}

fn a_signal_of_the_parent_is_refused() {
    let inherited = lisle::signal::signal(libc::SIGUSR2).unwrap();
    forked(|| {
        assert!(inherited.recv().unwrap_err().to_string().contains("before the process forked"));
        let own = lisle::signal::signal(libc::SIGUSR2).unwrap();
        // SAFETY: the signal is caught.
        unsafe { libc::raise(libc::SIGUSR2) };
        own.recv().unwrap();
    })
    .well();
}

fn a_thread_that_has_slept_before_is_listed() {
    waits_for_a_time();
    forked(|| {
        let (tx, rx) = channel::<usize>();
        let asks = thread::spawn(move || {
            let told = loop {
                let told = lisle::waiting().threads;
                if !told.is_empty() {
                    break told;
                }
                thread::yield_now();
            };
            tx.send(told.len()).unwrap();
        });
        assert_eq!(rx.recv(), Ok(1));
        asks.join().unwrap();
    })
    .well();
}

fn children_of_the_child_are_collected() {
    let leaves_one = || {
        let mut command = std::process::Command::new("cat");
        let mut child = lisle::process::spawn(command.stdin(std::process::Stdio::piped())).unwrap();
        let input = child.stdin.take();
        let id = libc::pid_t::try_from(child.id()).unwrap();
        drop(child);
        drop(input);
        // SAFETY: signal 0 only asks whether there is such a process.
        while unsafe { libc::kill(id, 0) } == 0 {
            thread::yield_now();
        }
    };
    leaves_one();
    forked(leaves_one).well();
}

fn a_world_with_workers_runs_its_calls_itself() {
    let workers = lisle_frame::Workers::new(2).unwrap();
    let mut world = lisle_frame::World::builder().pool(&workers).build();
    let work = lisle_frame::Foreign::new("work", |n: u64| (0..n).sum::<u64>());
    let sum = world.stream(async move || work.call(100).await);
    world.frame();
    forked(|| {
        for _ in 0..10 {
            world.frame();
            assert_eq!(world.get(sum).unwrap(), 4_950);
        }
        drop(world);
        drop(workers);
        // The pool does not count threads of the program among its own.
        thread::spawn(|| ()).join().unwrap();
    })
    .well();
}

/// Other threads have locks, and are in the middle of all sorts of things, when the process forks.
fn forks_come_at_any_time() {
    with_default_runtime();
    let is_over = Arc::new(AtomicBool::new(false));
    let begun = Arc::new(AtomicUsize::new(0));
    let busy = |what: fn()| {
        let (is_over, begun) = (is_over.clone(), begun.clone());
        let works = move || {
            what();
            begun.fetch_add(1, Ordering::Relaxed);
            while !is_over.load(Ordering::Relaxed) {
                what();
            }
        };
        thread::Builder::new().name("busy".into()).spawn(works).unwrap()
    };
    let does: [fn(); 4] = [
        || _ = channel::<u32>().1.recv_timeout(Duration::from_micros(50)),
        || (0..64).map(|_| spawn(|| ())).collect::<Vec<_>>().into_iter().for_each(|f| f.join().unwrap()),
        || _ = par::join(|| (0..10_000).sum::<u64>(), || (0..10_000).sum::<u64>()),
        || {
            let (reader, writer) = std::io::pipe().unwrap();
            let reader = Pollable::new(reader).unwrap();
            let ready = choose((reader.readable_evt().wrap(drop), after(Duration::from_micros(50))));
            ready.sync();
            drop((reader, writer));
        },
    ];
    let busy: Vec<_> = does.into_iter().map(busy).collect();
    while begun.load(Ordering::Relaxed) < busy.len() {
        thread::yield_now();
    }
    for _ in 0..60 {
        let child = || {
            waits_for_a_time();
            assert_eq!(lisle::run(|| blocking(|| 2)), 2);
            assert_eq!(spawn(|| 3).join().unwrap(), 3);
            assert_eq!(par::join(|| 4, || 5), (4, 5));
            let tasks: Vec<_> = (0..300).map(|n| lisle::spawn_task(async move { n })).collect();
            assert!(tasks.into_iter().enumerate().all(|(n, task)| task.join().unwrap() == n));
        };
        forked(child).well();
    }
    is_over.store(true, Ordering::Relaxed);
    busy.into_iter().for_each(|thread| thread.join().unwrap());
}

macro_rules! tests {
    ($($test:ident,)*) => {
        const TESTS: &[(&str, fn())] = &[$((stringify!($test), $test)),*];
    };
}

tests![
    a_plain_thread_waits_for_a_time,
    a_deadline_of_the_parents_is_none_of_the_childs,
    children_of_children_begin_anew_too,
    a_future_that_was_polled_before_is_dropped,
    the_default_runtime_has_the_settings_of_the_parents,
    foreign_calls_have_threads,
    runtimes_start_and_end,
    deadlocks_are_noticed,
    descriptors_that_the_parent_has_waited_for_are_waited_for,
    a_runtime_of_the_parent_refuses,
    a_fiber_forks_and_the_child_ends,
    a_fiber_forks_and_the_child_waits,
    a_fiber_forks_and_ends_in_the_child,
    a_task_forks_and_the_child_waits,
    a_foreign_call_forks_and_returns_in_the_child,
    a_signal_of_the_parent_is_refused,
    a_thread_that_has_slept_before_is_listed,
    children_of_the_child_are_collected,
    a_world_with_workers_runs_its_calls_itself,
    forks_come_at_any_time,
];

fn main() {
    let filters: Vec<_> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    for (name, test) in TESTS {
        if filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str())) {
            eprint!("{name} ... ");
            // SAFETY: it takes a number. A test that hangs has been named.
            unsafe { libc::alarm(LIMIT) };
            test();
            eprintln!("ok");
        }
    }
}
