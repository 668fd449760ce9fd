//! Races, and the sequences that reverse them.
//!
//! A race is a pair of steps that do not commute, with nothing between them that orders them: some
//! equivalent schedule has them side by side. A reversal leaves the first step out, runs the steps
//! that do not need it, and then runs the second one.

use smallvec::{SmallVec, smallvec};

use super::trace::Trace;
use super::{Access, Kind, Object, Process};

/// Two steps whose order is to be tried the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Race {
    /// The step that was first.
    pub(crate) first: u32,
    /// The step that was second. A number from the length of the trace on stands for a wait that
    /// was left at the end.
    pub(crate) second: u32,
}

/// Fills `steps` with the steps that can run before the second step of the race without the first
/// one, also steps that have run after the second one. Returns the depth from which on they run.
///
/// All steps that the second step needs are among them or before that depth. The depth is the first
/// step's, unless the two contend for a lock that several hold: then all holders have to go.
/// Returns also the number of the second step's choices that are certain. Returns `None` if the
/// second step needs one of the holders.
///
/// `process` and `accesses` belong to the second step.
pub(crate) fn steps_to_reverse(
    trace: &Trace,
    race: Race,
    process: Process,
    accesses: &[Access],
    with_later: bool,
    steps: &mut Vec<u32>,
) -> Option<(u32, usize)> {
    let mut removed: SmallVec<[u32; 4]> = smallvec![race.first];
    loop {
        let depth = *removed.iter().min().expect("the first step is among them");
        let needs_removed = |step: &u32| {
            removed.iter().any(|&gone| {
                *step == gone || *step > gone && trace.happens_after(*step as usize, gone as usize)
            })
        };
        steps.clear();
        let between = depth + 1..race.second.min(trace.len() as u32);
        steps.extend(between.filter(|step| !needs_removed(step)));
        let kept = |step: u32| step < depth || steps.binary_search(&step).is_ok();
        let wanted = accesses.iter().filter(|access| access.kind == Kind::Acquire);
        match wanted.filter_map(|access| holder(trace, access.object, race.second, kept)).next() {
            Some(holder) => removed.push(holder),
            None => {
                let needed = trace.step_before(process, race.second);
                if !needed.is_none_or(kept) {
                    return None;
                }
                let later = race.second.saturating_add(1)..trace.len() as u32;
                steps.extend(later.filter(|step| with_later && !needs_removed(step)));
                let has_run = (race.second as usize) < trace.len();
                let certain = if has_run { trace.certain_choices(race.second as usize, &removed) } else { 0 };
                return Some((depth, certain));
            }
        }
    }
}

/// Returns the newest `kept` step that shares this lock and holds it.
fn holder(trace: &Trace, lock: Object, before: u32, kept: impl Fn(u32) -> bool) -> Option<u32> {
    let mut given_back: SmallVec<[(Process, u32); 4]> = SmallVec::new();
    let mut holder = None;
    trace.visit_holders(lock, before, |step, kind| {
        if holder.is_some() || !kept(step) {
            return;
        }
        let process = trace.process(step as usize);
        let place = given_back.iter().position(|one| one.0 == process && one.1 > 0);
        match (kind, place) {
            (Kind::Unshare, Some(place)) => given_back[place].1 += 1,
            (Kind::Unshare, None) => given_back.push((process, 1)),
            (Kind::Share, Some(place)) => given_back[place].1 -= 1,
            (Kind::Share, None) => holder = Some(step),
            _ => {}
        }
    });
    holder
}
