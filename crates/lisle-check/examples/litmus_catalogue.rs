//! Runs the public catalogues of litmus tests, and compares the verdicts with those that the
//! catalogues give.
//!
//! ```sh
//! git clone --depth 1 https://github.com/herd/herdtools7
//! git clone --depth 1 https://github.com/hernanponcedeleon/Dat3M
//! cargo run --release --example litmus_catalogue -- herdtools7 Dat3M
//! ```
//!
//! A test is a file that ends in `.litmus` and begins with a language that is supported. One of
//! these tells the expected result:
//!
//! - `FILE.litmus.expected`, the output of herd7 for it: the line `Observation`, and the states;
//! - a file with `kinds` in its name in the same folder: the test's name, and `Allowed`, `Forbidden`
//!   or `Required`;
//! - `dartagnan/src/test/resources/*-expected.csv` in the folder that was named: the path, and 1 if
//!   the condition holds.
//!
//! A test in the words of Linux, or from its tests, is run under `sc`, `tso` and `arm8`. Linux allows every
//! outcome of any of its processors. So all three must forbid an outcome that Linux forbids.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;
use std::{env, fs, thread};

use lisle_check::litmus::{Model, Observation, Outcome, Quantifier, RunError, Test};

/// The files of Dat3M, and the models that they are about.
const TABLES: [&str; 4] = ["ARM8-expected.csv", "TSO-expected.csv", "RC11-expected.csv", "LKMM-expected.csv"];

/// These tests have expectations for another model.
const OTHERS: [(&str, &str); 2] = [
    (
        "aarch64-down-one-leg",
        "the kinds are those of a model that was considered for Armv8, and is not its model",
    ),
    ("imm-R2.litmus", "the release sequences are those of C++11; here they are those of C++20"),
];

/// How long one test may take.
const LIMIT: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    let mut roots: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    if roots.is_empty() {
        eprintln!("usage: litmus_catalogue FOLDER... (without one: the tests of this crate)");
        roots.push(PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/litmus")));
    }
    let mut report = Report::default();
    for root in &roots {
        let tables = tables(root);
        let mut files = Vec::new();
        tests_below(root, &mut files);
        files.sort();
        for file in files {
            let Ok(text) = fs::read_to_string(&file) else { continue };
            if !matches!(text.split_whitespace().next(), Some("C" | "X86" | "X86_64" | "AArch64")) {
                continue;
            }
            let expected = beside(&file).or_else(|| kind(&file, &text)).or_else(|| {
                let path = file.strip_prefix(root).ok()?.to_str()?;
                tables.get(path).copied()
            });
            let of_other = OTHERS.iter().any(|(part, _)| file.to_string_lossy().contains(part));
            let expected = expected.filter(|_| !of_other);
            report.add(&file, &text, expected);
        }
    }
    report.print();
    if report.wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The expectation that a catalogue has of a test.
#[derive(Debug, Clone, Copy)]
enum Expected {
    /// The observation of herd7, and the number of states.
    Observed(Observation, usize),
    /// The kind of the condition, as herd7 calls it.
    Kind(Observation),
    /// Whether the condition holds.
    Holds(bool),
    /// Whether it holds under the model of Linux.
    HoldsInLinux(bool),
}

impl Expected {
    fn agrees(self, outcome: &Outcome) -> bool {
        match self {
            Expected::Observed(observation, states) => {
                outcome.observation() == observation && outcome.states().len() == states
            }
            Expected::Kind(Observation::Sometimes) => outcome.is_allowed(),
            Expected::Kind(observation) => outcome.observation() == observation,
            Expected::Holds(holds) | Expected::HoldsInLinux(holds) => outcome.holds() == holds,
        }
    }

    /// Returns `true` if the statement of a test with this quantifier happens in no execution.
    fn forbids(self, quantifier: Quantifier) -> bool {
        match self {
            Expected::Observed(observation, _) | Expected::Kind(observation) => {
                observation == Observation::Never
            }
            Expected::Holds(holds) | Expected::HoldsInLinux(holds) => match quantifier {
                Quantifier::Exists => !holds,
                Quantifier::NotExists => holds,
                _ => false,
            },
        }
    }
}

fn tests_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            tests_below(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "litmus") {
            found.push(path);
        }
    }
}

/// The expectation in `FILE.litmus.expected`.
fn beside(file: &Path) -> Option<Expected> {
    let text = fs::read_to_string(format!("{}.expected", file.display())).ok()?;
    let after = |word: &str| text.lines().find_map(|line| line.strip_prefix(word));
    // There are none where herd7 has given up on a loop.
    let states = after("States ")?.trim().parse().ok().filter(|states| *states > 0)?;
    let observed = after("Observation ")?;
    let observation = observed.split_whitespace().find_map(|word| match word {
        "Never" => Some(Observation::Never),
        "Sometimes" => Some(Observation::Sometimes),
        "Always" => Some(Observation::Always),
        _ => None,
    })?;
    Some(Expected::Observed(observation, states))
}

