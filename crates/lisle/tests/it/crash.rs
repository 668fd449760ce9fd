//! The messages of a program that fails, on its way down or while it continues.
//!
//! A test that ends its process, or that checks standard error, runs in a child process. That
//! process runs this binary again with the same test. The test finds a variable in its environment
//! and plays the child's part.

use crate::support::child::{self, Running, block_until_let_go, part, playing};
use crate::support::{on_domains, watched};
use lisle::time::sleep;
use lisle::{Event, PanicPolicy, Runtime, channel, fiber, never};
use std::backtrace::Backtrace;
use std::hint::black_box;
use std::process::{Command, Stdio};
use std::time::Duration;

fn arguments(name: &str) -> [String; 3] {
    child::arguments(&format!("crash::{name}"))
}

/// The end of a child that played a part in the test `name` of this module.
struct Ended;

impl Ended {
    fn of(name: &str, part: &str) -> child::Ended {
        child::Ended::of(&format!("crash::{name}"), part)
    }
}

fn recurse_for_ever() {
    fn recurse(depth: u64) -> u64 {
        let frame = black_box([depth; 16]);
        if depth == u64::MAX { 0 } else { recurse(depth + 1) + frame[3] }
    }
    black_box(recurse(0));
}

/// Calls `f` when `used` bytes of the stack have been used since `top`.
#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
fn deep(top: usize, used: usize, f: fn()) {
    let frame = black_box([top; 32]);
    if frame[0] - frame.as_ptr().addr() < used {
        deep(frame[1], used, f);
    } else {
        f();
    }
    black_box(frame);
}

/// A function without stack probes, as C compilers generate them, whose frame has 33 KiB.
#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
fn large_frame() {
    // SAFETY: the stack pointer has its old value afterwards, and the write is below it.
    unsafe {
        std::arch::asm!(
            "sub rsp, {size}",
            "mov qword ptr [rsp], 1",
            "add rsp, {size}",
            size = const 33 * 1024,
        );
    }
}

/// A function of the C library. Its frame contains a buffer of 32 KiB if the stream has none.
#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
fn wide_print() {
    unsafe extern "C" {
        static stderr: *mut libc::FILE;
        fn fwprintf(stream: *mut libc::FILE, format: *const libc::wchar_t, ...) -> libc::c_int;
    }
    let format = ['w' as libc::wchar_t, 0];
    // SAFETY: the stream is the C library's, and the format ends with a zero and takes no
    // arguments.
    unsafe { fwprintf(stderr, format.as_ptr()) };
}

/// Foreign code does not touch the pages of its frame in order. A function that begins near the end
/// of a stack must not write below the guard, into another fiber's stack.
#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
#[test]
fn large_frames_of_foreign_code_do_not_step_over_the_guard() {
    let name = "large_frames_of_foreign_code_do_not_step_over_the_guard";
    let f: fn() = match part().as_deref() {
        None => {
            for part in ["large_frame", "wide_print"] {
                Ended::of(name, part).aborted().says(") overflowed its stack of 64 KiB; ");
            }
            return;
        }
        Some("large_frame") => large_frame,
        Some(_) => wide_print,
    };
    Runtime::builder().stack_size(64 * 1024).domains(1).run(|| {
        // The stack of the first fiber lies below the second one's.
        let second = lisle::spawn(move || deep(black_box([0_u8; 1]).as_ptr().addr(), 48 * 1024, f));
        second.join().unwrap();
    });
}

#[test]
fn a_stack_overflow_names_the_fiber() {
    let name = "a_stack_overflow_names_the_fiber";
    let fiber = fiber::Builder::new().name("bottomless");
    match part().as_deref() {
        None => {
            for part in ["here", "there"] {
                Ended::of(name, part)
                    .aborted()
                    .says("lisle: fiber 'bottomless' (spawned at crates/lisle/tests/it/crash.rs:")
                    .says(") overflowed its stack of 1024 KiB; ")
                    .says("`stack_size` of its builder");
            }
            for part in ["nameless", "deep"] {
                Ended::of(name, part)
                    .aborted()
                    .says("lisle: a fiber (spawned at crates/lisle/tests/it/crash.rs:")
                    .says(") overflowed its stack of 64 KiB; ");
            }
        }
        Some("here") => Runtime::builder().domains(1).run(|| fiber.spawn(recurse_for_ever).join().unwrap()),
        Some("there") => {
            Runtime::builder().domains(2).run(|| fiber.domain(1).spawn(recurse_for_ever).join().unwrap());
        }
        Some("nameless") => Runtime::builder().stack_size(64 * 1024).domains(1).run(recurse_for_ever),
        // The fiber that overflows is not the one that began last, but one of many that have waited
        // in the meantime.
        Some(_) => Runtime::builder().stack_size(64 * 1024).domains(1).run(|| {
            let fibers: Vec<_> = (0..100)
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
            fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
        }),
    }
}

/// Spawns a fiber that panics after its handle is gone, and others that continue in the meantime.
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
            let sum: usize = neighbours.into_iter().map(|fiber| fiber.join().unwrap()).sum();
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
        .says("lisle: fiber 'forsaken' (spawned at crates/lisle/tests/it/crash.rs:")
        .says(") panicked and is not joined: nobody hears me\n");
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
        .says("lisle: fiber 'forsaken' (spawned at crates/lisle/tests/it/crash.rs:")
        .says(") panicked and is not joined: nobody hears me\n");
}

