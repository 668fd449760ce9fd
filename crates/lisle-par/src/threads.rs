//! The domains of the caller, under the names that rayon gives them.

use crate::domains;
use lisle_runtime::fiber;

/// Returns the number of domains of the runtime that the calling code runs in, among which a loop
/// can be divided. Outside of a runtime, these are the domains of the default one.
///
/// # Examples
///
/// ```
/// # use lisle_par::facade as lisle;
/// use lisle::{Runtime, par};
///
/// let domains = Runtime::builder().domains(3).start().unwrap().run(par::current_num_threads);
/// assert_eq!(domains, 3);
/// ```
#[doc(alias = "current_num_domains")]
pub fn current_num_threads() -> usize {
    fiber::domains().unwrap_or_else(domains)
}

/// Returns the index of the domain that runs the calling code, or `None` outside of a runtime.
///
/// It is another name of [`fiber::domain`], which also says when the index may change.
///
/// # Examples
///
/// ```
/// # use lisle_par::facade as lisle;
/// use lisle::{Runtime, par};
///
/// assert_eq!(par::current_thread_index(), None);
/// let index = Runtime::builder().domains(1).start().unwrap().run(par::current_thread_index);
/// assert_eq!(index, Some(0));
/// ```
#[doc(alias = "current_domain_index")]
pub fn current_thread_index() -> Option<usize> {
    fiber::domain()
}

/// Returns the greatest number of domains that a runtime may have: `usize::MAX`, since only the
/// system sets a limit.
///
/// # Examples
///
/// ```
/// # use lisle_par::facade as lisle;
/// assert!(lisle::par::max_num_threads() >= 255);
/// ```
#[doc(alias = "max_num_domains")]
pub fn max_num_threads() -> usize {
    usize::MAX
}
