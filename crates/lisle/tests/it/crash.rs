//! What a program says when it goes wrong: on its way down, or while it goes on.
//!
//! What ends a process, or is seen on its standard error only, happens in a child process: this binary
//! again, told to run the same test, which finds a variable in its environment and takes the child's part.

use crate::support::{on_domains, watched};
use lisle::time::sleep;
use lisle::{Event, PanicPolicy, Runtime, channel, fiber, never};
use std::backtrace::Backtrace;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

const PART: &str = "LISLE_TEST_CRASH";

/// Which part the current process plays in a test: `None` for the parent.
fn part() -> Option<String> {
    let part = std::env::var(PART).ok()?;
    let no_core = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is that of a live value.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const no_core) }, 0);
    Some(part)
}

/// A child that plays `part` in the test `name` of this module.
fn child(name: &str, part: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("the test binary has a path"));
    command.args(arguments(name)).env(PART, part).env("RUST_BACKTRACE", "0").stdin(Stdio::null());
    command
}

fn arguments(name: &str) -> [String; 3] {
    ["--exact".into(), format!("crash::{name}"), "--nocapture".into()]
}

/// How a child ended, and what it wrote.
struct Ended {
    output: Output,
    stderr: String,
}

impl Ended {
    fn of(name: &str, part: &str) -> Self {
        let output = child(name, part).output().expect("the test binary can be run again");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Ended { output, stderr }
    }

    #[track_caller]
    fn says(&self, text: &str) -> &Self {
        assert!(self.stderr.contains(text), "no {text:?} in:\n{}", self.stderr);
        self
    }

    #[track_caller]
    fn says_not(&self, text: &str) -> &Self {
        assert!(!self.stderr.contains(text), "{text:?} in:\n{}", self.stderr);
        self
    }

    #[track_caller]
    fn aborted(&self) -> &Self {
        assert_eq!(self.output.status.signal(), Some(libc::SIGABRT), "{}", self.stderr);
        self
    }

    #[track_caller]
    fn succeeded(&self) -> &Self {
        assert!(self.output.status.success(), "{:?}\n{}", self.output.status, self.stderr);
        self
    }
}

fn recurse_for_ever() {
    fn recurse(depth: u64) -> u64 {
        let frame = black_box([depth; 16]);
        if depth == u64::MAX { 0 } else { recurse(depth + 1) + frame[3] }
    }
    black_box(recurse(0));
}

#[test]
fn a_stack_overflow_names_the_host() {
    let name = "a_stack_overflow_names_the_host";
    let host = fiber::Builder::new().name("bottomless");
    match part().as_deref() {
        None => {
            for part in ["here", "there"] {
                Ended::of(name, part)
                    .aborted()
                    .says("lisle: host 'bottomless' (spawned at crates/lisle/tests/it/crash.rs:")
                    .says(") overflowed its stack of 256 KiB; ")
                    .says("Builder::stack_size");
            }
            for part in ["nameless", "deep"] {
                Ended::of(name, part)
                    .aborted()
                    .says("lisle: a host (spawned at crates/lisle/tests/it/crash.rs:")
                    .says(") overflowed its stack of 64 KiB; ");
            }
        }
        Some("here") => Runtime::builder().domains(1).run(|| host.spawn(recurse_for_ever).join().unwrap()),
        Some("there") => {
            Runtime::builder().domains(2).run(|| host.domain(1).spawn(recurse_for_ever).join().unwrap());
        }
        Some("nameless") => Runtime::builder().stack_size(64 * 1024).domains(1).run(recurse_for_ever),
        // Not the host that began last, but one among many that have waited meanwhile.
        Some(_) => Runtime::builder().stack_size(64 * 1024).domains(1).run(|| {
            let hosts: Vec<_> = (0..100)
                .map(|i| {
                    lisle::spawn(move || {
                        sleep(Duration::from_millis(i));
                        if i == 50 {
                            recurse_for_ever();
                        }
                        never::<()>().sync();
                    })
                })
                .collect();
            hosts.into_iter().for_each(|host| host.join().unwrap());
        }),
    }
}

