//! The part of the page about one workload.

use super::{
    anchor,
    figures::figures,
    speedup::{self, Speedup},
};
use crate::{
    report::{
        markup::escape,
        plot::{Series, bars, lines},
        summary::Table,
    },
    systems,
    workload::Workload,
};

/// `tables` are the workload's, with their numbers in the whole run.
pub(super) fn section(workload: &Workload, tables: &[(usize, &Table)]) -> String {
    let each: String = tables.iter().map(|(i, table)| block(*i, table)).collect();
    let sweeps: String = sweeps(tables).iter().map(|sweep| trend(sweep, "h3")).collect();
    let speedups: String = speedup::all(tables).iter().map(|speedup| speedup.plot("h3")).collect();
    format!(
        "<section>\n<h2 id=\"{name}\">{name}</h2>\n<p>{}</p>\n<p class=\"quiet\">Follows: {}.</p>\n\
         <div class=\"plots\">\n{speedups}{each}{sweeps}</div>\n</section>\n",
        escape(&sentence(workload.about)),
        escape(workload.follows),
        name = escape(workload.name),
    )
}

/// The plots of a workload, and nothing else: as lines over a parameter where it has several
/// values, as speed-ups over workers where it has frames, or as bars.
pub(in crate::report) fn plots(tables: &[Table]) -> String {
    let numbered: Vec<(usize, &Table)> = tables.iter().enumerate().collect();
    let sweeps: Vec<Vec<&Table>> = sweeps(&numbered).into_iter().filter(|sweep| sweep.len() > 2).collect();
    let speedups = speedup::all(&numbered);
    let in_lines = || sweeps.iter().flatten().copied().chain(speedups.iter().flat_map(Speedup::tables));
    let is_in_lines = |table: &Table| in_lines().any(|other| std::ptr::eq(other, table));
    let bars = |table: &Table| {
        format!("<article>\n<h4>{}</h4>\n{}</article>\n", escape(&table.case_title()), bars(table))
    };
    let bars: String = tables.iter().filter(|table| !is_in_lines(table)).map(bars).collect();
    let lines: String = sweeps.iter().map(|sweep| trend(sweep, "h4")).collect();
    let speedups: String = speedups.iter().map(|speedup| speedup.plot("h4")).collect();
    format!("<div class=\"plots\">\n{speedups}{lines}{bars}</div>\n")
}

/// One table's plot, with its description.
fn block(i: usize, table: &Table) -> String {
    format!(
        "<article id=\"{}\">\n<h3>{}</h3>\n{}{}{}{}</article>\n",
        anchor(i),
        escape(&table.case_title()),
        bars(table),
        failures(table),
        notes(table),
        figures(table),
    )
}

fn failures(table: &Table) -> String {
    let entry = |(line, why): (&crate::report::summary::Line, &str)| {
        format!("<li><b>✕ {}</b> {}</li>\n", escape(line.system), escape(why))
    };
    let entries: String = table.failed().map(entry).collect();
    if entries.is_empty() { entries } else { format!("<ul class=\"failures\">\n{entries}</ul>\n") }
}

/// The differences of programs from the others; programs with the same note stand together.
fn notes(table: &Table) -> String {
    let mut notes: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in table.rows.iter().filter(|line| !line.note.is_empty()) {
        match notes.iter_mut().find(|(note, _)| *note == line.note) {
            Some((_, systems)) => systems.push(line.system),
            None => notes.push((&line.note, vec![line.system])),
        }
    }
    let entry = |(note, systems): &(&str, Vec<&str>)| {
        format!("<li>{}: {}</li>\n", escape(&systems.join(", ")), escape(note))
    };
    let entries: String = notes.iter().map(entry).collect();
    if entries.is_empty() { entries } else { format!("<ul class=\"notes\">\n{entries}</ul>\n") }
}

/// Tables that differ in the value of their one parameter only, if there are several.
fn sweeps<'a>(tables: &[(usize, &'a Table)]) -> Vec<Vec<&'a Table>> {
    let mut sweeps: Vec<Vec<&Table>> = Vec::new();
    for (_, table) in tables.iter().filter(|(_, table)| table.group.params.len() == 1) {
        match sweeps.iter_mut().find(|sweep| differ_in_value_only(sweep[0], table)) {
            Some(sweep) => sweep.push(table),
            None => sweeps.push(vec![table]),
        }
    }
    sweeps.retain(|sweep| sweep.len() > 1);
    sweeps
}

fn differ_in_value_only(a: &Table, b: &Table) -> bool {
    a.figure == b.figure
        && a.group.case.variant == b.group.case.variant
        && a.group.workers == b.group.workers
        && a.group.params.keys().eq(b.group.params.keys())
}

/// The plot of a sweep, with a heading of that level.
fn trend(sweep: &[&Table], heading: &str) -> String {
    let first = sweep[0];
    let (parameter, _) = first.group.params.first_key_value().expect("it has one parameter");
    let mut sweep: Vec<(u64, &Table)> =
        sweep.iter().map(|table| (table.group.params[parameter], *table)).collect();
    sweep.sort_by_key(|(value, _)| *value);
    let series = systems::ALL.iter().map(|system| {
        Series::of(system.name, sweep.iter().map(|(_, table)| table.median(system.name)).collect())
    });
    let series: Vec<Series> = series.filter(|series| series.dots.iter().any(Option::is_some)).collect();
    let values: Vec<u64> = sweep.iter().map(|(value, _)| *value).collect();
    let mut title = format!("over {parameter}, {}", first.group.workers_title());
    if first.group.case.variant != "-" {
        title = format!("{} {title}", first.group.case.variant);
    }
    if !first.figure.is_empty() {
        title = format!("{title}: {}", first.figure);
    }
    let plot = lines(&title, &first.unit_title(), parameter, &values, &series);
    format!("<article class=\"trend\">\n<{heading}>{}</{heading}>\n{plot}</article>\n", escape(&title))
}

/// `text` with a capital and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}
