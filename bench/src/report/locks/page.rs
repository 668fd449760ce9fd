//! The page of the study: plots of the main comparisons, and all figures in tables.

use super::{Contest, contests};
use crate::{
    locks::figures::{
        FAIRNESS, IDLE, PERCENTILES, PROCESSOR, SLOWED, SLOWED_RUNNING, WAITS,
        readers::{READER, WRITER, WRITES},
    },
    report::{
        html::{self, figures},
        markup::escape,
        setting::Setting,
        summary::{Line, Table},
    },
    runner::Findings,
    systems,
};

const TITLE: &str = "A study of locks";

/// Returns `true` if a table has a plot.
fn is_plotted(table: &Table) -> bool {
    let (p50, p999) = (PERCENTILES[0].0, PERCENTILES[3].0);
    let plotted = ["", p50, p999, WAITS[0], IDLE[0], FAIRNESS, PROCESSOR, SLOWED, SLOWED_RUNNING, WRITES];
    let of_readers = [READER, WRITER].map(|side| [side.percentiles[0].0, side.longest[0]]);
    plotted.iter().chain(of_readers.as_flattened()).any(|name| *name == table.figure)
}

pub(in crate::report) fn page(findings: &Findings, tables: &[Table], setting: &Setting) -> String {
    let plotted: Vec<&Table> = tables.iter().filter(|table| is_plotted(table)).collect();
    let all: String = contests(tables).map(|contest| section(&contest)).collect();
    let all = format!("<h2 id=\"all\">All figures</h2>\n<p>{}</p>\n{all}", HOW_TO_READ);
    html::page_of(TITLE, findings, &plotted, setting, &[("all", "all figures", all)])
}

const HOW_TO_READ: &str = "Medians of the samples. The four longest waits, and the four longest times for which the lock \
    lay idle though a performer wanted it, are of one sample. A test is 16,384 locks of each performer, at the \
    throughput that was measured. Fairness is Jain's index: 1 if all have had the lock as often.";

fn section(contest: &Contest) -> String {
    if contest.is_plain() {
        return format!("<h3>{}</h3>\n{}", escape(&contest.0[0].title()), figures(&contest.0[0]));
    }
    let head: String = contest.columns().map(|column| format!("<th>{}</th>", column.head)).collect();
    let rows: String = contest.lines().map(|line| row(contest, line)).collect();
    format!(
        "<h3>{}</h3>\n<div class=\"wide\"><table class=\"figures\">\n<thead><tr><th></th>{head}</tr></thead>\n\
         <tbody>\n{rows}</tbody></table></div>\n",
        escape(&contest.0[0].group.title()),
    )
}

fn row(contest: &Contest, line: &Line) -> String {
    let class = if systems::is_own(line.system) { " class=\"lisle\"" } else { "" };
    let cells = match contest.cells(line) {
        Ok(cells) => cells.iter().map(|cell| format!("<td>{}</td>", escape(cell))).collect(),
        Err(why) => {
            let columns = contest.columns().count();
            format!("<td class=\"why\" colspan=\"{columns}\">{}</td>", escape(&why))
        }
    };
    format!("<tr{class}><th>{}</th>{cells}</tr>\n", escape(line.system))
}
