//! Lisle's runtime, as its documentation starts it.

/// A runtime with a domain on each of the cores that the sample is given. The process is pinned to
/// them already; pinning each domain keeps the kernel from moving two to one core.
pub(crate) fn runtime(workers: usize) -> lisle::Builder {
    lisle::Runtime::builder().domains(workers).pin(true)
}
