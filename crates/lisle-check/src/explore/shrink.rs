//! A shorter schedule that fails in the same way.
//!
//! This is delta debugging (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing
//! input", TSE 2002) on the departures of a schedule from its default. It makes halves of them
//! defaults, then quarters, down to single ones, as long as the failure remains. Then it moves the
//! remaining departures nearer to the default.

use super::Schedule;

/// Returns a schedule that still fails, with as few departures from the default as it can find.
///
/// `fails` runs a schedule. If the program fails, it returns the schedule that really ran, and
/// otherwise `None`. It is called at most `attempts` times. The result is the result of one of
/// these calls, or `schedule` itself. No single departure can be taken from it, unless the attempts
/// were used up.
///
/// ```
/// use lisle_check::explore::{Decision, Ending, Process, Random};
/// use lisle_check::explore::{Recorded, Replay, Strategy, shrink};
///
/// /// Runs two processes of two steps each, and returns `true` if the second one ended first.
/// fn fails(strategy: &mut dyn Strategy) -> bool {
///     let (mut left, mut running, mut first_to_end) = ([2, 2], None, None);
///     while left != [0, 0] {
///         let runnable: Vec<_> = (0..2).filter(|&p| left[p as usize] > 0).map(Process).collect();
///         let Decision::Run(process) = strategy.next(running, &runnable) else { unreachable!() };
///         running = Some(process);
///         left[process.index()] -= 1;
///         if left[process.index()] == 0 {
///             first_to_end.get_or_insert(process);
///         }
///     }
///     strategy.end(Ending::Complete);
///     first_to_end == Some(Process(1))
/// }
///
/// let mut random = Recorded::new(Random::new(1, 100));
/// while random.begin() && !fails(&mut random) {}
/// let shrunk = shrink(random.schedule(), 100, |shorter| {
///     let mut replay = Recorded::new(Replay::new(shorter.clone()));
///     (replay.begin() && fails(&mut replay)).then(|| replay.schedule())
/// });
/// assert_eq!(shrunk.departures(), 1);
/// ```
pub fn shrink(
    schedule: Schedule,
    attempts: usize,
    mut fails: impl FnMut(&Schedule) -> Option<Schedule>,
) -> Schedule {
    let mut best = schedule;
    let mut left = attempts;
    let mut attempt = |candidate: Vec<u32>, best: &mut Schedule| {
        let candidate = Schedule::from_codes(candidate);
        if left == 0 || candidate == *best {
            return false;
        }
        left -= 1;
        let found = fails(&candidate).filter(|found| cost(found) < cost(best));
        found.map(|found| *best = found).is_some()
    };
    let mut size = best.departures();
    while size > 0 {
        let mut start = 0;
        let mut shorter = false;
        while start < best.departures() {
            if attempt(without(&best, start, size), &mut best) {
                shorter = true;
            } else {
                start += size;
            }
        }
        if size > 1 || !shorter {
            size /= 2;
        }
    }
    let mut place = 0;
    while place < best.len() {
        // Decisions without an effect are removed; a departure may also be made smaller.
        let mut removed = best.codes().to_vec();
        let code = removed.remove(place);
        let mut lower = best.codes().to_vec();
        lower[place] = code.saturating_sub(1);
        let moved = attempt(removed, &mut best) || code > 1 && attempt(lower, &mut best);
        if !moved {
            place += 1;
        }
    }
    best
}

/// Returns the length of a schedule: its departures first, then its decisions, then the sizes of
/// the departures.
fn cost(schedule: &Schedule) -> (usize, usize, u64) {
    (schedule.departures(), schedule.len(), schedule.codes().iter().map(|&code| u64::from(code)).sum())
}

/// Returns the decisions with `size` departures from the `start`th on made defaults.
fn without(schedule: &Schedule, start: usize, size: usize) -> Vec<u32> {
    let mut codes = schedule.codes().to_vec();
    let departures = codes.iter_mut().filter(|code| **code != 0);
    departures.skip(start).take(size).for_each(|code| *code = 0);
    codes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_needed_remains() {
        let schedule = Schedule::from_codes(vec![1, 2, 0, 1, 1, 3, 0, 0, 1, 1, 2]);
        let needed = |candidate: &Schedule| {
            let ones = candidate.codes().iter().filter(|&&code| code == 1).count();
            let has_two = candidate.codes().iter().any(|&code| code >= 2);
            (ones >= 2 && has_two).then(|| candidate.clone())
        };
        let shrunk = shrink(schedule, 1000, needed);
        assert_eq!((shrunk.departures(), shrunk.len()), (3, 3));
        assert_eq!(shrunk.codes().iter().sum::<u32>(), 4);
    }

    #[test]
    fn attempts_are_counted() {
        let mut count = 0;
        let schedule = Schedule::from_codes(vec![1; 100]);
        let shrunk = shrink(schedule.clone(), 10, |_| {
            count += 1;
            None
        });
        assert_eq!((count, shrunk), (10, schedule));
    }
}
