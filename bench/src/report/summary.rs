//! Samples put together: a row's median, its spread, and how far it is from the best of its table.

use crate::{
    limits,
    runner::{Findings, Found, Group},
    systems::{self, Kind},
    workload::{Best, Program, Unit},
};

/// All rows of a group and figure, which are compared with each other.
pub(crate) struct Table {
    pub(crate) group: Group,
    /// Which figure of the samples; empty if there is only one.
    pub(crate) figure: String,
    /// The best first; failures last.
    pub(crate) rows: Vec<Line>,
}

impl Table {
    pub(crate) fn unit(&self) -> Unit {
        self.group.workload.unit(&self.figure)
    }

    /// `ns/round trip, lower is better`
    pub(crate) fn unit_title(&self) -> String {
        let Unit { name, best } = self.unit();
        let better = if best == Best::Lowest { "lower" } else { "higher" };
        format!("{name}, {better} is better")
    }

    pub(crate) fn title(&self) -> String {
        self.with_figure(self.group.title())
    }

    /// Without the workload's name.
    pub(crate) fn case_title(&self) -> String {
        self.with_figure(self.group.case_title())
    }

    fn with_figure(&self, title: String) -> String {
        if self.figure.is_empty() { title } else { format!("{title}: {}", self.figure) }
    }

    /// The rows that have been measured, the best first.
    pub(crate) fn measured(&self) -> impl Iterator<Item = (&Line, Stats)> {
        self.rows.iter().filter_map(|line| Some((line, line.result.as_ref().ok().copied()?)))
    }

    /// Whether there is a limit to compare with.
    pub(crate) fn has_limit(&self) -> bool {
        self.measured().any(|(_, stats)| stats.to_limit.is_some())
    }

    /// The kind of a system in this table: a system that does something else here is a reference.
    pub(crate) fn kind(&self, system: &str) -> Option<Kind> {
        let does_something_else = |program: &&Program| (program.does_something_else)(self.group.case);
        let program = self.group.workload.programs.iter().find(|program| program.system == system);
        program.filter(does_something_else).map(|_| Kind::Reference).or_else(|| systems::kind(system))
    }

    /// The median of a system, if it has been measured.
    pub(crate) fn median(&self, system: &str) -> Option<f64> {
        self.measured().find(|(line, _)| line.system == system).map(|(_, stats)| stats.median)
    }

    /// The rows that have not been measured, and why.
    pub(crate) fn failed(&self) -> impl Iterator<Item = (&Line, &str)> {
        self.rows.iter().filter_map(|line| Some((line, line.result.as_ref().err()?.as_str())))
    }
}

pub(crate) struct Line {
    pub(crate) system: &'static str,
    pub(crate) note: String,
    pub(crate) result: Result<Stats, String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stats {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) p99: Option<f64>,
    /// How many samples; `None` where a file of results does not tell.
    pub(crate) rounds: Option<usize>,
    pub(crate) rss_bytes: f64,
    pub(crate) cpu_seconds: f64,
    /// How many times the best is better; 1 for the best itself.
    pub(crate) behind: f64,
    /// How many times the limit is better, in a table that has its row; below 1, this is better
    /// than the limit.
    pub(crate) to_limit: Option<f64>,
}

pub(crate) fn summarize(findings: &Findings) -> Vec<Table> {
    findings.groups.iter().flat_map(|(group, found)| tables(group, found)).collect()
}

/// One table for each figure.
fn tables(group: &Group, found: &[Found]) -> Vec<Table> {
    let mut figures: Vec<String> = Vec::new();
    for figure in found.iter().flat_map(|found| &found.samples).flat_map(|sample| &sample.figures) {
        if !figures.contains(&figure.name) {
            figures.push(figure.name.clone());
        }
    }
    if figures.is_empty() {
        figures.push(String::new());
    }
    figures.into_iter().map(|figure| table(group, found, figure)).collect()
}

fn table(group: &Group, found: &[Found], figure: String) -> Table {
    let mut rows: Vec<Line> = found
        .iter()
        .map(|found| Line {
            system: found.row.program.system,
            note: found.row.program.note.to_owned(),
            result: stats(found, &figure),
        })
        .collect();
    rank(&mut rows, group.workload.unit(&figure).best);
    Table { group: group.clone(), figure, rows }
}

/// Puts the best first and failures last, and computes how far each is from the best, and from the
/// limit.
pub(super) fn rank(rows: &mut [Line], best: Best) {
    let better = |a: f64, b: f64| match best {
        Best::Lowest => a.total_cmp(&b),
        Best::Highest => b.total_cmp(&a),
    };
    rows.sort_by(|a, b| match (&a.result, &b.result) {
        (Ok(a), Ok(b)) => better(a.median, b.median),
        (a, b) => a.is_err().cmp(&b.is_err()),
    });
    if let Some(Line { result: Ok(first), .. }) = rows.first() {
        let first = first.median;
        for stats in rows.iter_mut().filter_map(|line| line.result.as_mut().ok()) {
            stats.behind = behind(first, stats.median, best);
        }
    }
    let limit = rows.iter().find(|line| line.system == limits::NAME);
    let limit = limit.and_then(|line| line.result.as_ref().ok()).map(|stats| stats.median);
    for stats in rows.iter_mut().filter_map(|line| line.result.as_mut().ok()) {
        stats.to_limit = limit.map(|limit| behind(limit, stats.median, best));
    }
}

