//! One sample: a pinned process, and its answer.

use super::{Group, cores, process};
use crate::{
    job::{Figure, Outcome},
    workload::RESIDENT,
};
use rustix::thread::sched_setaffinity;
use std::{
    os::unix::process::{CommandExt, ExitStatusExt},
    process::{Command, ExitStatus},
    time::Duration,
};

/// Runs `command` for one sample of `group`. The error is a text for the table.
pub(super) fn sample(
    mut command: Command,
    group: &Group,
    target: Duration,
    limit: Duration,
) -> Result<Outcome, String> {
    command
        .arg(group.workload.name)
        .arg(group.case.variant)
        .arg(group.workers.to_string())
        .arg(target.as_millis().to_string())
        .args(group.params.iter().map(|(name, value)| format!("{name}={value}")));
    pin(&mut command, group.workers);
    let ended = process::run(&mut command, limit).map_err(|error| format!("cannot be run: {error}"))?;
    match ended.status {
        None => Err(format!("has not ended after {} s", limit.as_secs())),
        Some(status) if !status.success() => Err(describe(status, &ended.stderr)),
        Some(_) => understand(&ended.stdout).map(|outcome| with_resident(outcome, group)),
    }
}

/// Confines the process to as many cores as it has workers.
pub(super) fn pin(command: &mut Command, workers: usize) {
    let set = cores::first(workers);
    // SAFETY: between fork and exec only this system call is made, on a value made before.
    unsafe {
        command.pre_exec(move || Ok(sched_setaffinity(None, &set)?));
    }
}

/// Adds the resident memory as a figure, if the workload has one of that name.
fn with_resident(mut outcome: Outcome, group: &Group) -> Outcome {
    if group.workload.units.iter().any(|(name, _)| *name == RESIDENT) {
        let value = outcome.rss_bytes as f64 / f64::from(1 << 20);
        outcome.figures.push(Figure { name: RESIDENT.to_owned(), value, p99: None });
    }
    outcome
}

/// The last line is the answer.
fn understand(stdout: &str) -> Result<Outcome, String> {
    let answer = stdout.lines().last().ok_or("has not answered")?;
    let outcome: Outcome = serde_json::from_str(answer)
        .map_err(|error| format!("answers nonsense: {} ({error})", cut(answer)))?;
    match outcome.figures.iter().find(|figure| figure.value <= 0.0) {
        Some(figure) => Err(format!("answers nonsense: {} {}", figure.name, figure.value)),
        None => Ok(outcome),
    }
}

/// How a process failed: with its own words, if it had any.
fn describe(status: ExitStatus, stderr: &str) -> String {
    let said = reason(stderr).map(cut);
    let how = match (status.code(), status.signal()) {
        (Some(3), _) => return said.unwrap_or_else(|| "cannot do this".to_owned()),
        (Some(code), _) => format!("failed with status {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "failed".to_owned(),
    };
    said.map_or(how.clone(), |said| format!("{how}: {said}"))
}

/// The line that says why, among stack traces and notes.
fn reason(stderr: &str) -> Option<&str> {
    let lines = || stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    // A panic in Rust has its message below the place.
    let panic = lines().skip_while(|line| !line.contains("panicked at")).nth(1);
    let names_it = |line: &&str| {
        let line = line.to_lowercase();
        ["error", "exception", "panic", "fatal"].iter().any(|word| line.contains(word))
    };
    panic.or_else(|| lines().find(names_it)).or_else(|| lines().next_back())
}

/// Cuts a line so that it fits a table, and leaves one blank between two words: two blanks would
/// begin a column in a file of results.
fn cut(line: &str) -> String {
    const MOST: usize = 120;
    let words: Vec<&str> =
        line.split(|c: char| c.is_control() || c == ' ').filter(|w| !w.is_empty()).collect();
    let line = words.join(" ");
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_the_last_line_and_makes_sense() {
        let answer = |value| {
            format!(
                r#"{{"figures":[{{"name":"","value":{value},"p99":null}}],"operations":1,"cpu_seconds":0,"rss_bytes":1}}"#
            )
        };
        let outcome = understand(&format!("hello\n{}\n", answer("61.5"))).unwrap();
        assert_eq!(outcome.figures[0].value, 61.5);
        assert_eq!(understand("").unwrap_err(), "has not answered");
        assert!(understand("hello\n").unwrap_err().starts_with("answers nonsense: hello"));
        for value in ["0", "-1", "1e999", "null", "NaN"] {
            assert!(understand(&answer(value)).unwrap_err().starts_with("answers nonsense"), "{value}");
        }
    }

    #[test]
    fn the_reason_is_found_among_traces() {
        let rust =
            "\nthread 'main' (7) panicked at a.rs:1:2:\nthe sum is wrong\nnote: run with RUST_BACKTRACE=1";
        assert_eq!(reason(rust), Some("the sum is wrong"));
        let java =
            "Exception in thread \"main\" java.lang.Error: the sum is wrong\n\tat Main.main(Main.java:7)";
        assert_eq!(reason(java), java.lines().next());
        let go = "panic: the sum is wrong\n\ngoroutine 1 [running]:\nmain.main()\n\tmain.go:7 +0x18\nexit status 2";
        assert_eq!(reason(go), Some("panic: the sum is wrong"));
        assert_eq!(reason("no such thing\n"), Some("no such thing"));
        assert_eq!(reason("\n"), None);
    }

    #[test]
    fn a_failure_says_how_and_why() {
        let status = |raw| ExitStatus::from_raw(raw);
        assert_eq!(describe(status(1 << 8), "no luck"), "failed with status 1: no luck");
        assert_eq!(describe(status(9), ""), "was ended by signal 9");
        assert_eq!(describe(status(3 << 8), "it has no such channel"), "it has no such channel");
        assert_eq!(cut(&"x".repeat(200)).len(), 123);
        assert_eq!(cut(" a line\tin  columns "), "a line in columns");
    }
}
