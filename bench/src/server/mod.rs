//! The common parts of the workloads of web servers: a server that is a child of the sample, the
//! file that it serves, and cores for it and for the load.

pub(crate) mod cores;
pub(crate) mod process;
pub(crate) mod site;
