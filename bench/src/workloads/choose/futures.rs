//! Systems of futures: the partner, and the frame in which a chooser of one of the
//! [forms](super::forms) runs.

use super::{Counterpart, Ends, Plan, deadline::Deadline, forms::Form};
use crate::{
    job::{Job, Outcome},
    peers::Channel,
};
use futures::FutureExt;
use std::time::Instant;

pub(super) fn futures<E: Deadline, C: Channel, F: Form>(job: &Job) -> Outcome {
    let plan = Plan::new(job);
    let executor = E::start(job.workers);
    let measured = job.measure(|n| {
        let Ends { mut receivers, senders, mut partner } = plan.ends(|| C::bounded(0));
        for (sender, message) in &senders {
            // Fills the slot, if there is one. At a rendezvous nobody waits, and nothing is sent.
            // Not within a task, which may be told to give way after some sends.
            let _ = C::send(sender, *message).now_or_never();
        }
        executor.run(async move {
            let partner = E::spawn(async move {
                let sum = serve::<C>(plan, n, &mut partner).await;
                // The arms as well, so that none is closed while the chooser still has steps to
                // catch up with.
                (sum, partner)
            });
            let start = Instant::now();
            let sum = F::choose::<E, C>(n, plan.timeout, &mut receivers, &senders).await;
            let elapsed = start.elapsed();
            let (partner_sum, _) = partner.await;
            plan.check(n, sum, partner_sum);
            elapsed
        })
    });
    measured.nanoseconds()
}

/// The partner's loop.
async fn serve<C: Channel>(plan: Plan, n: u64, arms: &mut [Counterpart<C::Sender, C::Receiver>]) -> u64 {
    let mut sum = 0;
    for i in 0..n {
        match &mut arms[plan.arm(i)] {
            Counterpart::Sender(sender) => C::send(sender, i).await,
            Counterpart::Receiver(receiver) => {
                sum += C::receive(receiver).await.expect("the chooser is there")
            }
        }
    }
    sum
}
