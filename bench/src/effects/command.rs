//! The command `effects`: the workloads about effects, or some of their cases, and no others.

use super::{PREFIX, suite};
use crate::{
    cli::{EffectsOptions, Options},
    report, runner, workloads,
};
use std::time::Duration;

/// Takes the samples, and prints the tables.
pub(crate) fn measure(options: &EffectsOptions) -> Result<(), String> {
    let (workloads, programs) = names(&options.names)?;
    let all = Options {
        command: None,
        names: workloads,
        list: false,
        quick: options.quick,
        rounds: options.rounds,
        workers: Vec::new(),
        systems: options.systems.clone(),
        params: Vec::new(),
        json: options.json.clone(),
        html: options.html.clone(),
    };
    let mut plan = runner::Plan::new(&all)?;
    plan.groups.retain(|group| {
        let is_program = group.workload.name == suite::NAME;
        !is_program || programs.is_empty() || programs.contains(&group.case.variant)
    });
    if plan.groups.is_empty() {
        return Err("none of the systems asked for does any of this work".to_owned());
    }
    plan.limit = Duration::from_secs(options.limit);
    let mut report = report::Report::open(&all)?;
    report.write(&runner::run(&plan))
}

/// The workloads of these names, and the programs of the suite, all of which are meant if there are
/// none.
fn names(asked: &[String]) -> Result<(Vec<String>, Vec<&str>), String> {
    let all = || workloads::ALL.iter().map(|workload| workload.name).filter(|name| name.starts_with(PREFIX));
    if asked.is_empty() {
        return Ok((all().map(str::to_owned).collect(), Vec::new()));
    }
    let (mut workloads, mut programs) = (Vec::new(), Vec::new());
    for name in asked {
        if all().any(|known| known == name) {
            workloads.push(name.clone());
        } else if suite::CASES.iter().any(|case| case.variant == name) {
            programs.push(name.as_str());
        } else {
            let mut known: Vec<&str> = all().collect();
            for case in suite::CASES.iter().filter(|case| suite::is_short(case)) {
                known.push(case.variant);
            }
            return Err(format!("there is no '{name}'; there are {}", known.join(", ")));
        }
    }
    if workloads.iter().any(|name| name == suite::NAME) {
        programs.clear();
    } else if !programs.is_empty() {
        workloads.push(suite::NAME.to_owned());
    }
    Ok((workloads, programs))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(words: &[&str]) -> Result<(Vec<String>, Vec<String>), String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        names(&words).map(|(workloads, programs)| {
            (workloads, programs.into_iter().map(str::to_owned).collect::<Vec<_>>())
        })
    }

    #[test]
    fn a_name_is_that_of_a_workload_or_of_a_program_of_the_suite() {
        let (workloads, programs) = asked(&["countdown", "effect-create", "nqueens"]).unwrap();
        assert_eq!(workloads, ["effect-create", "effect-suite"]);
        assert_eq!(programs, ["countdown", "nqueens"]);
        let (workloads, programs) = asked(&["countdown", "effect-suite"]).unwrap();
        assert_eq!((workloads.len(), programs.len()), (1, 0));
        assert_eq!(asked(&[]).unwrap().0.len(), 5);
    }

    #[test]
    fn a_wrong_name_is_answered_with_all() {
        let said = asked(&["chain"]).unwrap_err();
        assert!(said.starts_with("there is no 'chain'; there are effect-create, "), "{said}");
        assert_eq!(said.matches("countdown").count(), 1, "{said}");
    }
}
