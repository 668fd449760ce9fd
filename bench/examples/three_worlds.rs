//! A tokio task, a fiber and a plain thread on one channel.
//!
//! Run it with `cargo run --manifest-path bench/Cargo.toml --example three_worlds`.

use lisle::channel::{Receiver, Sender};
use lisle::time::after;
use lisle::{Event, Runtime, channel, choose};
use std::thread;
use std::time::Duration;

const ROUNDS: u32 = 10_000;

/// The meetings of one performer: how often it has sent, and how often it has received from each
/// other.
#[derive(Debug, Default)]
struct Tally {
    sent: u32,
    received: [u32; 3],
}

impl Tally {
    fn rounds(&self) -> u32 {
        self.sent + self.received.iter().sum::<u32>()
    }

    fn count(&mut self, outcome: Option<usize>) {
        match outcome {
            Some(from) => self.received[from] += 1,
            None => self.sent += 1,
        }
    }
}

/// The event of meeting anybody: it sends `me`, or receives another's name. It times out, because
/// the other two may have ended.
fn meet<'a>(
    me: usize,
    (tx, rx): &'a (Sender<usize>, Receiver<usize>),
) -> impl Event<Output = Option<Option<usize>>> + Send + use<'a> {
    choose((
        rx.recv_evt().wrap(|from| Some(from.ok())),
        tx.send_evt(me).wrap(|_| Some(None)),
        after(Duration::from_millis(500)).wrap(|()| None),
    ))
}

/// Fibers and threads wait in place: the same code for both.
fn in_place(me: usize, ends: (Sender<usize>, Receiver<usize>)) -> Tally {
    let mut tally = Tally::default();
    while tally.rounds() < ROUNDS {
        let Some(outcome) = meet(me, &ends).sync() else { break };
        tally.count(outcome);
    }
    tally
}

/// A task awaits.
async fn awaited(me: usize, ends: (Sender<usize>, Receiver<usize>)) -> Tally {
    let mut tally = Tally::default();
    while tally.rounds() < ROUNDS {
        let Some(outcome) = meet(me, &ends).future().await else { break };
        tally.count(outcome);
    }
    tally
}

fn main() -> std::io::Result<()> {
    let fibers = Runtime::builder().domains(1).start()?;
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build()?;
    let ends = channel();

    let fiber = fibers.spawn({
        let ends = ends.clone();
        move || in_place(0, ends)
    });
    let thread = thread::spawn({
        let ends = ends.clone();
        move || in_place(1, ends)
    });
    let task = tokio.spawn(awaited(2, ends));

    let tallies = [
        fiber.join().expect("the fiber does not panic"),
        thread.join().expect("nor does the thread"),
        tokio.block_on(task).expect("nor does the task"),
    ];
    for (name, tally) in ["fiber", "thread", "task"].iter().zip(&tallies) {
        let [fiber, thread, task] = tally.received;
        println!(
            "the {name} has sent {}, received {fiber} of the fiber's, {thread} of the thread's, {task} of the task's",
            tally.sent
        );
    }
    for (me, tally) in tallies.iter().enumerate() {
        assert_eq!(tally.received[me], 0, "nobody meets itself");
        let taken: u32 = tallies.iter().map(|other| other.received[me]).sum();
        assert_eq!(tally.sent, taken, "each sent message was received, once");
    }
    assert!(tallies.iter().map(Tally::rounds).max() == Some(ROUNDS));
    assert!(fibers.shutdown(Duration::from_secs(5)).is_clean());
    Ok(())
}
