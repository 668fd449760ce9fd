//! crossbeam-channel on threads. Its `Select` is kept, and may be used any number of times, but has
//! to visit every channel each time: to try it, to enlist with it, and to leave it.

use super::{Asker, Plan, Server, Tally, ask};
use crate::job::{Job, Outcome};
use crossbeam_channel::{Receiver, Select, Sender, bounded};
use std::{thread, time::Duration};

pub(super) fn crossbeam(job: &Job) -> Outcome {
    let plan = Plan::new(job);
    let measured = job.measure(|n| {
        let (asker, server) = plan.ends(bounded);
        let server = thread::spawn(move || serve(n, &server));
        let elapsed = asks(n, asker);
        plan.check(n, server.join().unwrap());
        elapsed
    });
    measured.nanoseconds()
}

fn serve(n: u64, server: &Server<Sender<u64>, Receiver<u64>>) -> Tally {
    let mut select = Select::new();
    for receiver in &server.receivers {
        select.recv(receiver);
    }
    let mut tally = Tally::default();
    for _ in 0..=n {
        let chosen = select.select();
        let source = chosen.index();
        let message = chosen.recv(&server.receivers[source]).unwrap();
        tally.note(source as u64, message);
        server.answer.send(message).unwrap();
    }
    tally
}

fn asks(n: u64, mut asker: Asker<Sender<u64>, Receiver<u64>>) -> Duration {
    let send = |tx: &Sender<u64>, message| tx.send(message).unwrap();
    let receive = |rx: &mut Receiver<u64>| rx.recv().unwrap();
    ask!(asker, n, send send, receive receive)
}
