//! All runs of a program in the abstract machine.

use super::machine::State;
use super::program::{Kind, Outcome, Program};
use std::collections::{HashSet, VecDeque};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Steps {
    /// Each transition of each thread, in every order.
    All,
    /// Only the orders of communications.
    ///
    /// A transition that is neither a communication nor a migration affects a single stack or
    /// creates a new one. No other transition enables it, prevents it, or changes its effect. In
    /// any run it may just as well be the next. So if there is one, the first that is found is
    /// taken, and the others wait. A migration changes no stack's partners, since stacks of other
    /// threads can be met, too. So a migration is taken when the two communicate.
    Essential,
}

/// The result of a search: each final result that a program may have, and the number of states that
/// were visited.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) outcomes: HashSet<Outcome>,
    pub(crate) states: usize,
}

/// Returns all possible results of `program` with threads of these kinds. Returns `None` if there
/// are more than `limit` states.
pub(crate) fn outcomes(program: &Program, kinds: &[Kind], steps: Steps, limit: usize) -> Option<Found> {
    let first = State::first(&program.body);
    let mut visited = HashSet::new();
    let mut open = VecDeque::from([first.clone()]);
    visited.insert(first);
    let mut outcomes = HashSet::new();
    while let Some(state) = open.pop_front() {
        let next = successors(&state, kinds, steps);
        if next.is_empty() {
            outcomes.insert(state.outcome(program.threads));
            continue;
        }
        for next in next {
            if visited.insert(next.clone()) {
                open.push_back(next);
            }
        }
        if visited.len() > limit {
            return None;
        }
    }
    Some(Found { outcomes, states: visited.len() })
}

fn successors<'p>(state: &State<'p>, kinds: &[Kind], steps: Steps) -> Vec<State<'p>> {
    let (local, apart): (Vec<_>, Vec<_>) =
        state.meetings().into_iter().partition(|meeting| meeting.is_local());
    let migrations = apart.into_iter().flat_map(|meeting| state.migrations(meeting));
    let local = local.into_iter().map(|meeting| state.communicate(meeting));
    match steps {
        Steps::All => {
            let migrated = migrations.map(|(state, _)| state);
            let silent = state.silent().map(|silent| state.clone().after(silent, kinds));
            silent.chain(local).chain(migrated).collect()
        }
        Steps::Essential => match settled(state, kinds) {
            Some(state) => vec![state],
            None => {
                let migrated = migrations.map(|(state, meeting)| state.communicate(meeting));
                local.chain(migrated).collect()
            }
        },
    }
}

/// Returns the state after everything that can happen without a communication. Returns `None` if
/// nothing can.
fn settled<'p>(state: &State<'p>, kinds: &[Kind]) -> Option<State<'p>> {
    let first = state.silent().next()?;
    let mut state = state.clone().after(first, kinds);
    loop {
        let Some(next) = state.silent().next() else { return Some(state) };
        state = state.after(next, kinds);
    }
}