/// Spawns a host that panics when its handle is gone, and others that go on all the while.
fn panic_detached(policy: PanicPolicy) {
    for domains in [1, 2] {
        Runtime::builder().domains(domains).panic_policy(policy).run(|| {
            let (go, told) = channel::<()>();
            let neighbours: Vec<_> = (0..10)
                .map(|i| {
                    lisle::spawn(move || {
                        (0..100).for_each(|_| fiber::yield_now());
                        i
                    })
                })
                .collect();
            let (gone, ended) = channel::<()>();
            drop(fiber::Builder::new().name("forsaken").spawn(move || {
                let _gone = gone;
                told.recv().unwrap();
                panic!("nobody hears me");
            }));
            go.send(()).unwrap();
            assert!(ended.recv().is_err());
            let sum: usize = neighbours.into_iter().map(|host| host.join().unwrap()).sum();
            assert_eq!(sum, 45);
        });
    }
    println!("the neighbours are well");
}

#[test]
fn a_panic_nobody_joins_is_reported_and_harms_nobody() {
    if part().is_some() {
        return panic_detached(PanicPolicy::Report);
    }
    let ended = Ended::of("a_panic_nobody_joins_is_reported_and_harms_nobody", "child");
    ended
        .succeeded()
        .says("lisle: host 'forsaken' (spawned at crates/lisle/tests/it/crash.rs:")
        .says(") panicked and nobody joins it: nobody hears me\n");
    assert_eq!(ended.stderr.matches("lisle: ").count(), 2, "once for each runtime:\n{}", ended.stderr);
    assert!(String::from_utf8_lossy(&ended.output.stdout).contains("the neighbours are well"));
}

#[test]
fn a_panic_nobody_joins_may_be_ignored() {
    if part().is_some() {
        return panic_detached(PanicPolicy::Ignore);
    }
    let ended = Ended::of("a_panic_nobody_joins_may_be_ignored", "child");
    ended.succeeded().says_not("lisle: ").says("nobody hears me");
    assert!(String::from_utf8_lossy(&ended.output.stdout).contains("the neighbours are well"));
}

#[test]
fn a_panic_nobody_joins_may_end_the_process() {
    if part().is_some() {
        return panic_detached(PanicPolicy::Abort);
    }
    Ended::of("a_panic_nobody_joins_may_end_the_process", "child")
        .aborted()
        .says("lisle: host 'forsaken' (spawned at crates/lisle/tests/it/crash.rs:")
        .says(") panicked and nobody joins it: nobody hears me\n");
}

/// A panic that is joined is the joiner's affair, whatever the policy.
#[test]
fn a_panic_that_is_joined_is_not_reported() {
    if part().is_some() {
        return Runtime::builder().domains(2).panic_policy(PanicPolicy::Abort).run(|| {
            let host = lisle::spawn(|| panic!("somebody hears me"));
            assert!(host.join().unwrap_err().is_panic());
            let host = lisle::spawn(|| panic!("somebody hears me"));
            assert!(host.join_evt().sync().unwrap_err().is_panic());
        });
    }
    Ended::of("a_panic_that_is_joined_is_not_reported", "child")
        .succeeded()
        .says("somebody hears me")
        .says_not("lisle: ");
}

/// The result nobody takes may panic as it goes.
#[test]
fn a_panic_in_a_result_nobody_takes_is_reported() {
    struct Grumpy;
    impl Drop for Grumpy {
        fn drop(&mut self) {
            panic!("I was wanted");
        }
    }
    if part().is_some() {
        return Runtime::builder().domains(1).run(|| {
            drop(fiber::Builder::new().name("giver").spawn(|| Grumpy));
            fiber::yield_now();
            assert_eq!(lisle::spawn(|| 1).join().unwrap(), 1);
        });
    }
    Ended::of("a_panic_in_a_result_nobody_takes_is_reported", "child")
        .succeeded()
        .says("lisle: host 'giver' (spawned at")
        .says("I was wanted");
}

#[test]
fn blocking_in_a_destructor_while_unwinding_ends_with_a_message() {
    struct Waits;
    impl Drop for Waits {
        fn drop(&mut self) {
            sleep(Duration::from_millis(1));
        }
    }
    if part().is_some() {
        return Runtime::builder().domains(1).run(|| {
            let host = fiber::Builder::new().name("undying").spawn(|| {
                let _waits = Waits;
                panic!("the first");
            });
            host.join().unwrap();
        });
    }
    Ended::of("blocking_in_a_destructor_while_unwinding_ends_with_a_message", "child")
        .aborted()
        .says("the first")
        .says("lisle: host 'undying' (spawned at crates/lisle/tests/it/crash.rs:")
        .says(
            ") blocks in a destructor while it unwinds from a panic, and cannot be suspended there; use a \
             try_ or poll form in destructors. Ending the process.\n",
        );
}

