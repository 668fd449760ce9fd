//! Frames over workers: how many times faster than serial code, the mean as dots and the worst of
//! ten as a line.

use crate::{
    frames::{MEAN, WORST},
    report::{
        markup::escape,
        plot::{Series, lines},
        summary::Table,
    },
    systems::{self, Kind},
};

/// A case with several numbers of workers.
pub(super) struct Speedup<'a> {
    /// The tables of its means and of its worst, by the number of workers.
    by_workers: Vec<[&'a Table; 2]>,
    /// The mean of the serial form, which is divided by all others.
    serial: f64,
}

/// Returns the cases of frames that have been run with several numbers of workers and by serial
/// code.
pub(super) fn all<'a>(tables: &[(usize, &'a Table)]) -> Vec<Speedup<'a>> {
    let tables = || tables.iter().map(|(_, table)| *table);
    let mut cases: Vec<Vec<[&Table; 2]>> = Vec::new();
    for mean in tables().filter(|table| table.figure == MEAN) {
        let is_its_worst =
            |table: &&Table| table.figure == WORST && table.group.title() == mean.group.title();
        let Some(worst) = tables().find(is_its_worst) else { continue };
        match cases.iter_mut().find(|case| differ_in_workers_only(case[0][0], mean)) {
            Some(case) => case.push([mean, worst]),
            None => cases.push(vec![[mean, worst]]),
        }
    }
    let speedup = |mut by_workers: Vec<[&'a Table; 2]>| {
        by_workers.sort_by_key(|[mean, _]| mean.group.workers);
        let serial = by_workers.iter().find_map(|[mean, _]| mean.median("serial"))?;
        (by_workers.len() > 1).then_some(Speedup { by_workers, serial })
    };
    cases.into_iter().filter_map(speedup).collect()
}

fn differ_in_workers_only(a: &Table, b: &Table) -> bool {
    a.group.workload.name == b.group.workload.name
        && a.group.case.variant == b.group.case.variant
        && a.group.params == b.group.params
}

impl<'a> Speedup<'a> {
    pub(super) fn tables(&self) -> impl Iterator<Item = &'a Table> {
        self.by_workers.iter().flatten().copied()
    }

    /// The plot, with a heading of that level.
    pub(super) fn plot(&self, heading: &str) -> String {
        let workers: Vec<u64> = self.by_workers.iter().map(|[mean, _]| mean.group.workers as u64).collect();
        let systems = systems::ALL.iter().filter(|system| system.kind != Kind::Reference);
        let series: Vec<Series> = systems
            .map(|system| Series {
                system: system.name,
                dots: self.over_serial(system.name, 0),
                line: self.over_serial(system.name, 1),
            })
            .filter(|series| series.dots.iter().any(Option::is_some))
            .collect();
        let title = self.title();
        let unit = "times serial code, higher is better; dots: the mean, line: the worst of ten";
        let plot = lines(&title, unit, "workers", &workers, &series);
        format!("<article class=\"trend\">\n<{heading}>{}</{heading}>\n{plot}</article>\n", escape(&title))
    }

    /// One of the two tables' speed-ups of a system, over the workers.
    fn over_serial(&self, system: &str, table: usize) -> Vec<Option<f64>> {
        self.by_workers.iter().map(|both| both[table].median(system).map(|time| self.serial / time)).collect()
    }

    /// `memory, chunk=100, streams=30000, over workers`
    fn title(&self) -> String {
        let group = &self.by_workers[0][0].group;
        let case = group.case_title();
        let case = case.strip_suffix(&group.workers_title()).expect("a title ends in the workers");
        format!("{case}over workers")
    }
}
