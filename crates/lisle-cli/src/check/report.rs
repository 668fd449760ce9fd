//! The output of `lisle check`: as herd7 does, a line for each file, or JSON.

use std::io::{self, Write};

use lisle_check::litmus::{FinalState, Outcome, Race};
use serde_json::{Map, Value, json};

use super::{Checked, Error, Totals};
use crate::cli::CheckFormat;

/// The form of the output, and its place.
#[derive(Debug)]
pub(super) struct Report<W> {
    format: CheckFormat,
    /// Whether each test is run under several models.
    several: bool,
    output: W,
}

impl<W: Write> Report<W> {
    pub(super) fn new(format: CheckFormat, several: bool, output: W) -> Report<W> {
        Report { format, several, output }
    }

    /// Prints one result.
    pub(super) fn add(&mut self, checked: &Checked) -> io::Result<()> {
        match self.format {
            CheckFormat::Full => self.full(checked),
            CheckFormat::Lines => self.line(checked),
            CheckFormat::Json => writeln!(self.output, "{}", object(checked)),
        }
    }

    /// Prints the totals.
    pub(super) fn end(&mut self, totals: &Totals) -> io::Result<()> {
        let Totals { files, ok, wrong, refused, errors } = totals;
        match self.format {
            CheckFormat::Full => Ok(()),
            CheckFormat::Lines => {
                writeln!(
                    self.output,
                    "{files} files: {ok} ok, {wrong} wrong, {refused} refused, {errors} errors"
                )
            }
            CheckFormat::Json => writeln!(
                self.output,
                "{}",
                json!({ "totals": {
                    "files": files, "ok": ok, "wrong": wrong, "refused": refused, "errors": errors,
                } })
            ),
        }
    }

    /// As herd7 prints it. Faults go to standard error.
    fn full(&mut self, checked: &Checked) -> io::Result<()> {
        match &checked.result {
            Ok(outcome) => {
                // Which outcome is which model's is clear unless there are several.
                if let Some(model) = checked.model.filter(|_| self.several) {
                    writeln!(self.output, "Model {model}")?;
                }
                writeln!(self.output, "{outcome}")
            }
            Err(error) => {
                eprintln!("lisle: {}: {error}", checked.file.display());
                Ok(())
            }
        }
    }

    fn line(&mut self, checked: &Checked) -> io::Result<()> {
        let (verdict, file) = (verdict(&checked.result), checked.file.display());
        match &checked.result {
            Ok(outcome) => {
                let model = checked.model.map(|model| format!(" under {model}")).unwrap_or_default();
                let (states, executions) = (outcome.states().len(), outcome.executions());
                let races = if outcome.races().is_empty() { "" } else { ", data race" };
                writeln!(
                    self.output,
                    "{verdict:<7} {file}: {}{model}: {}, {states} states, {executions} executions{races}",
                    outcome.name(),
                    outcome.observation(),
                )
            }
            Err(error) => writeln!(self.output, "{verdict:<7} {file}: {}", error.message()),
        }
    }
}

fn verdict(result: &Result<Outcome, Error>) -> &'static str {
    match result {
        Ok(outcome) if outcome.holds() => "ok",
        Ok(_) => "wrong",
        Err(error) if error.refuses() => "refused",
        Err(_) => "error",
    }
}

/// The object for one result. The fields are listed in the README of this crate.
fn object(checked: &Checked) -> Value {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    put("file", json!(checked.file.to_string_lossy()));
    put("verdict", json!(verdict(&checked.result)));
    if let Some(name) = &checked.name {
        put("name", json!(name));
    }
    if let Some(model) = checked.model {
        put("model", json!(model.to_string()));
    }
    match &checked.result {
        Ok(outcome) => {
            put("condition", json!(outcome.condition()));
            put("observation", json!(outcome.observation().to_string()));
            put("executions", json!(outcome.executions()));
            put("satisfying", json!(outcome.satisfying()));
            put("states", outcome.states().iter().map(state).collect());
            put("races", outcome.races().iter().map(race).collect());
        }
        Err(error) => {
            if let Some(position) = error.position() {
                put("line", json!(position.line));
                put("column", json!(position.column));
            }
            put("message", json!(error.message()));
        }
    }
    Value::Object(object)
}

fn state(state: &FinalState) -> Value {
    let values: Map<String, Value> =
        state.values().map(|(name, value)| (name.to_owned(), json!(value))).collect();
    json!({ "values": values, "executions": state.executions(), "satisfies": state.satisfies() })
}

fn race(race: &Race) -> Value {
    let accesses = race.accesses.each_ref().map(|access| {
        json!({
            "thread": access.thread,
            "line": access.position.line,
            "column": access.position.column,
            "writes": access.writes,
        })
    });
    json!({ "location": race.location, "accesses": accesses })
}