/// The joiner of a panic handles it, under every policy.
#[test]
fn a_panic_that_is_joined_is_not_reported() {
    if part().is_some() {
        return Runtime::builder().domains(2).panic_policy(PanicPolicy::Abort).run(|| {
            let fiber = lisle::spawn(|| panic!("somebody hears me"));
            assert!(fiber.join().unwrap_err().is_panic());
            let fiber = lisle::spawn(|| panic!("somebody hears me"));
            assert!(fiber.join_evt().sync().unwrap_err().is_panic());
        });
    }
    Ended::of("a_panic_that_is_joined_is_not_reported", "child")
        .succeeded()
        .says("somebody hears me")
        .says_not("lisle: ");
}

/// A result that is not taken may panic when it is dropped.
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
        .says("lisle: fiber 'giver' (spawned at")
        .says("I was wanted");
}

/// The parent lets the child continue as soon as it has read the report.
#[test]
fn a_fiber_that_does_not_block_is_reported() {
    if part().is_some() {
        return Runtime::builder().domains(1).stall_report(Some(Duration::from_millis(50))).run(|| {
            let waiting = lisle::spawn(|| ());
            // The youngest fiber begins first.
            let busy = fiber::Builder::new().name("busy").spawn(block_until_let_go);
            busy.join().unwrap();
            waiting.join().unwrap();
        });
    }
    let _watched = watched();
    let mut child = Running::new("crash::a_fiber_that_does_not_block_is_reported", "child");
    let line = child.until_said(&["lisle: "]);
    assert!(line.contains("fiber 'busy' (spawned at crates/lisle/tests/it/crash.rs:"), "{line}");
    assert!(line.contains("still runs on domain 0") && line.contains("without blocking"), "{line}");
    // The report tells that the thread sleeps, where the system knows it, and otherwise gives
    // advice.
    assert!(line.contains("in the system call ") || line.contains("yield_now"), "{line}");
    let (status, all) = child.ends();
    assert!(status.success(), "{all}");
    assert_eq!(all.matches("lisle: ").count(), 1, "once is enough: {all}");
}

/// A fiber that keeps its domain while no other fiber is queued disturbs no other fiber.
#[test]
fn a_fiber_that_is_alone_is_not_reported() {
    if part().is_some() {
        return Runtime::builder().domains(1).stall_report(Some(Duration::from_millis(10))).run(|| {
            std::thread::sleep(Duration::from_millis(300));
        });
    }
    Ended::of("a_fiber_that_is_alone_is_not_reported", "child").succeeded().says_not("lisle: ");
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

/// The backtrace goes from the fiber's function, through the switch, to the loop that resumed it,
/// before and after the first wait of the fiber.
#[test]
fn a_backtrace_reads_through_to_the_worker() {
    on_domains(|| {
        let fiber = lisle::spawn(|| {
            let at_first = innermost_caller(5);
            sleep(Duration::from_millis(1));
            fiber::yield_now();
            [at_first, innermost_caller(5)]
        });
        for text in fiber.join().unwrap() {
            let inner = text.find("innermost_caller").unwrap_or_else(|| panic!("no fiber:\n{text}"));
            let outer =
                text.find("lisle_runtime::sched::worker").unwrap_or_else(|| panic!("no worker:\n{text}"));
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
            let fiber = lisle::spawn(|| {
                sleep(Duration::from_millis(1));
                stop_here();
                black_box(());
            });
            fiber.join().unwrap();
        });
    }
    let _watched = watched();
    let mut debugger = Command::new("gdb");
    let debugger = playing(&mut debugger, "child")
        .args(["-nx", "-batch", "-ex", "set debuginfod enabled off", "-ex", "run", "-ex", "bt", "--args"])
        .arg(std::env::current_exe().unwrap())
        .args(arguments(name))
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
    let inner = text.find("stop_here").unwrap_or_else(|| panic!("no fiber:\n{text}\n{errors}"));
    let outer =
        text.find("lisle_runtime::sched::worker").unwrap_or_else(|| panic!("no worker:\n{text}\n{errors}"));
    assert!(inner < outer, "{text}");
    assert!(!text.contains("corrupt stack") && !text.contains("Backtrace stopped"), "{text}");
}

/// A fiber that continued would do so with state that a hook has not restored.
#[test]
fn a_hook_that_panics_or_waits_ends_the_process() {
    struct Bad(fn());
    impl fiber::Hooks for Bad {
        type Local = ();
        fn suspended(&self, _: &fiber::Switch<'_>, (): &mut ()) {
            (self.0)();
        }
    }
    let name = "a_hook_that_panics_or_waits_ends_the_process";
    let hook: fn() = match part().as_deref() {
        None => {
            let ended = "lisle: a hook has panicked, and fibers would go on with what belongs to others";
            Ended::of(name, "panics").aborted().says("out of order").says(ended);
            Ended::of(name, "waits")
                .aborted()
                .says("nothing may wait inside a hook, added at crates/lisle/tests/it/crash.rs:")
                .says("this would have to wait for a point in time")
                .says(ended);
            return;
        }
        Some("panics") => || panic!("out of order"),
        Some(_) => || sleep(Duration::from_secs(60)),
    };
    Runtime::builder().domains(1).hooks(Bad(hook)).run(fiber::yield_now);
}
