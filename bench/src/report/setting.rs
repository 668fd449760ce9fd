//! The setting of a run: machine, time and commit.

mod date;

use crate::repository::repository;
use crate::runner::{Findings, cores};
use std::{
    env,
    ffi::OsStr,
    fs,
    process::Command,
    time::{SystemTime, UNIX_EPOCH},
};

pub(super) struct Setting {
    pub(super) date: String,
    pub(super) machine: String,
    pub(super) kernel: String,
    pub(super) compiler: &'static str,
    /// `None` outside of a repository, or without git.
    pub(super) commit: Option<String>,
    pub(super) command_line: String,
}

impl Setting {
    pub(super) fn now() -> Self {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        Setting {
            date: date::utc(seconds),
            machine: machine(),
            kernel: kernel(),
            compiler: env!("LISLE_BENCH_RUSTC"),
            commit: commit(),
            command_line: env::args_os().map(|word| quoted(&word)).collect::<Vec<_>>().join(" "),
        }
    }
}

/// The facts that a report may tell of a run, in its order. The bench writes `Date` to `Warning`.
/// The keeper of a file of results adds `Others`, the versions of compilers and libraries, and
/// `Note`.
pub(super) const FACTS: [&str; 10] =
    ["Date", "Machine", "Kernel", "Compiler", "Commit", "Rounds", "Command", "Warning", "Others", "Note"];

impl Setting {
    /// With their names, which are of [`FACTS`].
    pub(super) fn facts(&self, findings: &Findings) -> Vec<(&'static str, String)> {
        let commit = self.commit.as_ref().map(|commit| ("Commit", commit.clone()));
        let facts = [
            ("Date", self.date.clone()),
            ("Machine", self.machine.clone()),
            ("Kernel", self.kernel.clone()),
            ("Compiler", self.compiler.to_owned()),
        ];
        let rest = [("Rounds", findings.rounds.to_string()), ("Command", self.command_line.clone())];
        let warnings = findings.warnings.iter().map(|warning| ("Warning", warning.clone()));
        facts.into_iter().chain(commit).chain(rest).chain(warnings).collect()
    }

    /// As they head a file of results.
    pub(super) fn text(&self, findings: &Findings) -> String {
        self.facts(findings).iter().map(|(name, fact)| format!("{name}: {}\n", one_line(fact))).collect()
    }
}

/// A command line may have anything in it.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// `AMD EPYC 9654, 16 cores, 125.6 GiB`
fn machine() -> String {
    let model =
        field("/proc/cpuinfo", "model name").unwrap_or_else(|| format!("{} processor", env::consts::ARCH));
    let all = field("/sys/devices/system/cpu/online", "").map_or_else(cores::count, |list| cores_in(&list));
    let cores = match cores::count() {
        usable if usable == all => counted(all),
        usable => format!("{}, of which {usable} are used", counted(all)),
    };
    let memory =
        field("/proc/meminfo", "MemTotal").and_then(|text| text.strip_suffix(" kB")?.parse::<f64>().ok());
    let memory = memory.map_or(String::new(), |kibi| format!(", {}", super::numbers::bytes(kibi * 1024.0)));
    format!("{model}, {cores}{memory}")
}

fn counted(cores: usize) -> String {
    if cores == 1 { "1 core".to_owned() } else { format!("{cores} cores") }
}

/// How many a list as `0-3,8` names.
fn cores_in(list: &str) -> usize {
    let range = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(last.parse::<usize>().ok()? + 1 - first.parse::<usize>().ok()?)
    };
    list.split(',').filter_map(range).sum()
}

/// `Linux 6.12.1 x86_64`
fn kernel() -> String {
    let release = field("/proc/sys/kernel/osrelease", "").unwrap_or_default();
    format!("Linux {release} {}", env::consts::ARCH)
}

/// The text after `name` and a colon in a file of the kernel; the first line, without a name.
fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let mut lines = text.lines();
    let value = if name.is_empty() {
        lines.next()
    } else {
        lines.find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix(':'))
    };
    Some(value?.trim().to_owned())
}

/// Of the sources, as they are now.
fn commit() -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").arg("-C").arg(repository()).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    // Only the sources of the program: the report of an earlier run is no change.
    let changes = git(&[
        "status",
        "--porcelain",
        "--",
        "crates",
        "Cargo.toml",
        "bench/src",
        "bench/peers",
        "bench/heaps",
        "bench/Cargo.lock",
    ])?;
    Some(if changes.is_empty() { commit } else { format!("{commit} + changes") })
}

/// As one would type it to a shell.
fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let is_plain = |c: char| c.is_alphanumeric() || "-_./,:=+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.into_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        let words = ["--json", "-", "a b", "it's", ""].map(|word| quoted(OsStr::new(word)));
        assert_eq!(words, ["--json", "-", "'a b'", r"'it'\''s'", "''"]);
    }

    #[test]
    fn every_fact_has_one_of_the_known_names() {
        let warnings = vec!["it is cold".to_owned()];
        let findings = Findings { rounds: 3, warnings, groups: Vec::new() };
        let facts = Setting::now().facts(&findings);
        let places: Vec<_> = facts
            .iter()
            .map(|(name, _)| FACTS.iter().position(|fact| fact == name).expect("it is known"))
            .collect();
        assert!(places.is_sorted(), "{facts:?}");
        assert_eq!(facts.last().unwrap(), &("Warning", "it is cold".to_owned()));
    }

    #[test]
    fn cores_are_counted_in_lists() {
        assert_eq!([cores_in("0"), cores_in("0-3"), cores_in("0-3,8,10-11")], [1, 4, 7]);
    }

    #[test]
    fn the_machine_is_described() {
        let setting = Setting::now();
        assert!(setting.machine.contains(" core"), "{}", setting.machine);
        assert!(setting.kernel.starts_with("Linux "), "{}", setting.kernel);
        assert!(setting.compiler.starts_with("rustc "), "{}", setting.compiler);
    }
}
