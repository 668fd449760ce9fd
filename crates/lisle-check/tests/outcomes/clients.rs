//! The clients: programs of two threads, of which one does two operations at most, and the other
//! one.

use lisle_core::channel::{Receiver, Sender};
use lisle_core::{Event, choose};
use std::sync::Arc;

pub(crate) mod barrier;
pub(crate) mod buffer;
pub(crate) mod condvar;
pub(crate) mod ivar;
pub(crate) mod mutex;
pub(crate) mod rendezvous;
pub(crate) mod rwlock;
pub(crate) mod semaphore;

/// An operation: its name, and the function that a thread of this number calls, which returns the
/// outcome.
pub(crate) type Operation<W> = (&'static str, fn(&W, u32) -> String);

/// The clients of a primitive, which is in a `W`.
pub(crate) struct Client<W: 'static> {
    pub(crate) primitive: &'static str,
    pub(crate) make: fn() -> W,
    pub(crate) operations: &'static [Operation<W>],
}

/// The operations of a program's threads, by their places in the client's list.
pub(crate) type Program = [Vec<usize>; 2];

impl<W> Client<W> {
    /// Returns all programs of two or three operations.
    pub(crate) fn programs(&self) -> Vec<Program> {
        let all = 0..self.operations.len();
        let one = all.clone().map(|first| vec![first]);
        let two = all.clone().flat_map(|first| all.clone().map(move |second| vec![first, second]));
        let here = one.chain(two);
        here.flat_map(|here| all.clone().map(move |other| [here.clone(), vec![other]])).collect()
    }

    /// Returns the name of a program: `lock, try | lock`.
    pub(crate) fn name(&self, program: &Program) -> String {
        let body = |body: &Vec<usize>| {
            body.iter().map(|operation| self.operations[*operation].0).collect::<Vec<_>>().join(", ")
        };
        program.each_ref().map(body).join(" | ")
    }

    /// Performs the operations of one thread of a program, and returns their outcomes.
    pub(crate) fn run(&self, world: &Arc<W>, program: &Program, thread: usize) -> String {
        let operations = program[thread].iter().map(|operation| self.operations[*operation].1);
        operations.map(|operation| operation(world, thread as u32)).collect::<Vec<_>>().join(",")
    }
}

/// The operations on a channel, whatever its capacity.
const ON_A_CHANNEL: &[Operation<(Sender<u32>, Receiver<u32>)>] = &[
    ("send", |(tx, _), me| tx.send(me).map_or("!", |()| "s").into()),
    ("receive", |(_, rx), _| rx.recv().map_or("!".into(), |got| got.to_string())),
    ("try to send", |(tx, _), me| tx.try_send(me).map_or("-", |()| "s").into()),
    ("try to receive", |(_, rx), _| rx.try_recv().map_or("-".into(), |got| got.to_string())),
    ("receive from either", |(_, rx), _| {
        choose((rx.recv_evt(), rx.recv_evt())).sync().map_or("!".into(), |got| got.to_string())
    }),
];
