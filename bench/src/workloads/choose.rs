//! A choice among many channels, one of which is ready at a time: the cost of an alternative that
//! is not taken.
//!
//! A partner turns to one arm after the other, in an order that visits all. With rendezvous
//! channels each of its steps makes one arm ready. A channel of one slot lets it run ahead by a
//! step an arm: a choice then often finds something without waiting. Such slots are full at the
//! start where the chooser sends, so that a send has to wait for the partner as well.

#[path = "choose/crossbeam.rs"]
mod crossbeam;
#[path = "choose/deadline.rs"]
mod deadline;
#[path = "choose/forms.rs"]
mod forms;
#[path = "choose/futures.rs"]
mod futures;
#[path = "choose/lisle.rs"]
mod lisle;

use self::{
    forms::{Kept, Select},
    futures::futures,
};
use crate::{
    job::Job,
    peers::{AsyncChannel, Flume, Kanal, Smol, Tokio, TokioCurrentThread, TokioMpsc, TokioMultiThread},
    workload::{Case, Program, Unit, Workload, param},
};
use std::time::Duration;

pub(crate) static WORKLOAD: Workload = Workload {
    name: "choose",
    about: "a choice among many channels, of which a partner serves one after the other",
    follows: "select_rx and select_both of crossbeam-channel's benchmarks, with more arms",
    unit: Unit::lower_is_better("ns/choice"),
    units: &[],
    cases: &[
        Case::new("receive", &[param("arms", 2)]).workers(1),
        Case::new("receive", &[param("arms", 8)]).workers(1),
        Case::new("receive", &[param("arms", 64)]).workers(1),
        Case::new("receive", &[param("arms", 1000)]).workers(1),
        Case::new("both", &[param("arms", 2)]).workers(1),
        Case::new("both", &[param("arms", 8)]).workers(1),
        Case::new("both", &[param("arms", 64)]).workers(1),
        Case::new("both", &[param("arms", 1000)]).workers(1),
        Case::new("timeout", &[param("arms", 2)]).workers(1),
        Case::new("timeout", &[param("arms", 8)]).workers(1),
        Case::new("timeout", &[param("arms", 64)]).workers(1),
        Case::new("timeout", &[param("arms", 1000)]).workers(1),
    ],
    programs: &[
        Program::here("lisle", lisle::lisle),
        Program::here("lisle-tasks", lisle::tasks),
        Program::here("tokio-ct", futures::<TokioCurrentThread, TokioMpsc, Select>)
            .beside(|case| case.param("arms") >= Some(64))
            .note("one slot an arm; 64 arms and more: losing arms stay pending"),
        Program::here("tokio-mt", futures::<TokioMultiThread, TokioMpsc, Select>)
            .beside(|case| case.param("arms") >= Some(64))
            .note("one slot an arm; 64 arms and more: losing arms stay pending"),
        Program::here("kanal", futures::<Tokio, Kanal, Kept>)
            .beside(|_| true)
            .note("on tokio; losing arms stay pending"),
        Program::here("flume", futures::<Tokio, Flume, Kept>)
            .beside(|_| true)
            .note("on tokio; losing arms stay pending"),
        Program::here("async-channel", futures::<Tokio, AsyncChannel, Kept>)
            .beside(|_| true)
            .note("on tokio; one slot an arm; losing arms stay pending"),
        Program::here("smol", futures::<Smol, AsyncChannel, Kept>)
            .beside(|_| true)
            .note("one slot an arm; losing arms stay pending"),
        Program::here("crossbeam-channel", crossbeam::crossbeam).note("on two threads"),
        Program::elsewhere("go"),
        Program::elsewhere("guile-fibers"),
    ],
};

/// Never over.
const TIMEOUT: Duration = Duration::from_secs(100);

/// The value of a choice that timed out.
fn timed_out() -> u64 {
    panic!("a timeout of 100 s expired")
}

/// One case.
#[derive(Clone, Copy)]
struct Plan {
    arms: u64,
    /// The chooser sends on the odd arms; its message is the arm's number.
    both: bool,
    timeout: bool,
}

impl Plan {
    fn new(job: &Job) -> Self {
        let (both, timeout) = match job.variant.as_str() {
            "receive" => (false, false),
            "both" => (true, false),
            "timeout" => (false, true),
            variant => panic!("no variant `{variant}`"),
        };
        Plan { arms: job.param("arms"), both, timeout }
    }

    /// The arms on which the chooser receives.
    fn receives(self, arm: u64) -> bool {
        !self.both || arm.is_multiple_of(2)
    }

    /// Makes the channels, and gives each side its ends.
    fn ends<S, R>(self, mut channel: impl FnMut() -> (S, R)) -> Ends<S, R> {
        let mut ends = Ends { receivers: Vec::new(), senders: Vec::new(), partner: Vec::new() };
        for arm in 0..self.arms {
            let (sender, receiver) = channel();
            if self.receives(arm) {
                ends.receivers.push(receiver);
                ends.partner.push(Counterpart::Sender(sender));
            } else {
                ends.senders.push((sender, arm));
                ends.partner.push(Counterpart::Receiver(receiver));
            }
        }
        ends
    }

    /// The arm of the partner's step `i`. The stride is a prime, hence every arm has its turn.
    fn arm(self, i: u64) -> usize {
        ((i * 7919 + 3) % self.arms) as usize
    }

    /// Did the chooser and its partner receive all that the other sent in `n` steps?
    fn check(self, n: u64, chooser: u64, partner: u64) {
        let (mut to_chooser, mut to_partner) = (0, 0);
        for i in 0..n {
            let arm = self.arm(i) as u64;
            if self.receives(arm) {
                to_chooser += i;
            } else {
                to_partner += arm;
            }
        }
        assert_eq!((chooser, partner), (to_chooser, to_partner), "the sums of the received numbers");
    }
}

/// Both sides' ends of the arms.
struct Ends<S, R> {
    /// The chooser's even arms, or all.
    receivers: Vec<R>,
    /// The chooser's odd arms, each with the number that is sent there.
    senders: Vec<(S, u64)>,
    /// In the order of the arms.
    partner: Vec<Counterpart<S, R>>,
}

enum Counterpart<S, R> {
    Sender(S),
    Receiver(R),
}
