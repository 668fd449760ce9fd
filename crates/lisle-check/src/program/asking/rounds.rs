//! The rounds of one process: its accesses between two times that it asks, compared with the round
//! before.

use super::Site;
use crate::explore::{Kind, Object};

/// A round with more accesses is not compared with others.
const LONGEST: usize = 256;

/// The rounds of one process.
#[derive(Debug, Clone, Default)]
pub(super) struct Rounder {
    /// Its accesses in this round, and in the one before.
    pub(super) acts: Vec<Act>,
    pub(super) before: Vec<Act>,
    /// The numbers that it has changed in this round, with the old and the new value.
    changed: Vec<(Object, u64, u64)>,
    /// This round differs from the round before.
    is_other: bool,
    /// This round leaves a change that others see.
    pub(super) is_of_use: bool,
    /// Others have changed an object of its rounds.
    pub(super) is_changed: bool,
    /// The same, by processes that do not ask again themselves.
    pub(super) is_news: bool,
    /// The number of equal rounds in a row without any change.
    pub(super) rounds: u32,
    /// The number of equal rounds in a row, whatever processes have changed that ask again
    /// themselves.
    pub(super) idle: u32,
    /// The number of equal rounds in a row, whatever others have changed.
    pub(super) alike: u32,
    /// It has seen another value in this round than in the one before.
    pub(super) sees_other: bool,
    /// It may go on alone.
    pub(super) can_be_alone: bool,
    /// The number of rounds that it may make, since nothing else can run.
    pub(super) patience: u32,
    pub(super) state: AskingState,
    /// It waits only for processes that do not ask again themselves.
    pub(super) is_tired: bool,
    pub(super) site: Option<Site>,
    pub(super) is_hopeless: bool,
    /// It has read an old value, and reads nothing so old again.
    pub(super) catches_up: bool,
    /// The number of steps when it asked last, and whether the checker looked for a cycle then.
    pub(super) asked_at: usize,
    pub(super) was_suspected: bool,
}

/// An access of a process in a round.
#[derive(Debug, Clone, Copy)]
pub(in crate::program) struct Act {
    pub(in crate::program) object: Object,
    pub(in crate::program) kind: Kind,
    pub(in crate::program) place: Option<Site>,
    /// The number that was there, if it is one.
    pub(in crate::program) saw: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum AskingState {
    #[default]
    Runs,
    Waits,
    /// The object that it has waited for has changed, and it has not gone on yet.
    Woken,
}

impl Act {
    /// Returns `true` if the other access is the same, whatever it has seen.
    fn is_like(&self, other: &Act) -> bool {
        (self.object, self.kind, self.place) == (other.object, other.kind, other.place)
    }
}

impl Rounder {
    /// Forgets all, for the next execution.
    pub(super) fn clear(&mut self) {
        let taken = std::mem::take(self);
        let Rounder { mut acts, mut before, mut changed, .. } = taken;
        acts.clear();
        before.clear();
        changed.clear();
        *self = Rounder { acts, before, changed, ..Rounder::default() };
    }

    /// Notes an access, and for a number the value before and after. Returns `true` if the process
    /// did something else in the round before.
    pub(super) fn does(&mut self, act: Act, values: Option<(u64, u64)>) -> bool {
        let at = self.acts.len();
        if at >= LONGEST || act.kind.is_of_queue() {
            self.is_of_use = true;
        }
        if self.is_of_use {
            return true;
        }
        if let Some((was, is)) = values.filter(|(was, is)| was != is) {
            match self.changed.iter_mut().find(|changed| changed.0 == act.object) {
                Some(changed) => changed.2 = is,
                None => self.changed.push((act.object, was, is)),
            }
        }
        let before = self.before.get(at);
        let is_other = !before.is_some_and(|before| before.is_like(&act));
        self.is_other |= is_other;
        let same_object = before.filter(|before| before.object == act.object);
        self.sees_other |= same_object.is_some_and(|before| (before.kind, before.saw) != (act.kind, act.saw));
        self.acts.push(act);
        is_other
    }

    /// Returns `true` if the round, were it over, would be the same as the one before.
    pub(super) fn is_same(&self) -> bool {
        !self.is_of_use
            && !self.is_other
            && self.acts.len() == self.before.len()
            && self.changed.iter().all(|(_, was, is)| was == is)
    }

    /// Returns `true` if all accesses of this round were in the round before.
    pub(super) fn is_as_before(&self) -> bool {
        !self.is_of_use && !self.is_other
    }

    /// Returns `true` if it has done the same in the round before at the same place.
    pub(super) fn does_again(&self, object: Object, kind: Kind) -> bool {
        let before = self.before.get(self.acts.len()).filter(|_| self.is_as_before());
        before.is_some_and(|before| (before.object, before.kind) == (object, kind))
    }

    /// Returns `true` if its rounds touch an object.
    pub(super) fn touches(&self, object: Object) -> bool {
        let has = |acts: &[Act]| acts.iter().any(|act| act.object == object);
        has(&self.acts) || has(&self.before)
    }

    /// Returns `true` if others can see a change of the last round.
    pub(super) fn has_changes(&self) -> bool {
        self.before.iter().any(|act| act.kind != Kind::Read)
    }

    pub(super) fn end_round(&mut self, site: Site, is_alone: bool) {
        let is_same = self.is_same();
        let is_of_use = self.is_of_use || self.changed.iter().any(|(_, was, is)| was != is);
        let next = |count: u32, is_as_it_was: bool| match (is_of_use, is_same && is_as_it_was) {
            (true, _) => 0,
            (false, false) => 1,
            (false, true) => count.saturating_add(1),
        };
        self.rounds = next(self.rounds, !self.is_changed);
        if !is_alone {
            self.idle = next(self.idle, !self.is_news);
            self.alike = next(self.alike, true);
        }
        std::mem::swap(&mut self.acts, &mut self.before);
        self.acts.clear();
        self.changed.clear();
        (self.is_of_use, self.is_other, self.is_changed, self.is_news) = (false, false, false, false);
        self.sees_other = false;
        self.site = Some(site);
    }

    /// Lets it go on if it waits, since another process has changed something. `is_news` tells that
    /// the other process does not ask again itself. Returns `true` if it goes on, and `false` if an
    /// earlier change has let it go on and it has not done so yet.
    pub(super) fn wake(&mut self, is_news: bool) -> Option<bool> {
        if self.state == AskingState::Waits && self.is_tired && !is_news {
            return None;
        }
        self.is_hopeless = false;
        self.patience = 0;
        match self.state {
            AskingState::Runs => None,
            AskingState::Waits => {
                (self.state, self.is_tired) = (AskingState::Woken, false);
                Some(true)
            }
            AskingState::Woken => Some(false),
        }
    }
}