/// The expectation in a file of kinds in the folder.
fn kind(file: &Path, text: &str) -> Option<Expected> {
    let name = text.split_whitespace().nth(1)?;
    let folder = fs::read_dir(file.parent()?).ok()?;
    let kinds = folder.flatten().map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.contains("kinds") && name.ends_with(".txt")
    });
    for kinds in kinds {
        for line in fs::read_to_string(kinds).ok()?.lines() {
            let mut words = line.split_whitespace();
            if words.next() == Some(name) {
                return match words.next()? {
                    word if word.starts_with("Allow") => Some(Expected::Kind(Observation::Sometimes)),
                    word if word.starts_with("Forbid") => Some(Expected::Kind(Observation::Never)),
                    word if word.starts_with("Require") => Some(Expected::Kind(Observation::Always)),
                    _ => None,
                };
            }
        }
    }
    None
}

/// The expectations in the tables of Dat3M, by the paths of the tests.
fn tables(root: &Path) -> BTreeMap<String, Expected> {
    let folder = root.join("dartagnan/src/test/resources");
    let mut all = BTreeMap::new();
    for name in TABLES {
        let Ok(text) = fs::read_to_string(folder.join(name)) else { continue };
        let is_linux = name.starts_with("LKMM");
        for (path, holds) in text.lines().filter_map(|line| line.split_once(',')) {
            let holds = holds.trim() == "1";
            let expected = if is_linux { Expected::HoldsInLinux(holds) } else { Expected::Holds(holds) };
            all.insert(path.to_owned(), expected);
        }
    }
    all
}

/// The results so far.
#[derive(Debug, Default)]
struct Report {
    /// By folder: tests, those that agree, that are wrong, that are refused, and without anything to
    /// compare with.
    folders: BTreeMap<String, [usize; 5]>,
    wrong: Vec<String>,
    reasons: BTreeMap<String, usize>,
}

const AGREED: usize = 1;
const WRONG: usize = 2;
const REFUSED: usize = 3;
const UNKNOWN: usize = 4;

impl Report {
    fn add(&mut self, file: &Path, text: &str, expected: Option<Expected>) {
        let column = match judge_in_time(text.to_owned(), expected) {
            Ok(None) => UNKNOWN,
            Ok(Some(true)) => AGREED,
            Ok(Some(false)) => {
                self.wrong.push(format!("{}: expected {expected:?}", file.display()));
                WRONG
            }
            Err(reason) => {
                *self.reasons.entry(reason).or_default() += 1;
                REFUSED
            }
        };
        let folder = file.parent().map(|folder| folder.display().to_string()).unwrap_or_default();
        let row = self.folders.entry(folder).or_default();
        row[0] += 1;
        row[column] += 1;
    }

    fn print(&self) {
        println!("{:>6} {:>6} {:>6} {:>7} {:>8}", "tests", "agreed", "wrong", "refused", "unknown");
        let mut sum = [0; 5];
        for (folder, row) in &self.folders {
            let [tests, agreed, wrong, refused, unknown] = row;
            println!("{tests:>6} {agreed:>6} {wrong:>6} {refused:>7} {unknown:>8}  {folder}");
            sum.iter_mut().zip(row).for_each(|(sum, count)| *sum += count);
        }
        let [tests, agreed, wrong, refused, unknown] = sum;
        println!("{tests:>6} {agreed:>6} {wrong:>6} {refused:>7} {unknown:>8}  together");
        let mut reasons: Vec<_> = self.reasons.iter().collect();
        reasons.sort_by_key(|(reason, count)| (usize::MAX - **count, *reason));
        println!("\nNot compared, beside those of which nothing is said:");
        OTHERS.iter().for_each(|(part, reason)| println!("       {part}: {reason}"));
        println!("\nRefused:");
        reasons.iter().for_each(|(reason, count)| println!("{count:>6} {reason}"));
        println!("\nWrong:");
        self.wrong.iter().for_each(|wrong| println!("{wrong}"));
    }
}

/// The result of `judge`, if it comes in time. The thread that takes too long is left alone; it
/// ends with the program.
fn judge_in_time(text: String, expected: Option<Expected>) -> Result<Option<bool>, String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        // There is nobody to tell if it took too long.
        let _ = sender.send(judge(&text, expected));
    });
    let too_long = |_| Err(format!("takes longer than {} seconds", LIMIT.as_secs()));
    receiver.recv_timeout(LIMIT).unwrap_or_else(too_long)
}

/// Whether the test behaves as expected; or why there is no verdict on it.
fn judge(text: &str, expected: Option<Expected>) -> Result<Option<bool>, String> {
    let test = Test::parse(text).map_err(|error| error.message().to_owned())?;
    let reason = |error: RunError| {
        let text = error.to_string();
        // Without the place, which is another one in each test.
        text.split_once(": ").map_or(text.clone(), |(_, reason)| reason.to_owned())
    };
    let is_linux = matches!(expected, Some(Expected::HoldsInLinux(_)));
    match test.own_model() {
        Ok(model) if !is_linux => {
            let outcome = test.run(model).map_err(reason)?;
            Ok(expected.map(|expected| expected.agrees(&outcome)))
        }
        _ => {
            let mut stronger = true;
            for model in [Model::Sc, Model::Tso, Model::Arm8] {
                let outcome = test.run(model).map_err(reason)?;
                stronger &= !expected.is_some_and(|expected| expected.forbids(test.quantifier()))
                    || !outcome.is_allowed();
            }
            Ok(expected.map(|_| stronger))
        }
    }
}
