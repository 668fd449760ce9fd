//! The command `locks`: the studies, or some of their cases, and no other workloads.

use super::studies::{ALL, PREFIX};
use crate::{
    cli::{LocksOptions, Options},
    report,
    runner::{self, Group},
};

/// Takes the samples, and prints the tables.
pub(crate) fn measure(options: &LocksOptions) -> Result<(), String> {
    let chosen = chosen(&options.names)?;
    let all = Options {
        command: None,
        names: ALL.iter().map(|study| study.name.to_owned()).collect(),
        list: false,
        params: Vec::new(),
        quick: options.quick,
        rounds: options.rounds,
        workers: options.workers.clone(),
        systems: options.locks.clone(),
        json: options.json.clone(),
        html: options.html.clone(),
    };
    let mut plan = runner::Plan::new(&all)?;
    plan.groups.retain(|group| chosen.contains(&(group.workload.name, group.case.variant)));
    plan.groups = with_threads(plan.groups, &options.threads);
    if plan.groups.is_empty() {
        return Err("none of the locks asked for is in these studies".to_owned());
    }
    let mut report = report::Report::open(&all)?;
    report.write_locks(&runner::run(&plan))
}

/// The studies and their cases that are meant by these names: all, if there are none.
fn chosen(names: &[String]) -> Result<Vec<(&'static str, &'static str)>, String> {
    let all = || ALL.iter().flat_map(|study| study.cases.iter().map(|case| (study.name, case.variant)));
    if names.is_empty() {
        return Ok(all().collect());
    }
    let mut chosen = Vec::new();
    for name in names {
        let before = chosen.len();
        chosen.extend(all().filter(|&(study, variant)| {
            name == study || name == variant || study.strip_prefix(PREFIX) == Some(name)
        }));
        if chosen.len() == before {
            let mut known: Vec<&str> = ALL.iter().map(|study| study.name).collect();
            known.extend(all().map(|(_, variant)| variant));
            known.dedup();
            return Err(format!("there is no '{name}'; there are {}", known.join(", ")));
        }
    }
    Ok(chosen)
}

/// The groups with each of these numbers of threads in the place of their own, if there are any.
fn with_threads(groups: Vec<Group>, threads: &[u64]) -> Vec<Group> {
    const THREADS: &str = "threads";
    if threads.is_empty() {
        return groups;
    }
    let mut all: Vec<Group> = Vec::new();
    for group in groups {
        let is_same = |other: &Group| {
            (other.workload.name, other.case.variant, other.workers)
                == (group.workload.name, group.case.variant, group.workers)
        };
        if all.iter().any(is_same) {
            continue;
        }
        if group.params.contains_key(THREADS) {
            let mut distinct = threads.to_vec();
            distinct.sort_unstable();
            distinct.dedup();
            all.extend(distinct.into_iter().map(|number| {
                let mut group = group.clone();
                group.params.insert(THREADS.to_owned(), number);
                group
            }));
        } else {
            all.push(group);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(names: &[&str]) -> Result<Vec<(&'static str, &'static str)>, String> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        chosen(&names).map(|mut chosen| {
            chosen.dedup();
            chosen
        })
    }

    #[test]
    fn a_name_is_that_of_a_study_or_of_a_case() {
        let some = [("lock-contended", "some")];
        assert_eq!(asked(&["some"]).unwrap(), some);
        assert_eq!(asked(&["lock-contended"]).unwrap().len(), 3);
        assert_eq!(asked(&["contended"]), asked(&["lock-contended"]));
        assert_eq!(asked(&["alone", "nice"]).unwrap(), [("lock-alone", "alone"), ("lock-policies", "nice")]);
        assert_eq!(asked(&["readers", "queue"]).unwrap().len(), 3);
        assert_eq!(asked(&[]).unwrap().len(), 15);
    }

    #[test]
    fn a_wrong_name_is_answered_with_all() {
        let said = asked(&["chain"]).unwrap_err();
        assert!(said.starts_with("there is no 'chain'; there are lock-alone, "), "{said}");
        assert_eq!(said.matches("nothing").count(), 1, "{said}");
    }
}