/// How many times `first` is better.
pub(super) fn behind(first: f64, median: f64, best: Best) -> f64 {
    match best {
        Best::Lowest => median / first,
        Best::Highest => first / median,
    }
}

fn stats(found: &Found, figure: &str) -> Result<Stats, String> {
    if let Some(failure) = &found.failure {
        return Err(failure.clone());
    }
    let figures: Vec<_> =
        found.samples.iter().flat_map(|sample| &sample.figures).filter(|own| own.name == figure).collect();
    let values = sorted(figures.iter().map(|figure| figure.value));
    let (Some(&min), Some(&max)) = (values.first(), values.last()) else {
        return Err("has not measured this".to_owned());
    };
    let p99s = sorted(figures.iter().filter_map(|figure| figure.p99));
    Ok(Stats {
        median: median(&values),
        min,
        max,
        p99: (!p99s.is_empty()).then(|| median(&p99s)),
        rounds: Some(values.len()),
        rss_bytes: median(&sorted(found.samples.iter().map(|sample| sample.rss_bytes as f64))),
        cpu_seconds: median(&sorted(found.samples.iter().map(|sample| sample.cpu_seconds))),
        behind: 1.0,
        to_limit: None,
    })
}

pub(super) fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// Of values in order; the mean of the middle two, if there are two.
pub(super) fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { f64::midpoint(sorted[middle - 1], sorted[middle]) }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{
        job::{Figure, Outcome},
        runner::Row,
        workload::{Case, Workload},
    };
    use std::collections::BTreeMap;

    /// A table of systems with a sample each, or a failure.
    pub(crate) fn table(rows: &[(&'static str, Result<f64, &str>)]) -> Table {
        static CASE: Case = Case::new("case", &[]);
        static WORKLOAD: Workload = Workload {
            name: "work",
            about: "",
            follows: "",
            unit: Unit::lower_is_better("ns"),
            units: &[],
            cases: &[],
            programs: &[],
        };
        let group =
            Group { workload: &WORKLOAD, case: &CASE, params: BTreeMap::new(), workers: 1, rows: Vec::new() };
        let found = |(system, result): &(&'static str, Result<f64, &str>)| Found {
            row: Row { program: Box::leak(Box::new(Program::elsewhere(system))) },
            samples: result.iter().map(|value| outcome(&[("", *value)])).collect(),
            failure: result.err().map(str::to_owned),
        };
        let found: Vec<_> = rows.iter().map(found).collect();
        tables(&group, &found).remove(0)
    }

    fn outcome(figures: &[(&str, f64)]) -> Outcome {
        let figure = |&(name, value): &(&str, f64)| Figure { name: name.to_owned(), value, p99: None };
        Outcome {
            figures: figures.iter().map(figure).collect(),
            operations: 1,
            cpu_seconds: 0.5,
            rss_bytes: 4096,
            checksum: None,
            threads: None,
        }
    }

    #[test]
    fn the_best_is_first_and_failures_are_last() {
        let table = table(&[("go", Err("gone")), ("lisle", Ok(20.0)), ("may", Ok(10.0))]);
        let order: Vec<_> = table.rows.iter().map(|line| line.system).collect();
        assert_eq!(order, ["may", "lisle", "go"]);
        let behind: Vec<_> = table.measured().map(|(_, stats)| stats.behind).collect();
        assert_eq!(behind, [1.0, 2.0]);
    }

    #[test]
    fn all_are_compared_with_the_limit_where_there_is_one() {
        let table = table(&[("limit", Ok(10.0)), ("lisle", Ok(25.0)), ("go", Ok(5.0))]);
        let ratios: Vec<_> = table.measured().map(|(line, stats)| (line.system, stats.to_limit)).collect();
        assert_eq!(ratios, [("go", Some(0.5)), ("limit", Some(1.0)), ("lisle", Some(2.5))]);
        assert!(table.has_limit());
        let without = self::table(&[("limit", Err("one core")), ("lisle", Ok(25.0))]);
        assert!(!without.has_limit());
    }

    #[test]
    fn a_median_lies_in_the_middle() {
        assert_eq!(median(&[1.0, 2.0, 10.0]), 2.0);
        assert_eq!(median(&[1.0, 2.0, 4.0, 10.0]), 3.0);
        assert_eq!(median(&[7.0]), 7.0);
    }
}
