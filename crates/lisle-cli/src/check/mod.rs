//! `lisle check`: runs litmus tests and says whether their conditions hold.
//!
//! A file that is wrong does not keep the others from being run. Results go to standard output,
//! errors to standard error.

use std::fmt;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lisle_check::litmus::{Model, ParseError, RunError, Test};
use walkdir::WalkDir;

use crate::cli::CheckOptions;

/// The exit code for files that are wrong.
const WRONG: u8 = 2;

/// The error of a file.
#[derive(Debug)]
enum Error {
    /// It cannot be read.
    Read(io::Error),
    /// It is not a test.
    Parse(ParseError),
    /// It has no outcome under the model.
    Run(RunError),
    /// It is a directory without tests.
    Empty,
    /// Standard output takes no more.
    Print(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Read(error) => write!(f, "cannot read the test: {error}"),
            Error::Parse(error) => error.fmt(f),
            Error::Run(error) => error.fmt(f),
            Error::Empty => f.write_str("the directory has no file whose name ends in .litmus"),
            Error::Print(error) => write!(f, "cannot print the results: {error}"),
        }
    }
}

/// Runs all tests and returns the exit code.
pub(crate) fn run(options: &CheckOptions) -> ExitCode {
    let (mut all_hold, mut all_right) = (true, true);
    let mut output = io::stdout().lock();
    for named in &options.files {
        for file in tests_in(named) {
            let (path, outcome) = match file {
                Ok(path) => {
                    let outcome = check(&path, options, &mut output);
                    (path, outcome)
                }
                Err(error) => (named.clone(), Err(error)),
            };
            match outcome {
                Ok(holds) => all_hold &= holds,
                // The reader of the output has read enough.
                Err(Error::Print(error)) if error.kind() == ErrorKind::BrokenPipe => {
                    return ExitCode::SUCCESS;
                }
                Err(error) => {
                    all_right = false;
                    eprintln!("lisle: {}: {error}", path.display());
                }
            }
        }
    }
    match (all_right, all_hold) {
        (false, _) => ExitCode::from(WRONG),
        (true, false) => ExitCode::FAILURE,
        (true, true) => ExitCode::SUCCESS,
    }
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

/// Runs one test under each model. Returns `true` if its condition holds under all of them.
fn check(path: &Path, options: &CheckOptions, output: &mut impl Write) -> Result<bool, Error> {
    let text = fs::read_to_string(path).map_err(Error::Read)?;
    let test = Test::parse(&text).map_err(Error::Parse)?;
    let own = [Model::of(test.architecture())];
    let models = if options.models.is_empty() { &own[..] } else { &options.models };
    let mut all_hold = true;
    for &model in models {
        let model = if options.acquire_pc && model == Model::Arm8 { Model::Arm8Rcpc } else { model };
        let outcome = test.run(model).map_err(Error::Run)?;
        all_hold &= outcome.holds();
        // The model of each outcome is named only if there are several models.
        let heading = if models.len() > 1 { format!("Model {model}\n") } else { String::new() };
        writeln!(output, "{heading}{outcome}").map_err(Error::Print)?;
    }
    Ok(all_hold)
}
