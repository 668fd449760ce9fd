//! The order of a run: groups of rows that are compared with each other.

use super::{cores, vary};
use crate::{
    cli::Options,
    systems,
    workload::{Case, Param, Program, Workers, Workload},
    workloads,
};
use std::{collections::BTreeMap, time::Duration};

pub(crate) struct Plan {
    pub(crate) groups: Vec<Group>,
    pub(crate) rounds: u32,
    /// How long a measured run lasts at least.
    pub(crate) target: Duration,
    /// How long the samples of one row may take in all before no more are taken of it: a slow
    /// system is measured less often. No limit if the user says how often.
    pub(crate) share: Duration,
    /// How long a sample may take before it counts as failed.
    pub(crate) limit: Duration,
    /// Why the figures may mislead.
    pub(crate) warnings: Vec<String>,
}

/// One case of a workload with a number of workers: the content of one plot. Its samples are
/// interleaved.
#[derive(Clone)]
pub(crate) struct Group {
    pub(crate) workload: &'static Workload,
    pub(crate) case: &'static Case,
    pub(crate) params: BTreeMap<String, u64>,
    pub(crate) workers: usize,
    pub(crate) rows: Vec<Row>,
}

/// One system in a group.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) program: &'static Program,
}

impl Plan {
    /// The plan that the command line asks for, or the fault in the command line.
    pub(crate) fn new(options: &Options) -> Result<Self, String> {
        let mut chosen = workloads::ALL.to_vec();
        if !options.names.is_empty() {
            chosen = distinct(&options.names).filter_map(|name| workloads::find(name)).collect();
        }
        let asked = if options.workers.is_empty() {
            vec![1, 2]
        } else {
            distinct(&options.workers).copied().collect()
        };
        for asked in &options.params {
            if !chosen.iter().any(|workload| vary::has(workload, &asked.name)) {
                return Err(format!("none of the work asked for has a parameter '{}'", asked.name));
            }
        }
        let mut groups = Vec::new();
        for workload in chosen {
            for case in vary::cases(workload, &options.params) {
                let counts = match case.workers {
                    Workers::Asked => asked.clone(),
                    Workers::Exactly(count) => vec![count],
                };
                groups.extend(
                    counts.into_iter().filter_map(|workers| Group::new(workload, case, workers, options)),
                );
            }
        }
        if groups.is_empty() {
            return Err("none of the systems asked for does any of this work".to_owned());
        }
        let (rounds, millis, share, limit) = if options.quick { (1, 40, 2, 10) } else { (3, 200, 5, 30) };
        Ok(Plan {
            warnings: warnings(&groups, options),
            groups,
            rounds: options.rounds.unwrap_or(rounds),
            target: Duration::from_millis(millis),
            share: if options.rounds.is_some() { Duration::MAX } else { Duration::from_secs(share) },
            limit: Duration::from_secs(limit),
        })
    }

    pub(crate) fn samples(&self) -> u64 {
        self.groups.iter().map(|group| group.rows.len() as u64 * u64::from(self.rounds)).sum()
    }
}

impl Group {
    /// `None`: no system that is asked for can do it.
    fn new(
        workload: &'static Workload,
        case: &'static Case,
        workers: usize,
        options: &Options,
    ) -> Option<Self> {
        let asked_for =
            |system: &str| options.systems.is_empty() || options.systems.iter().any(|asked| asked == system);
        let rows: Vec<Row> = workload
            .programs
            .iter()
            .filter(|program| {
                let system = systems::find(program.system).expect("a program's system is in the list");
                asked_for(program.system) && (program.does)(case) && workers_fit(case, workers, system)
            })
            .map(|program| Row { program })
            .collect();
        let value = |param: &Param| if options.quick { param.quick } else { param.value };
        let params = case.params.iter().map(|param| (param.name.to_owned(), value(param))).collect();
        (!rows.is_empty()).then_some(Group { workload, case, params, workers, rows })
    }

    /// `chain, buffered, relays=10, 2 workers`
    pub(crate) fn title(&self) -> String {
        format!("{}, {}", self.workload.name, self.case_title())
    }

    /// `buffered, relays=10, 2 workers`
    pub(crate) fn case_title(&self) -> String {
        let variant = (self.case.variant != "-").then(|| self.case.variant.to_owned());
        let params = self.params.iter().map(|(name, value)| format!("{name}={value}"));
        let words: Vec<_> = variant.into_iter().chain(params).chain([self.workers_title()]).collect();
        words.join(", ")
    }

    /// `2 workers`
    pub(crate) fn workers_title(&self) -> String {
        if self.workers == 1 { "1 worker".to_owned() } else { format!("{} workers", self.workers) }
    }
}

/// A case that sets its own number of workers takes all systems, also a system with one worker or
/// with at least two.
fn workers_fit(case: &Case, workers: usize, system: &systems::System) -> bool {
    (system.least_workers..=system.most_workers).contains(&workers) || case.workers != Workers::Asked
}

fn warnings(groups: &[Group], options: &Options) -> Vec<String> {
    let mut warnings = Vec::new();
    if cfg!(debug_assertions) {
        warnings.push("this program has been built without optimisation; build it with --release".to_owned());
    }
    let cores = cores::count();
    if groups.iter().any(|group| group.workers > cores) {
        let has = if cores == 1 { "is only 1 core".to_owned() } else { format!("are only {cores} cores") };
        warnings.push(format!("there {has} to run on; where there are more workers, they share them"));
    }
    for system in distinct(&options.systems) {
        let runs = |group: &Group| group.rows.iter().any(|row| row.program.system == system);
        if !groups.iter().any(runs) {
            warnings.push(format!("{system} does none of this work"));
        }
    }
    warnings
}

/// Each item where it comes first.
fn distinct<T: PartialEq>(items: &[T]) -> impl Iterator<Item = &T> {
    items.iter().enumerate().filter(|(i, item)| !items[..*i].contains(item)).map(|(_, item)| item)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn plan(arguments: &[&str]) -> Plan {
        Plan::new(&Options::parse_from([&["lisle-bench"], arguments].concat())).unwrap()
    }

    #[test]
    fn what_is_asked_twice_is_run_once() {
        let once = plan(&["chain", "--systems", "lisle,go", "--workers", "2"]);
        let twice = plan(&["chain", "chain", "--systems", "lisle,go,lisle", "--workers", "2,2"]);
        assert_eq!(twice.samples(), once.samples());
        assert!(once.samples() > 0);
    }

    #[test]
    fn more_workers_than_cores_are_run_with_a_warning() {
        let plan = plan(&["chain", "--workers", "1024"]);
        assert!(plan.groups.iter().all(|group| group.workers == 1024));
        assert!(plan.warnings.iter().any(|warning| warning.contains("core")));
    }

    #[test]
    fn a_system_that_does_nothing_is_told() {
        let plan = plan(&["chain", "--systems", "lisle,nginx"]);
        assert!(plan.warnings.iter().any(|warning| warning == "nginx does none of this work"));
    }
}
