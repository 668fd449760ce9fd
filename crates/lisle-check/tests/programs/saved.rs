//! Explorations that are saved and gone on with, also after Ctrl-C.

use lisle::spawn;
use lisle::sync::Mutex;
use lisle_check::{Checker, Limit, ResumeError};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A directory that is removed when it is dropped.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("lisle-check-test-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Directory(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("one.exploration")
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Fibers that take a lock: N! orders.
fn orders(fibers: usize) {
    let total = Arc::new(Mutex::new(0));
    let adders: Vec<_> = (0..fibers)
        .map(|n| {
            let total = total.clone();
            spawn(move || *total.lock() += n)
        })
        .collect();
    adders.into_iter().for_each(|adder| adder.join().unwrap());
}

fn panic_of(f: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let panic = catch_unwind(f).unwrap_err();
    panic.downcast_ref::<String>().expect("it says what is wrong").clone()
}

#[test]
fn an_exploration_goes_on_until_all_is_explored() {
    let directory = Directory::new("goes-on");
    for workers in [1, 2] {
        let path = directory.file();
        let mut checker = Checker::new().observed().workers(workers).executions(100).save_to(&path);
        let mut parts = 1;
        let verdict = loop {
            let verdict = checker.explore(|| orders(6));
            let Some(saved) = verdict.saved() else { break verdict };
            assert_eq!((saved, verdict.limit()), (path.as_path(), Some(Limit::Executions(100))));
            assert!(
                verdict.to_string().contains(&format!("to go on: LISLE_CHECK_RESUME={}", path.display()))
            );
            checker = checker.resume(saved).unwrap();
            parts += 1;
        };
        assert_eq!((verdict.counts().complete, verdict.observed(), parts), (720, Some(720), 8));
        assert!(verdict.is_exhaustive() && !path.exists());
    }
}

#[test]
fn what_is_drawn_goes_on_as_if_nothing_had_been() {
    let directory = Directory::new("drawn");
    let program = || orders(3);
    for checker in [Checker::new().random(1), Checker::new().portfolio(2), Checker::new().preemptions(2)] {
        let whole = checker.clone().executions(40).explore(program);
        let checker = checker.save_to(directory.file());
        let first = checker.clone().executions(15).explore(program);
        let then = checker.executions(25).resume(first.saved().unwrap()).unwrap().explore(program);
        assert_eq!(then.counts(), whole.counts());
    }
}

#[test]
fn failures_are_not_forgotten() {
    let directory = Directory::new("failures");
    let program = || {
        let total = Arc::new(lisle_check::atomic::AtomicU32::new(0));
        let adders = [(); 3].map(|()| {
            let total = total.clone();
            spawn(move || total.store(total.load(SeqCst) + 1, SeqCst))
        });
        let _ = adders.map(|adder| adder.join().unwrap());
        assert_eq!(total.load(SeqCst), 3, "some are lost");
    };
    let whole = Checker::new().past_failures().explore(program);
    let checker = Checker::new().past_failures().save_to(directory.file());
    let first = checker.clone().executions(10).explore(program);
    assert!(first.failure().is_some() && first.saved().is_some());
    let then = checker.resume(first.saved().unwrap()).unwrap().explore(program);
    assert_eq!(then.counts(), whole.counts());
    assert!(then.failure().unwrap().panicked().unwrap().contains("some are lost"));
}

#[test]
fn another_program_is_refused() {
    let directory = Directory::new("another");
    let path = directory.file();
    let fibers = |number: usize| move || orders(number);
    fn five() {
        orders(5);
    }
    let checker = Checker::new().executions(10).save_to(&path);
    checker.explore(fibers(5));
    let refused = |checker: Checker, program: fn(Checker)| {
        let checker = checker.resume(&path).unwrap();
        panic_of(move || program(checker))
    };
    let text = refused(Checker::new(), |checker| drop(checker.explore(five)));
    assert!(text.contains("it is of the check of `programs::saved::another_program_is_refused"), "{text}");
    let checker = Checker::new().resume(&path).unwrap();
    let text = panic_of(move || drop(checker.explore(fibers(6))));
    assert!(text.contains("it is of a program that does something else"), "{text}");
    let checker = Checker::new().random(3).resume(&path).unwrap();
    let text = panic_of(move || drop(checker.explore(fibers(5))));
    assert!(text.contains("this check asks for schedules at random, from the seed 3"), "{text}");
    let checker = Checker::new().observed().resume(&path).unwrap();
    let text = panic_of(move || drop(checker.explore(fibers(5))));
    assert!(text.contains("it has not counted the observable differences"), "{text}");
    let verdict = Checker::new().resume(&path).unwrap().explore(fibers(5));
    assert_eq!(verdict.counts().complete, 120);
}

#[test]
fn damaged_files_are_refused() {
    let directory = Directory::new("damaged");
    let path = directory.file();
    let resumed = || Checker::new().resume(&path).map(drop).unwrap_err();
    assert!(matches!(resumed(), ResumeError::Read(..)));
    std::fs::write(&path, "something else").unwrap();
    assert!(matches!(resumed(), ResumeError::Format(_)));
    Checker::new().executions(10).save_to(&path).explore(|| orders(5));
    let bytes = std::fs::read(&path).unwrap();
    for length in [8, 10, bytes.len() / 2, bytes.len() - 1] {
        std::fs::write(&path, &bytes[..length]).unwrap();
        assert!(matches!(resumed(), ResumeError::Damaged(_)), "{length} of {}", bytes.len());
    }
    let mut changed = bytes.clone();
    changed[bytes.len() / 2] ^= 4;
    std::fs::write(&path, changed).unwrap();
    let text = resumed().to_string();
    assert!(text.contains("is damaged or cut short; begin it anew"), "{text}");
}

#[test]
fn where_it_cannot_be_saved_it_does_not_begin() {
    let directory = Directory::new("nowhere");
    let (path, checker) = (directory.0.clone(), Checker::new().save_to(&directory.0));
    let text = panic_of(move || drop(checker.explore(|| orders(2))));
    assert!(text.contains("could not be saved in") && text.contains(&path.display().to_string()), "{text}");
}

/// A test of this program, as a process of its own.
fn child(name: &str, environment: &[(&str, &Path)]) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("saved::{name}"), "--ignored", "--nocapture"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for name in ["LISLE_CHECK_SAVE", "LISLE_CHECK_RESUME", "LISLE_CHECK_PROGRESS"] {
        command.env_remove(name);
    }
    command.envs(environment.iter().copied()).spawn().unwrap()
}

