//! The possible outcomes of a system by the rules alone: a state, the steps that are possible in
//! it, and all paths through them. Nothing here locks a queue, waits or withdraws.
//!
//! There are two sets of rules. In the *strict* one a performance begins in one step, as in the
//! deterministic model: it takes a ready partner, respecting priorities and the order of other
//! waiters, or else it waits. Therefore a performer that is left at the end could not continue. In
//! the *free* one a performance may be overtaken anywhere, as on threads: it waits first, and
//! commits with any partner that fits.

use super::system::{Done, Expr, Fate, Id, Leaf, Outcome, System, Value};
use std::collections::{HashSet, VecDeque};

/// Identifies a leaf: the path from the root through choices.
type Path = Vec<usize>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rules {
    Strict,
    /// Performers that wait may be told to stop at any time, if `stop` is set.
    Free {
        stop: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Phase {
    /// About to begin the next performance.
    Idle,
    /// Visible to others.
    Waiting(Expr),
    /// Its first stage has happened; it continues with this expression.
    Woken(Expr),
    /// Not visible to others, which are visible to it. Only the free rules need this as a state of
    /// its own.
    Polling(Expr),
    Over,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    phases: Vec<Phase>,
    /// The waiting performers, in the order in which they came.
    queue: Vec<usize>,
    buffers: Vec<VecDeque<Id>>,
    fates: Vec<Fate>,
    results: Vec<Vec<Done>>,
}

impl Expr {
    /// Returns the leaves that may happen now, by themselves or with a partner, with the paths to
    /// them.
    fn leaves(&self) -> Vec<(Path, Id, Leaf)> {
        match self {
            Expr::Leaf(id, leaf) => vec![(vec![], *id, *leaf)],
            Expr::Choose { of, .. } => {
                let below = |(i, expr): (usize, &Expr)| {
                    expr.leaves()
                        .into_iter()
                        .map(move |(path, id, leaf)| ([vec![i], path].concat(), id, leaf))
                };
                of.iter().enumerate().flat_map(|child| below(child).collect::<Vec<_>>()).collect()
            }
            Expr::Wrap(_, expr) | Expr::Guard(_, expr) | Expr::Nack(_, expr) => expr.leaves(),
            Expr::Replace(expr, _) | Expr::Then(_, expr) => expr.leaves(),
        }
    }

    /// Returns those leaves for which `ready` holds that a performance may take. With priorities,
    /// these are the leaves of the first alternative that has one.
    fn preferred(&self, ready: &dyn Fn(Id) -> bool) -> HashSet<Id> {
        match self {
            Expr::Leaf(id, _) => Some(*id).filter(|id| ready(*id)).into_iter().collect(),
            Expr::Choose { biased: true, of } => of
                .iter()
                .map(|expr| expr.preferred(ready))
                .find(|found| !found.is_empty())
                .unwrap_or_default(),
            Expr::Choose { of, .. } => of.iter().flat_map(|expr| expr.preferred(ready)).collect(),
            Expr::Wrap(_, expr) | Expr::Guard(_, expr) | Expr::Nack(_, expr) => expr.preferred(ready),
            Expr::Replace(expr, _) | Expr::Then(_, expr) => expr.preferred(ready),
        }
    }

    /// Runs the guards.
    fn force(&self, fates: &mut [Fate]) {
        match self {
            Expr::Leaf(..) => {}
            Expr::Choose { of, .. } => of.iter().for_each(|expr| expr.force(fates)),
            Expr::Guard(id, expr) | Expr::Nack(id, expr) => {
                fates[usize::from(*id)] = Fate::Open;
                expr.force(fates);
            }
            Expr::Wrap(_, expr) | Expr::Replace(expr, _) | Expr::Then(_, expr) => expr.force(fates),
        }
    }

    /// Records that another alternative has won, or that none has.
    fn lose(&self, fates: &mut [Fate]) {
        match self {
            Expr::Leaf(..) => {}
            Expr::Choose { of, .. } => of.iter().for_each(|expr| expr.lose(fates)),
            Expr::Nack(id, expr) => {
                fates[usize::from(*id)] = Fate::Lost;
                expr.lose(fates);
            }
            Expr::Wrap(_, expr) | Expr::Guard(_, expr) | Expr::Replace(expr, _) | Expr::Then(_, expr) => {
                expr.lose(fates);
            }
        }
    }

    /// Records that the leaf at `path` has happened. Returns the value of the whole, or as an error
    /// the expression that is still to be performed.
    fn commit(&self, path: &[usize], value: Value, fates: &mut [Fate]) -> Result<Value, Expr> {
        match self {
            Expr::Leaf(..) => Ok(value),
            Expr::Choose { biased, of } => match of[path[0]].commit(&path[1..], value, fates) {
                Ok(value) => {
                    let others = of.iter().enumerate().filter(|(i, _)| *i != path[0]);
                    others.for_each(|(_, expr)| expr.lose(fates));
                    Ok(value)
                }
                Err(rest) => {
                    let mut of = of.clone();
                    of[path[0]] = rest;
                    Err(Expr::Choose { biased: *biased, of })
                }
            },
            Expr::Wrap(id, expr) => match expr.commit(path, value, fates) {
                Ok(value) => Ok([value, vec![*id]].concat()),
                Err(rest) => Err(Expr::Wrap(*id, Box::new(rest))),
            },
            Expr::Guard(id, expr) => {
                expr.commit(path, value, fates).map_err(|rest| Expr::Guard(*id, Box::new(rest)))
            }
            Expr::Nack(id, expr) => match expr.commit(path, value, fates) {
                Ok(value) => {
                    fates[usize::from(*id)] = Fate::Taken;
                    Ok(value)
                }
                Err(rest) => Err(Expr::Nack(*id, Box::new(rest))),
            },
            Expr::Replace(first, second) => match first.commit(path, value, fates) {
                Ok(value) => {
                    second.force(fates);
                    Err(Expr::Then(value, second.clone()))
                }
                Err(rest) => Err(Expr::Replace(Box::new(rest), second.clone())),
            },
            Expr::Then(first, expr) => match expr.commit(path, value, fates) {
                Ok(value) => Ok([first.clone(), value].concat()),
                Err(rest) => Err(Expr::Then(first.clone(), Box::new(rest))),
            },
        }
    }
}

/// A search through all runs of a system.
struct Search<'s> {
    system: &'s System,
    rules: Rules,
    /// If there is a target, runs that cannot reach it any more are given up.
    target: Option<&'s Outcome>,
    seen: HashSet<State>,
    outcomes: HashSet<Outcome>,
    stuck: bool,
}

/// Returns `true` if `outcome` is possible.
pub(crate) fn allows(system: &System, rules: Rules, outcome: &Outcome) -> bool {
    let mut search = Search::new(system, rules, Some(outcome));
    search.explore(usize::MAX);
    search.outcomes.contains(outcome)
}

/// Returns all possible outcomes, and whether a performer is left waiting in one of them. Returns
/// `None` if the system has more than `limit` states.
pub(crate) fn outcomes(system: &System, rules: Rules, limit: usize) -> Option<(HashSet<Outcome>, bool)> {
    let mut search = Search::new(system, rules, None);
    search.explore(limit).then_some((search.outcomes, search.stuck))
}

impl<'s> Search<'s> {
    fn new(system: &'s System, rules: Rules, target: Option<&'s Outcome>) -> Self {
        let (seen, outcomes) = (HashSet::new(), HashSet::new());
        Search { system, rules, target, seen, outcomes, stuck: false }
    }

    fn explore(&mut self, limit: usize) -> bool {
        let performers = self.system.performers.len();
        let mut open = vec![State {
            phases: vec![Phase::Idle; performers],
            queue: Vec::new(),
            buffers: vec![VecDeque::new(); self.system.capacities.len()],
            fates: vec![Fate::Unmade; self.system.ids],
            results: vec![Vec::new(); performers],
        }];
        while let Some(state) = open.pop() {
            if !self.is_on_the_way(&state) || !self.seen.insert(state.clone()) {
                continue;
            }
            if self.seen.len() > limit {
                return false;
            }
            let next: Vec<State> = (0..performers).flat_map(|p| self.steps(&state, p)).collect();
            if next.is_empty() {
                self.end(state);
            }
            open.extend(next);
        }
        true
    }

    /// Returns `true` if the state may lead to the target. Results and fates that are final do not
    /// change.
    fn is_on_the_way(&self, state: &State) -> bool {
        self.target.is_none_or(|target| {
            let settled =
                |(now, then): (&Fate, &Fate)| matches!(now, Fate::Unmade | Fate::Open) || now == then;
            state.results.iter().zip(&target.results).all(|(now, then)| then.starts_with(now))
                && state.fates.iter().zip(&target.fates).all(settled)
        })
    }

    /// Handles a state in which nothing can happen any more.
    fn end(&mut self, mut state: State) {
        for p in 0..state.phases.len() {
            if let Phase::Waiting(expr) = state.phases[p].clone() {
                self.stuck = true;
                if self.rules != Rules::Strict {
                    return;
                }
                self.finish(&mut state, p, &expr, Done::Stopped);
            }
        }
        let left = state.buffers.into_iter().map(Vec::from).collect();
        self.outcomes.insert(Outcome { results: state.results, fates: state.fates, left });
    }

    /// Ends the performance without a value.
    fn finish(&self, state: &mut State, p: usize, expr: &Expr, done: Done) {
        expr.lose(&mut state.fates);
        state.queue.retain(|waiting| *waiting != p);
        state.phases[p] = if done == Done::Stopped { Phase::Over } else { Phase::Idle };
        state.results[p].push(done);
    }

    /// Returns the states after each possible step of `p`.
    fn steps(&self, state: &State, p: usize) -> Vec<State> {
        if matches!((&state.phases[p], self.rules), (Phase::Over, _) | (Phase::Waiting(_), Rules::Strict)) {
            return vec![];
        }
        let mut state = state.clone();
        match (state.phases[p].clone(), self.rules) {
            (Phase::Over, _) | (Phase::Waiting(_), Rules::Strict) => vec![],
            (Phase::Idle, rules) => {
                let Some(op) = self.system.performers[p].get(state.results[p].len()) else {
                    state.phases[p] = Phase::Over;
                    return vec![state];
                };
                op.expr.force(&mut state.fates);
                match rules {
                    Rules::Strict => return self.take_or_wait(state, p, &op.expr, op.poll),
                    Rules::Free { .. } if op.poll => state.phases[p] = Phase::Polling(op.expr.clone()),
                    Rules::Free { .. } => state.phases[p] = Phase::Waiting(op.expr.clone()),
                }
                vec![state]
            }
            (Phase::Woken(expr), Rules::Strict) => self.take_or_wait(state, p, &expr, false),
            (Phase::Woken(expr), Rules::Free { .. }) => {
                state.phases[p] = Phase::Waiting(expr);
                vec![state]
            }
            (Phase::Waiting(expr), Rules::Free { stop }) => {
                let mut next = self.take(&state, p, &expr);
                if stop {
                    self.finish(&mut state, p, &expr, Done::Stopped);
                    next.push(state);
                }
                next
            }
            (Phase::Polling(expr), _) => {
                let mut next = self.take(&state, p, &expr);
                // A poll looks at one leaf after the other, and other performers run in the
                // meantime.
                let at_once = |(_, _, leaf): &(Path, Id, Leaf)| matches!(leaf, Leaf::Always | Leaf::Past);
                if !expr.leaves().iter().any(at_once) {
                    self.finish(&mut state, p, &expr, Done::Unready);
                    next.push(state);
                }
                next
            }
        }
    }

    /// Takes a ready partner, through all stages, or else waits. Used by the strict rules.
    fn take_or_wait(&self, mut state: State, p: usize, expr: &Expr, poll: bool) -> Vec<State> {
        state.phases[p] = if poll { Phase::Polling(expr.clone()) } else { Phase::Woken(expr.clone()) };
        let next = self.take(&state, p, expr);
        if next.is_empty() && poll {
            self.finish(&mut state, p, expr, Done::Unready);
            return vec![state];
        }
        if next.is_empty() {
            state.phases[p] = Phase::Waiting(expr.clone());
            state.queue.push(p);
            return vec![state];
        }
        let go_on = |state: State| match state.phases[p].clone() {
            Phase::Polling(expr) | Phase::Woken(expr) => self.take_or_wait(state, p, &expr, poll),
            _ => vec![state],
        };
        next.into_iter().flat_map(go_on).collect()
    }

    /// Returns the states after each leaf of `p` that can happen now.
    fn take(&self, state: &State, p: usize, expr: &Expr) -> Vec<State> {
        let mut ways: Vec<(Id, State)> = Vec::new();
        for (path, id, leaf) in expr.leaves() {
            ways.extend(self.happen(state, p, &path, id, leaf).into_iter().map(|state| (id, state)));
        }
        if self.rules == Rules::Strict {
            let ready: HashSet<Id> = ways.iter().map(|(id, _)| *id).collect();
            let preferred = expr.preferred(&|id| ready.contains(&id));
            ways.retain(|(id, _)| preferred.contains(id));
        }
        ways.into_iter().map(|(_, state)| state).collect()
    }

    /// Returns the states after each way in which this leaf of `p` can happen now.
    fn happen(&self, state: &State, p: usize, path: &Path, id: Id, leaf: Leaf) -> Vec<State> {
        let alone = |value: Value| {
            let mut state = state.clone();
            self.commit(&mut state, p, path, value);
            state
        };
        match leaf {
            Leaf::Never | Leaf::Future => vec![],
            Leaf::Always | Leaf::Past => vec![alone(vec![id])],
            Leaf::Recv(channel) => {
                if let Some(&message) = state.buffers[channel].front() {
                    let mut state = alone(vec![id, message]);
                    state.buffers[channel].pop_front();
                    return self.refill(state, channel);
                }
                let partners = self.partners(state, p, Leaf::Send(channel));
                let meet = |(q, its, message): (usize, Path, Id)| {
                    let mut state = alone(vec![id, message]);
                    self.commit(&mut state, q, &its, vec![message]);
                    state
                };
                partners.into_iter().map(meet).collect()
            }
            Leaf::Send(channel) => {
                let partners = if state.buffers[channel].is_empty() {
                    self.partners(state, p, Leaf::Recv(channel))
                } else {
                    vec![]
                };
                let meet = |(q, its, receiver): (usize, Path, Id)| {
                    let mut state = alone(vec![id]);
                    self.commit(&mut state, q, &its, vec![receiver, id]);
                    state
                };
                let mut next: Vec<State> = partners.into_iter().map(meet).collect();
                let has_room = state.buffers[channel].len() < self.system.capacities[channel];
                if has_room && (next.is_empty() || self.rules != Rules::Strict) {
                    let mut state = alone(vec![id]);
                    state.buffers[channel].push_back(id);
                    next.push(state);
                }
                next
            }
        }
    }

    /// Returns the performers that can meet `p` with such a leaf, and the matching leaves. By the
    /// strict rules it is the one that came first.
    fn partners(&self, state: &State, p: usize, wanted: Leaf) -> Vec<(usize, Path, Id)> {
        let leaves_of = |q: usize| -> Vec<(usize, Path, Id)> {
            let expr = match (&state.phases[q], &state.phases[p]) {
                (Phase::Waiting(expr), _) => expr,
                (Phase::Polling(expr), Phase::Waiting(_)) if self.rules != Rules::Strict => expr,
                _ => return vec![],
            };
            self.fitting(expr, wanted).into_iter().map(|(path, id)| (q, path, id)).collect()
        };
        if self.rules == Rules::Strict {
            let mut queue = state.queue.iter().map(|&q| leaves_of(q));
            return queue.find(|leaves| !leaves.is_empty()).unwrap_or_default();
        }
        (0..state.phases.len()).filter(|&q| q != p).flat_map(leaves_of).collect()
    }

    /// By the strict rules the first waiting sender gets the room that has become free. By the free
    /// rules that is a separate step.
    fn refill(&self, state: State, channel: usize) -> Vec<State> {
        if self.rules != Rules::Strict {
            return vec![state];
        }
        let senders = state.queue.iter().map(|&q| {
            let Phase::Waiting(expr) = &state.phases[q] else { unreachable!("who is queued waits") };
            (q, self.fitting(expr, Leaf::Send(channel)))
        });
        let Some((q, leaves)) = senders.into_iter().find(|(_, leaves)| !leaves.is_empty()) else {
            return vec![state];
        };
        let put = |(path, message): (Path, Id)| {
            let mut state = state.clone();
            self.commit(&mut state, q, &path, vec![message]);
            state.buffers[channel].push_back(message);
            state
        };
        leaves.into_iter().map(put).collect()
    }

    /// Returns the leaves of a waiting performer that a partner wants. By the strict rules a biased
    /// choice was published in the order of its alternatives.
    fn fitting(&self, expr: &Expr, wanted: Leaf) -> Vec<(Path, Id)> {
        let mut leaves = expr.leaves();
        leaves.retain(|(_, _, leaf)| *leaf == wanted);
        if self.rules == Rules::Strict {
            let fits: HashSet<Id> = leaves.iter().map(|(_, id, _)| *id).collect();
            let preferred = expr.preferred(&|id| fits.contains(&id));
            leaves.retain(|(_, id, _)| preferred.contains(id));
        }
        leaves.into_iter().map(|(path, id, _)| (path, id)).collect()
    }

    /// Records that the leaf at `path` of `p`'s performance has happened.
    fn commit(&self, state: &mut State, p: usize, path: &Path, value: Value) {
        let (Phase::Waiting(expr) | Phase::Woken(expr) | Phase::Polling(expr)) = state.phases[p].clone()
        else {
            unreachable!("who performs something has it")
        };
        state.queue.retain(|waiting| *waiting != p);
        match expr.commit(path, value, &mut state.fates) {
            Ok(value) => {
                state.results[p].push(Done::Value(value));
                state.phases[p] = Phase::Idle;
            }
            Err(rest) if matches!(state.phases[p], Phase::Polling(_)) => {
                state.phases[p] = Phase::Polling(rest)
            }
            Err(rest) => state.phases[p] = Phase::Woken(rest),
        }
    }
}
