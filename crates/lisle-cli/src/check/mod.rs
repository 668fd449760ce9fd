//! `lisle check`: runs litmus tests and says whether their conditions hold.
//!
//! A file without a verdict does not keep the others from being run.

mod report;

use std::fmt;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lisle_check::litmus::{Model, Outcome, ParseError, RunError, SourcePosition, Test};
use walkdir::WalkDir;

use crate::cli::{CheckFormat, CheckOptions};
use report::Report;

/// The exit code if a file cannot be read.
const UNREADABLE: u8 = 2;

/// The exit code if there is no verdict on a test.
const REFUSED: u8 = 3;

/// Why there is no verdict.
#[derive(Debug)]
enum Error {
    /// The file cannot be read.
    Read(io::Error),
    /// It is a directory without tests.
    Empty,
    /// It is no test, or uses something unsupported.
    Parse(ParseError),
    /// It has no outcome under the model.
    Run(RunError),
}

impl Error {
    /// Returns `true` if there is a file, but no verdict on it.
    fn refuses(&self) -> bool {
        matches!(self, Error::Parse(_) | Error::Run(_))
    }

    /// The position of something unsupported in the test.
    fn position(&self) -> Option<SourcePosition> {
        match self {
            Error::Read(_) | Error::Empty => None,
            Error::Parse(error) => Some(error.position()),
            Error::Run(error) => error.position(),
        }
    }

    /// The fault, in one line.
    fn message(&self) -> String {
        match self {
            Error::Parse(error) => format!("{}: {}", error.position(), error.message()),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Read(error) => write!(f, "cannot read it: {error}"),
            Error::Empty => f.write_str("there is no file in it that ends in .litmus"),
            Error::Parse(error) => error.fmt(f),
            Error::Run(error) => error.fmt(f),
        }
    }
}

/// The result of a file under a model.
#[derive(Debug)]
struct Checked {
    file: PathBuf,
    /// The name of the test, where it could be read.
    name: Option<String>,
    /// The model that it was to be run under, where that is known.
    model: Option<Model>,
    result: Result<Outcome, Error>,
}

/// How many results there were of each kind.
#[derive(Debug, Default)]
struct Totals {
    files: usize,
    ok: usize,
    wrong: usize,
    refused: usize,
    errors: usize,
}

impl Totals {
    fn add(&mut self, result: &Result<Outcome, Error>) {
        *match result {
            Ok(outcome) if outcome.holds() => &mut self.ok,
            Ok(_) => &mut self.wrong,
            Err(error) if error.refuses() => &mut self.refused,
            Err(_) => &mut self.errors,
        } += 1;
    }

    fn exit_code(&self) -> ExitCode {
        match self {
            Totals { errors: 1.., .. } => ExitCode::from(UNREADABLE),
            Totals { wrong: 1.., .. } => ExitCode::FAILURE,
            Totals { refused: 1.., .. } => ExitCode::from(REFUSED),
            _ => ExitCode::SUCCESS,
        }
    }
}

/// Runs all tests and returns the exit code.
pub(crate) fn run(options: &CheckOptions) -> ExitCode {
    match print(options, io::stdout().lock()) {
        Ok(totals) => totals.exit_code(),
        // The reader of the output has read enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lisle: cannot print the results: {error}");
            ExitCode::from(UNREADABLE)
        }
    }
}

fn print(options: &CheckOptions, output: impl Write) -> io::Result<Totals> {
    let several = options.files.len() > 1 || options.files.iter().any(|named| named.is_dir());
    let format = options.format.unwrap_or(if several { CheckFormat::Lines } else { CheckFormat::Full });
    let mut report = Report::new(format, options.models.len() > 1, output);
    let mut totals = Totals::default();
    for named in &options.files {
        for file in tests_in(named) {
            totals.files += 1;
            for checked in match file {
                Ok(path) => check(&path, options),
                Err(error) => {
                    vec![Checked { file: named.clone(), name: None, model: None, result: Err(error) }]
                }
            } {
                totals.add(&checked.result);
                report.add(&checked)?;
            }
        }
    }
    report.end(&totals)?;
    Ok(totals)
}

/// The file itself, or the tests in a directory and below it, sorted by name.
fn tests_in(named: &Path) -> Vec<Result<PathBuf, Error>> {
    if !named.is_dir() {
        return vec![Ok(named.to_owned())];
    }
    let entries = WalkDir::new(named).follow_links(true).sort_by_file_name();
    let is_test =
        |path: &Path| path.extension().is_some_and(|extension| extension == "litmus") && path.is_file();
    let found: Vec<_> = entries
        .into_iter()
        .map(|entry| entry.map(walkdir::DirEntry::into_path).map_err(|error| Error::Read(error.into())))
        .filter(|entry| entry.as_ref().map_or(true, |path| is_test(path)))
        .collect();
    if found.is_empty() { vec![Err(Error::Empty)] } else { found }
}

/// Runs one test under each model.
fn check(path: &Path, options: &CheckOptions) -> Vec<Checked> {
    let checked = |name: Option<&str>, model, result| Checked {
        file: path.to_owned(),
        name: name.map(str::to_owned),
        model,
        result,
    };
    let parsed = fs::read_to_string(path)
        .map_err(Error::Read)
        .and_then(|text| Test::parse(&text).map_err(Error::Parse));
    let test = match parsed {
        Ok(test) => test,
        Err(error) => return vec![checked(None, None, Err(error))],
    };
    let name = Some(test.name());
    let models = match test.own_model() {
        _ if !options.models.is_empty() => options.models.clone(),
        Ok(own) => vec![own],
        Err(error) => return vec![checked(name, None, Err(Error::Run(error)))],
    };
    let run = |model| {
        let model = if options.acquire_pc && model == Model::Arm8 { Model::Arm8Rcpc } else { model };
        checked(name, Some(model), test.run(model).map_err(Error::Run))
    };
    models.into_iter().map(run).collect()
}
