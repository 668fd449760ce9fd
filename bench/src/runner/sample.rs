//! This program as a child: it takes one sample and answers with a line of JSON.

use crate::{job::Job, workload::Code, workloads};
use std::{
    env,
    os::unix::process::CommandExt,
    process::{Command, ExitCode},
    time::Duration,
};

/// The first argument of a child, before the name of its system.
const AS: &str = "--as";

/// How a child is started that is to be `system`. The link leads to the file that we are, even if
/// another has been built in its place since.
pub(super) fn command(system: &str) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg0("lisle-bench").args([AS, system]);
    command
}

/// If this process is a child: takes the sample. Arguments:
/// `--as SYSTEM WORKLOAD VARIANT WORKERS MILLIS [NAME=VALUE...]`.
pub(crate) fn sample_if_asked() -> Option<ExitCode> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [flag, system, workload, variant, workers, millis, params @ ..] = arguments.as_slice() else {
        return None;
    };
    if flag != AS {
        return None;
    }
    let job = Job {
        variant: variant.clone(),
        workers: workers.parse().expect("the parent writes a number"),
        target: Duration::from_millis(millis.parse().expect("the parent writes a number")),
        params: params
            .iter()
            .map(|param| {
                let (name, value) = param.split_once('=').expect("the parent writes NAME=VALUE");
                (name.to_owned(), value.parse().expect("the parent writes a number"))
            })
            .collect(),
    };
    let workload = workloads::find(workload).expect("the parent knows the workloads");
    let program = workload.programs.iter().find(|program| program.system == system);
    let Some(Code::Here(run)) = program.map(|program| &program.code) else {
        panic!("{system} has no program for {} here", workload.name);
    };
    println!("{}", serde_json::to_string(&run(&job)).expect("figures are numbers"));
    Some(ExitCode::SUCCESS)
}
