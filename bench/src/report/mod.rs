//! The results, for people and for programs.

mod benchmarks;
mod html;
mod json;
mod locks;
mod markup;
mod numbers;
mod output;
mod plot;
mod results;
mod setting;
mod standing;
mod summary;
mod table;
mod threads;

pub(crate) use benchmarks::report;
pub(crate) use numbers::number;

use crate::{cli::Options, runner::Findings, workload::Workload};
use output::Output;
use setting::Setting;
use std::path::Path;
use summary::Table;

/// Returns the facts about a run of `rounds` rounds, as they head a file of results.
pub(crate) fn facts(rounds: u32) -> String {
    Setting::now().text(&Findings { rounds, warnings: Vec::new(), groups: Vec::new() })
}

/// The outputs that the command line asks for, ready to be written.
pub(crate) struct Report {
    table: Option<Output>,
    json: Option<Output>,
    html: Option<Output>,
    setting: Setting,
}

impl Report {
    /// Fails here, before the run, if something cannot be written.
    pub(crate) fn open(options: &Options) -> Result<Self, String> {
        // The setting first: a page in the working tree would count as a change.
        let setting = Setting::now();
        let json = match options.json.as_deref() {
            Some(path) if path == Path::new("-") => Some(Output::Standard),
            path => path.map(Output::open).transpose()?,
        };
        let html = options.html.as_deref().map(Output::open).transpose()?;
        Ok(Report {
            table: (!matches!(json, Some(Output::Standard))).then_some(Output::Standard),
            json,
            html,
            setting,
        })
    }

    pub(crate) fn write(&mut self, findings: &Findings) -> Result<(), String> {
        self.write_in(findings, |tables| table::table(tables) + &threads::table(findings), html::page)
    }

    /// As [`write`](Report::write), for the study of locks.
    pub(crate) fn write_locks(&mut self, findings: &Findings) -> Result<(), String> {
        self.write_in(findings, locks::text, locks::page)
    }

    /// Writes the requested files: the text and the page, as these functions make them.
    fn write_in(
        &mut self,
        findings: &Findings,
        text: impl Fn(&[Table]) -> String,
        page: impl Fn(&Findings, &[Table], &Setting) -> String,
    ) -> Result<(), String> {
        let tables = summary::summarize(findings);
        if let Some(json) = &mut self.json {
            json.write(&json::lines(&tables))?;
        }
        if let Some(html) = &mut self.html {
            html.write(&page(findings, &tables, &self.setting))?;
        }
        let text = || self.setting.text(findings) + &text(&tables);
        self.table.as_mut().map_or(Ok(()), |table| table.write(&text()))
    }
}

/// Writes the workloads, for `--list`.
pub(crate) fn list(workloads: &[&Workload]) -> Result<(), String> {
    let mut text = String::new();
    for workload in workloads {
        let Workload { name, about, unit, follows, .. } = workload;
        text += &format!("{name:<15} {about} [{}; {follows}]\n", unit.name);
    }
    Output::Standard.write(&text)
}
