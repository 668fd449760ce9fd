//! The turns that are possible in a state: sets of requests without a conflict, each with an order
//! of its requests that has the effect of performing them at once.
//!
//! *Invariant:* requests that look come before requests that change the same thing, so they see the
//! state before the turn.

use super::machine::Actor;
use super::state::State;
use crate::task::conflict::{Kind, Row, Rule, TABLE};
use std::sync::LazyLock;

/// The most actors of which all sets are taken. More would take hours.
const MOST_ACTORS: usize = 20;

const KINDS: usize = Kind::Exit as usize + 1;

/// The table of conflicts as an array, since it is asked for each pair of actors in each state.
static RULES: LazyLock<[[Rule; KINDS]; KINDS]> = LazyLock::new(|| {
    let mut rules = [[Rule::Together; KINDS]; KINDS];
    rules[Kind::Exit as usize] = [Rule::Conflict; KINDS];
    rules.iter_mut().for_each(|row| row[Kind::Exit as usize] = Rule::Conflict);
    for Row { first, second, rule, .. } in TABLE {
        rules[*first as usize][*second as usize] = *rule;
        rules[*second as usize][*first as usize] = *rule;
    }
    rules
});

/// Returns the rule for the requests of two actors in one turn.
pub(super) fn rule_for(one: Actor, other: Actor) -> Rule {
    let exits = one.kind == Kind::Exit || other.kind == Kind::Exit;
    if one.object != other.object && !exits {
        return Rule::Together;
    }
    RULES[one.kind as usize][other.kind as usize]
}

/// Returns all turns that several of `actors` can have without any of the pairs in `conflicting`,
/// as orders of their numbers.
///
/// Each non-empty set of actors is one turn, or several turns if a winner has to be chosen. There
/// are 2ⁿ − 1 sets for n actors.
///
/// # Panics
///
/// Panics if there are more than [`MOST_ACTORS`].
pub(super) fn of_every_set(
    state: &State,
    actors: &[Actor],
    conflicting: &[(usize, usize)],
) -> Vec<Vec<usize>> {
    assert!(
        actors.len() <= MOST_ACTORS,
        "{} tasks can go on at once, which makes more than 2^{MOST_ACTORS} sets; use Turns::One, which finds \
         the same",
        actors.len()
    );
    let mut turns = Vec::new();
    for set in 1_u64..1 << actors.len() {
        let has = |index: usize| set >> index & 1 == 1;
        if conflicting.iter().any(|&(one, other)| has(one) && has(other)) {
            continue;
        }
        let mut members: Vec<usize> = (0..actors.len()).filter(|&index| has(index)).collect();
        members.sort_by_key(|&index| phase(state, actors[index]));
        orders(actors, members, &mut turns);
    }
    turns
}

/// Returns the phase of a request in its turn: looks come first, then races, then changes.
fn phase(state: &State, actor: Actor) -> (u8, u32) {
    match actor.kind {
        Kind::Load | Kind::ReadFile => (0, 0),
        Kind::TryLock if state.get(actor.object) != 0 => (0, 0),
        Kind::Update | Kind::Lock | Kind::TryLock => (1, actor.object),
        _ => (2, 0),
    }
}

/// Adds `members` to `turns` in each order of the members that race for the same thing.
fn orders(actors: &[Actor], members: Vec<usize>, turns: &mut Vec<Vec<usize>>) {
    let race = |one: usize, other: usize| rule_for(actors[one], actors[other]) == Rule::Winner;
    let mut found = vec![Vec::new()];
    for member in members {
        let mut longer = Vec::new();
        for order in found {
            let rivals = order.iter().rev().take_while(|&&earlier| race(earlier, member)).count();
            for place in order.len() - rivals..=order.len() {
                let mut order: Vec<usize> = order.clone();
                order.insert(place, member);
                longer.push(order);
            }
        }
        found = longer;
    }
    turns.extend(found);
}
