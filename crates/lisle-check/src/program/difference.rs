//! Two schedules of one program, and their different results.

use super::trace::Trace;
use crate::explore::Schedule;
use std::fmt;

/// Two schedules with different results.
///
/// If [`is_one_reversal`](Difference::is_one_reversal), a step of one fiber comes earlier in the
/// second schedule than in the first one, before steps of others, or takes another way of a choice.
/// All later differences follow from this.
#[derive(Debug, Clone)]
pub struct Difference {
    results: [String; 2],
    pub(super) schedules: [Schedule; 2],
    pub(super) reversal: Option<Reversal>,
    traces: [Trace; 2],
}

/// How the second schedule differs from the first one. Steps are counted from one on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reversal {
    /// Step `from` of the first schedule is step `to` of the second one.
    Moved { from: usize, to: usize },
    /// This step goes another way.
    Chosen(usize),
}

impl Difference {
    pub(super) fn new(results: [String; 2], schedules: [Schedule; 2]) -> Self {
        Difference { results, schedules, reversal: None, traces: Default::default() }
    }

    /// Takes the traces of the two executions, and marks the steps in which they differ.
    pub(super) fn shows(&mut self, mut traces: [Trace; 2]) {
        match self.reversal {
            Some(Reversal::Moved { from, to }) => traces.iter_mut().for_each(|trace| trace.mark(to..=from)),
            Some(Reversal::Chosen(step)) => traces.iter_mut().for_each(|trace| trace.mark(step..=step)),
            None => {}
        }
        self.traces = traces;
    }

    /// Returns the first step that differs in the second schedule, or 0 if that is not known.
    pub(super) fn same_before(&self) -> usize {
        match self.reversal {
            Some(Reversal::Moved { to: step, .. } | Reversal::Chosen(step)) => step,
            None => 0,
        }
    }

    /// Returns the two results, as `Debug` shows them.
    pub fn results(&self) -> [&str; 2] {
        self.results.each_ref().map(String::as_str)
    }

    /// Returns the two schedules as short texts, for [`Checker::replay`](super::Checker::replay).
    pub fn tokens(&self) -> [String; 2] {
        self.schedules.each_ref().map(Schedule::to_string)
    }

    /// Returns the traces of the two executions.
    pub fn traces(&self) -> [&Trace; 2] {
        self.traces.each_ref()
    }

    /// Returns `true` if the schedules differ in the place of one step, or in one choice. The
    /// checker searches for such schedules in some thousand executions.
    pub fn is_one_reversal(&self) -> bool {
        self.reversal.is_some()
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = &self.results;
        writeln!(
            f,
            "the result depends on the schedule\n    first schedule:  {first}\n    second schedule: {second}"
        )?;
        let [trace, _] = &self.traces;
        let told = |number: usize| trace.told(number).unwrap_or_else(|| format!("step {number}"));
        match self.reversal {
            Some(Reversal::Moved { from, to }) => {
                writeln!(f, "they differ in one reversal: in the second, step {from} of the first")?;
                writeln!(f, "    {}", told(from))?;
                let last = from - 1;
                match last - to {
                    0 => writeln!(f, "comes before step {to}")?,
                    _ => writeln!(f, "comes before the steps {to} to {last}, of which the first is")?,
                }
                writeln!(f, "    {}", told(to))?;
            }
            Some(Reversal::Chosen(step)) => {
                writeln!(f, "they differ in one choice, of step {step}\n    {}", told(step))?;
            }
            None => writeln!(f, "no two schedules were found that differ in one reversal only")?,
        }
        Ok(())
    }
}
