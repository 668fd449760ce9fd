//! The library under its own checker: its promises hold in every schedule of small programs.

mod clients;
mod delicate;
mod exchange;
mod outcomes;
mod promises;

use lisle_check::{Checker, Verdict};

/// Asserts that nothing goes wrong in any schedule of a program.
#[track_caller]
fn holds(program: impl Fn() + Send + Sync + 'static) -> Verdict {
    let verdict = Checker::new().explore(program);
    println!("{}: {verdict}", std::panic::Location::caller());
    assert!(verdict.is_exhaustive() && verdict.failure().is_none(), "{verdict}");
    verdict
}
