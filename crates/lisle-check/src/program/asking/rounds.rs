//! The rounds of one process: what it reads between two times that it asks again, and whether that
//! is the same as before.

use super::Site;
use crate::explore::Object;

/// The rounds of one process.
#[derive(Debug, Clone, Default)]
pub(super) struct Rounder {
    pub(super) reads: Vec<Read>,
    pub(super) before: Vec<Read>,
    pub(super) is_of_use: bool,
    pub(super) is_changed: bool,
    pub(super) rounds: u32,
    /// It may go on alone.
    pub(super) can_be_alone: bool,
    /// It may make so many rounds, since nothing else can run.
    pub(super) patience: u32,
    pub(super) state: State,
    pub(super) site: Option<Site>,
    pub(super) is_hopeless: bool,
    /// It has read what is not the newest, and reads nothing so old again.
    pub(super) catches_up: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) object: Object,
    pub(super) place: Option<Site>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum State {
    #[default]
    Runs,
    Waits,
    /// What it has waited for has changed, and it has not gone on yet.
    Woken,
}

impl Rounder {
    pub(super) fn end_round(&mut self, site: Site) {
        let is_same = !self.is_of_use && !self.is_changed && self.reads == self.before;
        self.rounds = match (self.is_of_use, is_same) {
            (true, _) => 0,
            (false, false) => 1,
            (false, true) => self.rounds.saturating_add(1),
        };
        std::mem::swap(&mut self.reads, &mut self.before);
        self.reads.clear();
        (self.is_of_use, self.is_changed) = (false, false);
        self.site = Some(site);
    }

    /// Lets it go on if it waits. Returns `true` if it does, and `false` if it has been let go on
    /// before and has not yet.
    pub(super) fn wake(&mut self) -> Option<bool> {
        self.is_hopeless = false;
        self.patience = 0;
        match self.state {
            State::Runs => None,
            State::Waits => {
                self.state = State::Woken;
                Some(true)
            }
            State::Woken => Some(false),
        }
    }
}
