//! Debuggers and profilers see through switches of stacks: gdb finds, by name, the frames of a
//! performer, of its handler, and of the code that has started the runtime.

use lisle::effect::{Effect, handle, perform};
use std::process::Command;

struct Ask;
impl Effect for Ask {
    type Answer = u32;
}

#[inline(never)]
fn the_clause() -> u32 {
    stop_here();
    std::hint::black_box(1)
}

#[inline(never)]
fn the_performer() -> u32 {
    let answer = perform(Ask);
    stop_here();
    std::hint::black_box(answer)
}

#[inline(never)]
fn the_handler(in_place: bool) -> u32 {
    let handler = handle(the_performer);
    let answer = if in_place {
        handler.answer(|Ask| the_clause()).run()
    } else {
        handler.on(|Ask, k| k.resume(the_clause())).run()
    };
    std::hint::black_box(answer)
}

#[inline(never)]
fn the_fiber() {
    let sum = the_handler(true) + the_handler(false);
    assert_eq!(sum, 2);
}

/// Where gdb stops.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn lisle_test_stops_here() {
    std::hint::black_box(());
}

#[inline(never)]
fn stop_here() {
    lisle_test_stops_here();
}

/// The program that the debugger runs.
#[test]
fn the_program() {
    lisle::Runtime::builder().domains(1).run(|| {
        the_fiber();
        // A fiber of its own, without effects.
        lisle::spawn(stop_here).join().unwrap();
        // A long time in an effect, for a profiler.
        let work = || {
            for _ in 0..std::env::var("LISLE_TEST_ROUNDS").map_or(1, |rounds| rounds.parse().unwrap()) {
                the_work();
            }
        };
        work();
    });
}

#[inline(never)]
fn the_work() {
    handle(|| {
        let mut sum = 0_u32;
        for n in 0..100_000_u32 {
            sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(n));
        }
        sum + perform(Ask)
    })
    .answer(|Ask| 1)
    .run();
}

fn has(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success())
}

fn this() -> std::path::PathBuf {
    std::env::current_exe().expect("the test knows where it is")
}

#[test]
fn gdb_sees_the_performer_the_handler_and_main() {
    if !has("gdb") {
        return eprintln!("there is no gdb here, so this is not tested");
    }
    let mut gdb = Command::new("gdb");
    gdb.args(["--batch", "--nx", "-ex", "set debuginfod enabled off", "-ex", "set confirm off"]);
    gdb.args(["-ex", "break lisle_test_stops_here", "-ex", "run"]);
    // In the clause in place, in the performer, in the clause beside it, in the performer, in a
    // fiber.
    for _ in 0..5 {
        gdb.args(["-ex", "backtrace", "-ex", "echo ==next==\\n", "-ex", "continue"]);
    }
    gdb.arg("--args").arg(this());
    gdb.args(["--exact", "debugger::the_program", "--nocapture", "--test-threads=1"]);
    let output = gdb.output().expect("gdb starts");
    let text = String::from_utf8_lossy(&output.stdout);
    if text.contains("ptrace: Operation not permitted") {
        return eprintln!("gdb may not run programs here, so this is not tested");
    }
    let stops: Vec<_> = text.split("==next==").collect();
    assert!(stops.len() >= 6, "gdb has stopped {} times: {text}\n{}", stops.len() - 1, {
        String::from_utf8_lossy(&output.stderr)
    });
    let wanted: [&[&str]; 5] = [
        &["the_clause", "the_performer", "the_handler", "the_fiber"],
        &["the_performer", "the_handler", "the_fiber"],
        &["the_clause", "the_handler", "the_fiber"],
        &["the_performer", "the_handler", "the_fiber"],
        &[],
    ];
    for (stop, names) in stops.iter().zip(wanted) {
        let mut rest = *stop;
        // `main` of this program runs the test: the domain is its thread.
        for name in names.iter().chain(&["sched::worker::Worker::work", "debugger::the_program", "clone"]) {
            let Some(at) = rest.find(name) else {
                panic!("{name} is not in the backtrace, or too early: {stop}")
            };
            rest = &rest[at..];
        }
    }
    // The performer waits meanwhile: its frames are not below the clause that decides about it.
    assert!(!stops[2].contains("the_performer"), "{}", stops[2]);
}

/// With `--call-graph dwarf` perf copies a piece of one stack, the one that the stack pointer
/// points into, and unwinds it later. So it sees a computation up to the root of its stack, as it
/// sees a fiber up to the root of its own. It has not copied other stacks.
#[test]
fn perf_sees_a_computation_up_to_the_root_of_its_stack() {
    if !has("perf") {
        return eprintln!("there is no perf here, so this is not tested");
    }
    let data = std::env::temp_dir().join(format!("lisle-effects-{}.data", std::process::id()));
    let mut record = Command::new("perf");
    record.args(["record", "-e", "cpu-clock", "-F", "999", "--call-graph", "dwarf,16384", "-o"]).arg(&data);
    record.arg("--").arg(this()).env("LISLE_TEST_ROUNDS", "300");
    record.args(["--exact", "debugger::the_program", "--test-threads=1"]);
    let recorded = record.output().expect("perf starts");
    let script = Command::new("perf").args(["script", "--no-inline", "-i"]).arg(&data).output();
    drop(std::fs::remove_file(&data));
    let text =
        script.map_or_else(|_| String::new(), |output| String::from_utf8_lossy(&output.stdout).into_owned());
    if !recorded.status.success() || !text.contains("cpu-clock") {
        return eprintln!("perf may not be used here, so this is not tested");
    }
    let samples = text.split("\n\n").filter(|sample| sample.contains("the_work"));
    // The first is the root of this library's switch, the others are corosensei's.
    let roots = ["lisle_core::segment::", "coroutine_func", "stack_init_trampoline"];
    let is_whole = |sample: &&str| roots.iter().any(|root| sample.contains(root));
    let (all, whole) =
        samples.fold((0, 0), |(all, whole), sample| (all + 1, whole + u32::from(is_whole(&sample))));
    assert!(all > 0, "perf has no sample within the computation: {text:.4000}");
    assert!(whole > 0, "none of {all} samples reaches the root of the computation's stack: {text:.4000}");
}
