//! Files of results: they keep the text that the bench has written to a terminal. They are read
//! strictly: each line must be one that the bench writes, about a workload, case and system that it
//! knows, or a fact about the run.
//!
//! A file has one run or several. A run begins with its facts (`Date: …`); then come its tables,
//! and the table of its threads if it has one.

mod lines;
mod merge;
mod row;
mod title;

use super::{summary::Table, threads};
use std::{fs, path::Path};

/// The content of a file.
pub(super) struct Results {
    /// The file's name, without its folder.
    pub(super) name: String,
    /// Of each run; there may be none.
    pub(super) facts: Vec<Facts>,
    /// In the order of the file. Tables of several runs are merged.
    pub(super) tables: Vec<Table>,
    pub(super) threads: Vec<threads::Entry>,
}

/// The facts about a run, with the names of [`FACTS`](super::setting::FACTS).
pub(super) type Facts = Vec<(&'static str, String)>;

/// As a file has them.
struct Run {
    facts: Facts,
    tables: Vec<Table>,
    threads: Vec<threads::Entry>,
}

impl Results {
    /// The error names the file, and the line if there is one.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let text =
            fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        Results::parse(&name, &text)
            .map_err(|Wrong { line, why }| format!("{}:{line}: {why}", path.display()))
    }

    fn parse(name: &str, text: &str) -> Result<Self, Wrong> {
        let runs = lines::parse(text)?;
        let mut results =
            Results { name: name.to_owned(), facts: Vec::new(), tables: Vec::new(), threads: Vec::new() };
        let mut all = Vec::new();
        for run in runs {
            results.facts.push(run.facts);
            results.threads.extend(run.threads);
            all.push(run.tables);
        }
        results.tables = merge::merge(all);
        Ok(results)
    }
}

/// A line that is not understood.
#[derive(Debug, PartialEq)]
struct Wrong {
    /// From 1.
    line: usize,
    why: String,
}

#[cfg(test)]
mod tests;
