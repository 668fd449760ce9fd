//! The choices of the steps of an execution.

use super::Trace;
use crate::explore::Access;

/// One value that a step was given by [`Strategy::choose`](crate::explore::Strategy::choose).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Choice {
    /// The way that was taken.
    pub(crate) way: u32,
    /// The number of ways that there were.
    pub(crate) ways: u32,
}

impl Trace {
    /// Returns the last step from `first` on that has chosen something.
    pub(crate) fn last_to_choose(&self, first: usize) -> Option<usize> {
        let mut steps = if self.has_choices() { first..self.steps.len() } else { 0..0 };
        steps.rfind(|&step| !self.choices(step).is_empty())
    }

    /// Returns the choices of this step.
    pub(crate) fn choices(&self, step: usize) -> &[Choice] {
        let end = self.steps.get(step + 1).map_or(self.choices.len(), |next| next.first_choice as usize);
        &self.choices[self.steps[step].first_choice as usize..end]
    }

    /// Adds a choice to the step in progress.
    pub(crate) fn chose(&mut self, way: u32, ways: u32) {
        self.choices.push(Choice { way, ways });
        self.before_choices.push(self.accesses.len() as u32);
    }

    /// Returns `true` if a step of the execution has chosen.
    pub(crate) fn has_choices(&self) -> bool {
        !self.choices.is_empty()
    }

    /// Returns the number of this step's choices that stay the same if the `removed` steps do not
    /// run before it: the choices before its first access to one of their objects.
    pub(crate) fn certain_choices(&self, step: usize, removed: &[u32]) -> usize {
        let first = self.steps[step].first_access as usize;
        let depends_on = |access: &Access, step: usize| {
            self.accesses(step)
                .iter()
                .any(|other| other.object == access.object && !access.kind.commutes(other.kind))
        };
        let accesses = self.accesses(step);
        let certain =
            accesses.iter().position(|access| removed.iter().any(|&gone| depends_on(access, gone as usize)));
        let certain = (first + certain.unwrap_or(0)) as u32;
        let choices = self.steps[step].first_choice as usize..;
        self.before_choices[choices]
            .iter()
            .take(self.choices(step).len())
            .take_while(|&&before| before <= certain)
            .count()
    }
}