fn kill(child: &Child, signal: &str) {
    let status = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// Waits until the child says this.
fn wait_for(child: &mut Child, what: &str) {
    // Byte by byte: the bytes after it belong to the next reader.
    let stdout = child.stdout.as_mut().unwrap();
    let mut line = Vec::new();
    while !line.ends_with(what.as_bytes()) {
        let mut byte = [0];
        assert_eq!(stdout.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&line));
        line.push(byte[0]);
    }
}

/// Runs for a test below: explores all orders. In the middle it waits for a line, and then for a
/// signal.
#[test]
#[ignore = "it is run by another test"]
fn all_orders() {
    static EXECUTIONS: AtomicU64 = AtomicU64::new(0);
    static WAITED: OnceLock<()> = OnceLock::new();
    let verdict = Checker::new().workers(2).check(|| {
        if EXECUTIONS.fetch_add(1, SeqCst) >= 500 {
            WAITED.get_or_init(|| {
                // Handlers are called in the order of registration: when this one is called, the
                // checker has noted the signal.
                let has_arrived = Arc::<AtomicBool>::default();
                let signals =
                    std::env::var_os("LISLE_CHECK_SAVE").map_or([].as_slice(), |_| &[SIGINT, SIGTERM]);
                for &signal in signals {
                    flag::register(signal, has_arrived.clone()).unwrap();
                }
                println!("in the middle");
                std::io::stdout().flush().unwrap();
                let is_told = std::io::stdin().read_line(&mut String::new()).unwrap() > 0;
                while is_told && !signals.is_empty() && !has_arrived.load(SeqCst) {
                    std::thread::yield_now();
                }
            });
        }
        orders(6);
    });
    println!("{verdict}");
}

