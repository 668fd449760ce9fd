//! The global pool, which each process has only once: each test is run in a process of its own.

use lisle_runtime::facade as lisle;

use rayon_core::ThreadPoolBuilder;
use std::env;
use std::process::{Command, Output};

/// Runs the ignored test with this name in a new process.
fn run(name: &str, threads: Option<&str>) -> Output {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--ignored", "--exact", name, "--nocapture"]).env_remove("RAYON_NUM_THREADS");
    command.envs(threads.map(|threads| ("RAYON_NUM_THREADS", threads))).output().unwrap()
}

fn passes(name: &str, threads: Option<&str>) {
    let output = run(name, threads);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_global_pool_is_the_default_runtime() {
    passes("built", None);
    passes("of_the_environment", Some("3"));
    passes("of_the_program", Some("3"));
}

#[test]
#[ignore = "run by another test"]
fn built() {
    ThreadPoolBuilder::new()
        .num_threads(3)
        .thread_name(|index| format!("global {index}"))
        .build_global()
        .unwrap();
    assert_eq!(lisle::Handle::default_runtime().domains(), 3);
    let name = lisle::spawn(|| std::thread::current().name().map(str::to_owned)).join().unwrap().unwrap();
    assert!(name.starts_with("global "), "{name}");
    assert_eq!(rayon_core::current_num_threads(), 3);
}

#[test]
#[ignore = "run by another test"]
fn of_the_environment() {
    assert_eq!(rayon_core::scope(|_| lisle::Handle::current()), lisle::Handle::default_runtime());
    assert_eq!(lisle::Handle::default_runtime().domains(), 3);
}

#[test]
#[ignore = "run by another test"]
fn of_the_program() {
    lisle::Runtime::builder().domains(5).install_default().unwrap();
    let error = ThreadPoolBuilder::new().build_global().unwrap_err();
    assert_eq!(error.to_string(), "The global thread pool has already been initialized.");
    assert_eq!(rayon_core::current_num_threads(), 5);
    assert!(rayon_core::broadcast(|context| context.index()).into_iter().eq(0..5));
}

#[test]
fn a_panic_without_a_handler_ends_the_process() {
    let output = run("panics", None);
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("Rayon: detected unexpected panic; aborting"), "{text}");
}

#[test]
#[ignore = "run by another test"]
fn panics() {
    rayon_core::spawn(|| panic!("nobody waits for me"));
    loop {
        std::thread::park();
    }
}
