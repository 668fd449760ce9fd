//! The workloads: each file of the folder is one. The build script lists them.

include!(concat!(env!("OUT_DIR"), "/workloads.rs"));

/// The workload of that name.
pub(crate) fn find(name: &str) -> Option<&'static crate::workload::Workload> {
    ALL.iter().copied().find(|workload| workload.name == name)
}