/// The parent lets the child go on as soon as it has read the report.
#[test]
fn a_host_that_does_not_block_is_reported() {
    if part().is_some() {
        return Runtime::builder().domains(1).stall_report(Some(Duration::from_millis(50))).run(|| {
            let waiting = lisle::spawn(|| ());
            // The youngest begins first.
            let busy = fiber::Builder::new().name("busy").spawn(|| {
                std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
            });
            busy.join().unwrap();
            waiting.join().unwrap();
        });
    }
    let _watched = watched();
    let mut child: Child = child("a_host_that_does_not_block_is_reported", "child")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("lisle: ") {
        line.clear();
        assert_ne!(stderr.read_line(&mut line).unwrap(), 0, "there is no report");
    }
    assert!(line.contains("host 'busy' (spawned at crates/lisle/tests/it/crash.rs:"), "{line}");
    assert!(line.contains("still runs on domain 0") && line.contains("without blocking"), "{line}");
    assert!(line.contains("yield_now"), "{line}");
    drop(child.stdin.take());
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    assert!(child.wait().unwrap().success(), "{rest}");
    assert!(!rest.contains("lisle: "), "once is enough: {rest}");
}

/// A host that keeps its domain when nobody else wants it disturbs nobody.
#[test]
fn a_host_that_is_alone_is_not_reported() {
    if part().is_some() {
        return Runtime::builder().domains(1).stall_report(Some(Duration::from_millis(10))).run(|| {
            std::thread::sleep(Duration::from_millis(300));
        });
    }
    Ended::of("a_host_that_is_alone_is_not_reported", "child").succeeded().says_not("lisle: ");
}

#[inline(never)]
fn backtrace_of_the_innermost() -> String {
    black_box(Backtrace::force_capture()).to_string()
}

#[inline(never)]
fn innermost_caller(depth: usize) -> String {
    let text = if depth == 0 { backtrace_of_the_innermost() } else { innermost_caller(depth - 1) };
    black_box(text)
}

/// From the host's function, through the switch, to the loop that resumed it: before the host has ever
/// waited, and after.
#[test]
fn a_backtrace_reads_through_to_the_worker() {
    on_domains(|| {
        let host = lisle::spawn(|| {
            let at_first = innermost_caller(5);
            sleep(Duration::from_millis(1));
            fiber::yield_now();
            [at_first, innermost_caller(5)]
        });
        for text in host.join().unwrap() {
            let inner = text.find("innermost_caller").unwrap_or_else(|| panic!("no host:\n{text}"));
            let outer = text.find("lisle::domain::worker").unwrap_or_else(|| panic!("no worker:\n{text}"));
            assert!(inner < outer, "{text}");
        }
    });
}

#[inline(never)]
fn stop_here() {
    std::process::abort();
}

#[test]
fn a_debugger_reads_through_to_the_worker() {
    let name = "a_debugger_reads_through_to_the_worker";
    if part().is_some() {
        return Runtime::builder().domains(1).run(|| {
            let host = lisle::spawn(|| {
                sleep(Duration::from_millis(1));
                stop_here();
                black_box(());
            });
            host.join().unwrap();
        });
    }
    let _watched = watched();
    let debugger = Command::new("gdb")
        .args(["-nx", "-batch", "-ex", "set debuginfod enabled off", "-ex", "run", "-ex", "bt", "--args"])
        .arg(std::env::current_exe().unwrap())
        .args(arguments(name))
        .env(PART, "child")
        .stdin(Stdio::null())
        .output();
    let output = match debugger {
        Ok(output) => output,
        Err(error) => return eprintln!("skipped: gdb cannot be run: {error}"),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    if !text.contains("SIGABRT") && errors.contains("ptrace") {
        return eprintln!("skipped: gdb may not trace processes here: {errors}");
    }
    let inner = text.find("stop_here").unwrap_or_else(|| panic!("no host:\n{text}\n{errors}"));
    let outer = text.find("lisle::domain::worker").unwrap_or_else(|| panic!("no worker:\n{text}\n{errors}"));
    assert!(inner < outer, "{text}");
    assert!(!text.contains("corrupt stack") && !text.contains("Backtrace stopped"), "{text}");
}
