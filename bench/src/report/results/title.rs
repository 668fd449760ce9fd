//! The title of a table: a workload's case, and which figure.

use crate::{runner::Group, workload::Workers, workloads};

/// The group and the figure that have this title.
pub(super) fn parse(title: &str) -> Result<(Group, String), String> {
    let (case, figure) = title.split_once(": ").filter(|(_, f)| !f.is_empty()).unwrap_or((title, ""));
    let workload = case.split(", ").next().unwrap_or_default();
    let workload = workloads::find(workload).ok_or_else(|| format!("'{workload}' is no workload"))?;
    if !figure.is_empty() && !workload.units.iter().any(|(name, _)| *name == figure) {
        return Err(format!("{} does not measure '{figure}'", workload.name));
    }
    let workers = workers(case).ok_or_else(|| format!("'{case}' does not end in a number of workers"))?;
    let groups = workload.cases.iter().map(|case| Group {
        workload,
        case,
        params: case.params.iter().map(|param| (param.name.to_owned(), param.value)).collect(),
        workers,
        rows: Vec::new(),
    });
    let is_run = |group: &Group| match group.case.workers {
        Workers::Asked => true,
        Workers::Exactly(count) => count == workers,
    };
    let group = groups.filter(is_run).find(|group| group.title() == case);
    group.map(|group| (group, figure.to_owned())).ok_or_else(|| format!("'{case}' is none of the cases"))
}

/// Of `chain, buffered, relays=10, 2 workers`: 2.
fn workers(case: &str) -> Option<usize> {
    let (_, workers) = case.rsplit_once(", ")?;
    workers.strip_suffix(" workers").or(workers.strip_suffix(" worker"))?.parse().ok()
}
