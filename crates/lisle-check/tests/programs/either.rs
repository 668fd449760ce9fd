//! Programs by chance in which the results of a fiber decide which channels it touches next.
//!
//! A receive or a send on one of two channels touches the second one only if the first one is not
//! ready. So a step touches other objects after its reversal than before. And the names of the
//! channels depend on the fiber that touches them first, and on the channels that this fiber has
//! touched before.

use crate::found::{self, Executions};
use lisle::channel::{self, Receiver, Sender};
use lisle::{Event, always, event::choose_biased, spawn};
use lisle_check::Checker;
use std::sync::Arc;

const CHANNELS: usize = 3;

/// An operation on two channels: on these, or on channels that are so far from the last value.
#[derive(Debug, Clone, Copy)]
struct Operation {
    /// The value that it sends; otherwise it receives.
    sends: Option<usize>,
    channels: [usize; 2],
    is_from_last: bool,
}

type Program = Vec<Vec<Operation>>;

fn program(random: &mut fastrand::Rng) -> Program {
    let operation = |random: &mut fastrand::Rng| Operation {
        sends: random.bool().then(|| random.usize(..CHANNELS)),
        channels: [(); 2].map(|()| random.usize(..CHANNELS)),
        is_from_last: random.bool(),
    };
    (0..3).map(|_| (0..random.usize(1..=2)).map(|_| operation(random)).collect()).collect()
}

/// Sends the value to one of these channels, or receives one. Returns the number of the channel and
/// the value, or nothing if neither is ready.
fn perform(
    ends: &[(Sender<usize>, Receiver<usize>)],
    sends: Option<usize>,
    at: [usize; 2],
) -> Option<[usize; 2]> {
    let [(first, from_first), (second, from_second)] = at.map(|at| &ends[at]);
    match sends {
        Some(value) => choose_biased((
            first.send_evt(value).wrap(move |sent| sent.is_ok().then_some([at[0], value])),
            second.send_evt(value).wrap(move |sent| sent.is_ok().then_some([at[1], value])),
            always(None),
        ))
        .sync(),
        None => choose_biased((
            from_first.recv_evt().wrap(move |value| value.ok().map(|value| [at[0], value])),
            from_second.recv_evt().wrap(move |value| value.ok().map(|value| [at[1], value])),
            always(None),
        ))
        .sync(),
    }
}

/// Returns the results of each fiber's operations.
fn run(program: &Program) -> Vec<Option<[usize; 2]>> {
    // The fibers are the first to touch them, and so the fibers name them.
    let ends: Arc<Vec<_>> = Arc::new((0..CHANNELS).map(|_| channel::bounded::<usize>(1)).collect());
    let fibers: Vec<_> = program
        .iter()
        .map(|operations| {
            let (ends, operations) = (ends.clone(), operations.clone());
            spawn(move || {
                let (mut last, mut results) = (0, Vec::new());
                for Operation { sends, channels, is_from_last } in operations {
                    let at = channels.map(|at| if is_from_last { last + at } else { at } % CHANNELS);
                    let result = perform(&ends, sends, at);
                    last = result.map_or(0, |[channel, value]| channel + value);
                    results.push(result);
                }
                // The ends are dropped when all fibers have ended.
                (results, ends)
            })
        })
        .collect();
    let ended: Vec<_> = fibers.into_iter().map(|fiber| fiber.join().unwrap()).collect();
    ended.into_iter().flat_map(|(results, _)| results).collect()
}

#[test]
fn exploring_finds_all_that_sampling_finds() {
    let executions = Executions { explored: 2_000, by_chance: 200 };
    found::exploring_finds_all_that_sampling_finds(executions, |seed| {
        let program = program(&mut fastrand::Rng::with_seed(seed));
        move || run(&program)
    });
}

/// The middle fiber takes the message of the last fiber before the first fiber sends: the schedule
/// needs the reversal of a race with the later steps of another execution than the first with it.
#[test]
fn a_reversed_receive_takes_from_another_channel() {
    let operation = |sends, channels, is_from_last| vec![Operation { sends, channels, is_from_last }];
    let receives = [operation(None, [1, 0], false), operation(None, [1, 1], true)].concat();
    let program = [operation(Some(1), [1, 1], false), receives, operation(Some(0), [0, 0], false)];
    let (all, verdict) = found::outcomes(Checker::new().workers(1), move || run(&program.to_vec()));
    assert!(verdict.is_exhaustive(), "{verdict}");
    for last in [None, Some([1, 1])] {
        assert!(all.contains(&vec![Some([1, 1]), Some([0, 0]), last, Some([0, 0])]), "{all:?}");
    }
    assert_eq!(all.len(), 6);
}
