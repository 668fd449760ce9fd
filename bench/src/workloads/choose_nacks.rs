//! A client asks several servers at once, takes the first answer, and every server learns whether
//! its answer was taken.
//!
//! A round trip is: the request goes to each server, one answer comes back, and the others are
//! told. A server takes no other request before it knows the fate of its answer. So nothing is left
//! over from one round to the next, and at the end the servers' counts of taken and refused answers
//! must be exact.

#[path = "choose_nacks/crossbeam.rs"]
mod crossbeam;
#[path = "choose_nacks/futures.rs"]
mod futures;
#[path = "choose_nacks/lisle.rs"]
mod lisle;

use self::futures::futures;
use crate::{
    peers::{Smol, TokioCurrentThread, TokioMultiThread},
    workload::{Case, Program, Unit, Workload, param},
};
use std::iter::Sum;

pub(crate) static WORKLOAD: Workload = Workload {
    name: "choose-nacks",
    about: "a client takes the first answer of several servers, and each learns whether it was its own",
    follows: "the negative acknowledgements of Concurrent ML: a request that may be withdrawn",
    unit: Unit::lower_is_better("ns/round trip"),
    units: &[],
    cases: &[
        Case::new("-", &[param("servers", 2)]).workers(1),
        Case::new("-", &[param("servers", 8)]).workers(1),
    ],
    programs: &[
        Program::here("lisle", lisle::lisle).note("with_nack"),
        Program::here("lisle-tasks", lisle::tasks).note("with_nack"),
        Program::here("tokio-ct", futures::<TokioCurrentThread>)
            .note("two oneshots a request: the answer, and that it was taken; dropped if not"),
        Program::here("tokio-mt", futures::<TokioMultiThread>)
            .note("two oneshots a request: the answer, and that it was taken; dropped if not"),
        Program::here("smol", futures::<Smol>).note("tokio's channels; two oneshots a request"),
        Program::here("crossbeam-channel", crossbeam::crossbeam)
            .note("on threads; a channel a round, dropped when it is over"),
        Program::elsewhere("go").note("a channel a round, closed when it is over"),
    ],
};

/// How often a server's answer was taken, and how often not.
#[derive(Default, Debug, PartialEq, Eq)]
struct Counts {
    taken: u64,
    lost: u64,
}

impl Counts {
    fn note(&mut self, taken: bool) {
        if taken {
            self.taken += 1;
        } else {
            self.lost += 1;
        }
    }

    /// Are these the counts of all servers together, after `n` rounds?
    fn check(self, n: u64, servers: u64) {
        assert_eq!(self, Counts { taken: n, lost: n * (servers - 1) }, "what the servers have learnt");
    }
}

impl Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Counts::default(), |sum, counts| Counts {
            taken: sum.taken + counts.taken,
            lost: sum.lost + counts.lost,
        })
    }
}
