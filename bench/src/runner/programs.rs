//! The command of each system's program.

use super::{Plan, Row, progress::Progress, sample};
use crate::{
    systems,
    workload::{Code, Program},
};
use std::{collections::BTreeMap, ffi::OsString, process::Command};

/// The systems' programs that are not in this one, each built or found missing.
pub(super) struct Programs {
    built: BTreeMap<&'static str, Result<Vec<OsString>, systems::Missing>>,
}

impl Programs {
    /// Builds the programs of the plan before the first sample: a compiler heats the cores, and
    /// takes its time.
    pub(super) fn prepare(plan: &Plan, progress: &Progress) -> Self {
        let mut built = BTreeMap::new();
        let rows = plan.groups.iter().flat_map(|group| &group.rows);
        for system in rows.filter(|row| row.program.starts_own).map(|row| row.program.system) {
            built.entry(system).or_insert_with(|| {
                progress.preparing(system);
                systems::prepare(system)
            });
        }
        Programs { built }
    }

    /// The command that runs the row's program; the error says why it is missing.
    pub(super) fn command(&self, row: &Row) -> Result<Command, String> {
        let Program { system, starts_own, ref code, .. } = *row.program;
        let own = starts_own.then(|| self.built[system].as_ref().map_err(ToString::to_string)).transpose()?;
        match (code, own) {
            (Code::Elsewhere, Some(words)) => {
                let mut command = Command::new(&words[0]);
                command.args(&words[1..]);
                Ok(command)
            }
            (_, own) => {
                let mut command = sample::command(system);
                own.into_iter().for_each(|words| systems::pass_own(words, &mut command));
                Ok(command)
            }
        }
    }
}
