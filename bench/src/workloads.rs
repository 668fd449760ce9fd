//! The workloads: each file of the folder is one. The build script lists them. The studies of locks
//! are not among them, since they are run by a command of their own.

include!(concat!(env!("OUT_DIR"), "/workloads.rs"));

/// The workload of that name.
pub(crate) fn find(name: &str) -> Option<&'static crate::workload::Workload> {
    ALL.iter().chain(crate::locks::ALL).copied().find(|workload| workload.name == name)
}
