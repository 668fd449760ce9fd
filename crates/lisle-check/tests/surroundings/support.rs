//! Runs a program through its schedules, for its outcomes.

use crate::found;
use lisle_check::{Checker, Verdict};

/// Returns the verdict of a program in which nothing goes wrong.
pub(crate) fn explored(program: impl Fn() + Send + Sync + 'static) -> Verdict {
    let verdict = Checker::new().explore(program);
    assert!(verdict.failure().is_none(), "{verdict}");
    assert!(verdict.is_exhaustive(), "{verdict}");
    verdict
}

/// Returns the number of executions of a program in which nothing goes wrong.
pub(crate) fn executions(program: impl Fn() + Send + Sync + 'static) -> u64 {
    explored(program).counts().complete
}

/// Returns the report of a program's failure.
pub(crate) fn failing(program: impl Fn() + Send + Sync + 'static) -> String {
    let verdict = Checker::new().explore(program);
    verdict.failure().unwrap_or_else(|| panic!("{verdict}")).to_string()
}

/// Returns all results of a program, in order.
pub(crate) fn outcomes<T: Ord + Send + 'static>(program: impl Fn() -> T + Send + Sync + 'static) -> Vec<T> {
    let (all, verdict) = found::outcomes(Checker::new(), program);
    assert!(verdict.is_exhaustive(), "{verdict}");
    all.into_iter().collect()
}
