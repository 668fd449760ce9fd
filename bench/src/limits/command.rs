//! The command `limit`: the bounds of a message between cores, and the workloads whose messages
//! cross, in one run.

use super::NAME;
use crate::{
    cli::{LimitOptions, Options},
    report, runner, systems,
    workload::Workload,
    workloads,
};

/// Takes the samples, and prints the tables.
pub(crate) fn measure(options: &LimitOptions) -> Result<(), String> {
    let all = Options {
        command: None,
        names: names(&options.names)?,
        list: false,
        quick: options.quick,
        rounds: options.rounds,
        workers: vec![2],
        systems: beside(&options.systems),
        params: Vec::new(),
        json: options.json.clone(),
        html: options.html.clone(),
    };
    let mut plan = runner::Plan::new(&all)?;
    if options.systems.is_empty() {
        for group in &mut plan.groups {
            group.rows.retain(|row| is_shown(row.program.system));
        }
    }
    // Cases of these workloads in which nothing crosses have no limit.
    plan.groups.retain(|group| group.rows.iter().any(|row| row.program.system == NAME));
    let mut report = report::Report::open(&all)?;
    report.write(&runner::run(&plan))
}

/// The workloads with a row of the limit, the limits themselves first.
fn crossing() -> impl Iterator<Item = &'static str> {
    let crosses = |workload: &&Workload| {
        workload.name != NAME && workload.programs.iter().any(|program| program.system == NAME)
    };
    [NAME].into_iter().chain(workloads::ALL.iter().copied().filter(crosses).map(|workload| workload.name))
}

/// The limits, and the workloads of these names; all that cross, if there are none.
fn names(asked: &[String]) -> Result<Vec<String>, String> {
    if let Some(unknown) = asked.iter().find(|name| !crossing().any(|known| known == **name)) {
        let known: Vec<&str> = crossing().collect();
        return Err(format!(
            "there is no '{unknown}' in which something crosses; there are {}",
            known.join(", ")
        ));
    }
    let is_asked = |name: &&str| asked.is_empty() || *name == NAME || asked.iter().any(|asked| asked == name);
    Ok(crossing().filter(is_asked).map(str::to_owned).collect())
}

/// Whether a system is run that nobody has asked for.
fn is_shown(system: &str) -> bool {
    system == NAME || systems::is_own(system)
}

/// The limit and the systems of these names, or all.
fn beside(asked: &[String]) -> Vec<String> {
    if asked.is_empty() { Vec::new() } else { [&[NAME.to_owned()], asked].concat() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_come_first_and_always() {
        let all = names(&[]).unwrap();
        assert_eq!(all[0], NAME);
        assert!(
            all.iter().any(|name| name == "ping-pong") && all.iter().any(|name| name == "chain"),
            "{all:?}"
        );
        assert_eq!(names(&["chain".to_owned()]).unwrap(), [NAME, "chain"]);
        assert_eq!(beside(&["go".to_owned()]), [NAME, "go"]);
        assert_eq!(["limit", "lisle-tasks", "go"].map(is_shown), [true, true, false]);
    }

    #[test]
    fn a_workload_in_which_nothing_crosses_is_answered_with_those_in_which_something_does() {
        let said = names(&["parked".to_owned()]).unwrap_err();
        assert!(
            said.contains("'parked'") && said.contains("there are limit, ") && said.contains("chain"),
            "{said}"
        );
    }
}