#[test]
fn ctrl_c_saves_what_is_explored() {
    let directory = Directory::new("ctrl-c");
    for (signal, number) in [("-INT", 2), ("-TERM", 15)] {
        let mut first = child("all_orders", &[("LISLE_CHECK_SAVE", &directory.0)]);
        wait_for(&mut first, "in the middle");
        kill(&first, signal);
        writeln!(first.stdin.take().unwrap()).unwrap();
        let output = first.wait_with_output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.signal(), Some(number), "{text}");
        let text = text.lines().collect::<Vec<_>>();
        assert!(text[0].contains("saved.rs:") && text[0].contains("interrupted after"), "{text:?}");
        assert!(text[0].contains("all end, about"), "{text:?}");
        let path = text[1].strip_prefix("to go on: LISLE_CHECK_RESUME=").unwrap();
        assert!(Path::new(path).starts_with(&directory.0));

        // It goes on from the file, or from the one of its name in the directory.
        for from in [Path::new(path), &directory.0] {
            let mut second = child("all_orders", &[("LISLE_CHECK_RESUME", from)]);
            drop(second.stdin.take());
            let output = second.wait_with_output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(output.status.success() && text.contains("exhaustive: 720 executions"), "{text}");
        }
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_second_ctrl_c_ends_the_process() {
    let directory = Directory::new("twice");
    let mut child = child("all_orders", &[("LISLE_CHECK_SAVE", &directory.0)]);
    wait_for(&mut child, "in the middle");
    // The first one is noted, and nothing comes of it, for an execution waits for a line.
    kill(&child, "-INT");
    while child.try_wait().unwrap().is_none() {
        kill(&child, "-INT");
    }
    assert_eq!(child.wait().unwrap().signal(), Some(2));
}

#[test]
fn nobody_is_in_the_way_of_signals_who_has_not_been_asked_to() {
    let mut child = child("all_orders", &[]);
    wait_for(&mut child, "in the middle");
    kill(&child, "-INT");
    assert_eq!(child.wait().unwrap().signal(), Some(2));
}

/// Runs for a test below: is interrupted while schedules are drawn by chance.
#[test]
#[ignore = "it is run by another test"]
fn interrupted_by_chance() {
    static EXECUTIONS: AtomicU64 = AtomicU64::new(0);
    let directory = Directory::new("by-chance");
    let verdict = Checker::new().workers(1).save_to(directory.file()).explore(|| {
        orders(7);
        if EXECUTIONS.fetch_add(1, SeqCst) == 1_005 {
            signal_hook::low_level::raise(SIGINT).unwrap();
        }
    });
    assert_eq!(verdict.limit(), Some(Limit::Interrupt), "{verdict}");
    println!("{} and {}", verdict.counts().all(), verdict.sampled().all());
}

#[test]
fn ctrl_c_ends_also_what_is_drawn_by_chance() {
    let output = child("interrupted_by_chance", &[]).wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    // The exploration pauses after a thousand executions, or after a second. The last execution is the one
    // that ran when the signal came.
    let counts: Option<[u64; 2]> = text.lines().find_map(|line| {
        let (explored, drawn) = line.split_once(" and ")?;
        Some([explored.parse().ok()?, drawn.parse().ok()?])
    });
    let [explored, drawn] = counts.unwrap_or_else(|| panic!("{text}"));
    assert!(output.status.success() && explored + drawn == 1_006 && drawn > 0, "{text}");
}

/// Runs for a test below: explores for so long that progress is shown.
#[test]
#[ignore = "it is run by another test"]
fn for_some_time() {
    let verdict = Checker::new().time(Duration::from_millis(1_200)).explore(|| orders(10));
    assert_eq!(verdict.limit(), Some(Limit::Time(Duration::from_millis(1_200))));
}

/// Runs for a test below: explores until it is interrupted.
#[test]
#[ignore = "it is run by another test"]
fn without_end() {
    Checker::new().check(|| orders(20));
}

#[test]
fn what_shows_its_progress_is_saved_among_the_temporary_files() {
    let directory = Directory::new("temporary");
    let environment = [("LISLE_CHECK_PROGRESS", Path::new("1")), ("TMPDIR", &directory.0)];
    let mut child = child("without_end", &environment);
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    assert!(line.contains(" executions, ") && line.contains(" explored"), "{line}");
    kill(&child, "-INT");
    let mut text = String::new();
    stderr.read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(2), "{text}");
    let (_, path) = text.split_once("to go on: LISLE_CHECK_RESUME=").unwrap();
    assert!(path.starts_with(directory.0.to_str().unwrap()), "{text}");
    assert!(Checker::new().resume(path.trim_end()).is_ok());
}

#[test]
fn progress_is_shown_to_those_who_ask() {
    for (asked, is_shown) in [("1", true), ("0", false), ("", false)] {
        let child = child("for_some_time", &[("LISLE_CHECK_PROGRESS", Path::new(asked))]);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        let lines: Vec<_> = BufReader::new(&output.stderr[..]).lines().map(Result::unwrap).collect();
        assert_eq!(!lines.is_empty(), is_shown, "{lines:?}");
        assert!(lines.iter().all(|line| line.contains("saved.rs:") && line.contains("/s, ")), "{lines:?}");
    }
}
