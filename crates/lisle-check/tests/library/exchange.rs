//! Fibers and tasks are exchangeable: the outcomes of a program do not depend on which of its
//! threads are fibers and which are tasks.
//!
//! The paper that the library's tasks follow proves this of its semantics (KC Sivaramakrishnan, L.
//! Ziarek and S. Jagannathan, *Featherweight Threads for Communication*, 2011, section 3). These
//! tests show it of the implementation, in all schedules, for *all* programs of two threads with a
//! given number of operations each.
//!
//! A task begins as a call of its spawner's, and the spawner goes on when it waits or has ended. So
//! a program whose tasks begin like that has some of the outcomes that it has with fibers: the
//! outcomes of the schedules in which a thread runs as soon as it is spawned. A task that is
//! inflated at once has all of them.

use crate::outcomes::{Notes, all};
use lisle::channel::{Receiver, Sender, bounded};
use lisle::event::BoxEvent;
use lisle::sync::{Mutex, Semaphore};
use lisle::{Event, choose, spawn, spawn_task, task};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The next step of a thread. There are two channels: a rendezvous, and one with room for a
/// message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Operation {
    Send(usize),
    Receive(usize),
    /// Receives from either channel.
    ReceiveAny,
    /// Sends to the first channel or receives from the second.
    SendOrReceive,
    /// Counts under a lock.
    Count,
    /// Gives a permit.
    Post,
    /// Takes a permit.
    Wait,
    /// Takes a permit, if there is one.
    TryWait,
}

use Operation::{Count, Post, Receive, ReceiveAny, Send, SendOrReceive, TryWait, Wait};

const MESSAGES: [Operation; 6] = [Send(0), Receive(0), Send(1), Receive(1), ReceiveAny, SendOrReceive];
const LOCKS: [Operation; 6] = [Count, Post, Wait, TryWait, Send(0), Receive(0)];

/// The state that all threads share.
struct World {
    channels: [(Sender<u32>, Receiver<u32>); 2],
    count: Mutex<u32>,
    permits: Semaphore,
}

impl World {
    fn new() -> Self {
        World { channels: [bounded(0), bounded(1)], count: Mutex::new(0), permits: Semaphore::new(0) }
    }

    /// Returns an operation as an event; the value tells its result.
    fn event(&self, operation: Operation, message: u32) -> BoxEvent<'_, String> {
        let send = |channel: usize| {
            self.channels[channel]
                .0
                .send_evt(message)
                .wrap(|sent| if sent.is_ok() { "s" } else { "!" }.into())
        };
        let receive = |channel: usize| {
            self.channels[channel].1.recv_evt().wrap(|got| got.map_or("!".into(), |got| got.to_string()))
        };
        match operation {
            Send(channel) => send(channel).boxed(),
            Receive(channel) => receive(channel).boxed(),
            ReceiveAny => choose((receive(0), receive(1))).boxed(),
            SendOrReceive => choose((send(0), receive(1))).boxed(),
            Count => {
                let counted = |mut count: lisle::sync::MutexGuard<'_, u32>| {
                    *count += 1;
                    format!("#{}", *count)
                };
                self.count.lock_evt().wrap(counted).boxed()
            }
            Wait => self.permits.wait_evt().wrap(|()| "w".into()).boxed(),
            Post => {
                self.permits.post();
                lisle::always("p".into()).boxed()
            }
            TryWait => {
                let taken = self.permits.try_wait();
                lisle::always(if taken { "t" } else { "f" }.into()).boxed()
            }
        }
    }
}

/// The kind of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Fiber,
    /// A task that begins as a call of its spawner's.
    Task,
    /// A task that is made a thread at once.
    Inflated,
}

type Body = Vec<Operation>;

/// Returns the outcomes of a program of two or more threads, with these kinds.
fn outcomes(threads: &[Body], kinds: &[Kind]) -> BTreeSet<String> {
    let (threads, kinds) = (threads.to_vec(), kinds.to_vec());
    all(move |notes| {
        let world = Arc::new(World::new());
        let mut fibers = Vec::new();
        let mut tasks = Vec::new();
        for (thread, (body, kind)) in threads.iter().zip(&kinds).enumerate() {
            let (world, body, notes) = (world.clone(), body.clone(), notes.clone());
            match kind {
                Kind::Fiber => fibers.push(spawn(move || by_fiber(&world, &body, thread, &notes))),
                Kind::Task => {
                    tasks.push(spawn_task(async move { by_task(&world, &body, thread, &notes).await }));
                }
                Kind::Inflated => tasks.push(spawn_task(async move {
                    task::inflate().await;
                    by_task(&world, &body, thread, &notes).await;
                })),
            }
        }
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
        tasks.into_iter().for_each(|task| task.join().unwrap());
    })
}

fn by_fiber(world: &World, body: &[Operation], thread: usize, notes: &Notes) {
    for (message, operation) in (10 * thread as u32..).zip(body) {
        notes.add(thread, world.event(*operation, message).sync());
    }
}

async fn by_task(world: &World, body: &[Operation], thread: usize, notes: &Notes) {
    for (message, operation) in (10 * thread as u32..).zip(body) {
        notes.add(thread, world.event(*operation, message).await);
    }
}

/// Returns all bodies of `length` operations.
fn bodies(alphabet: &[Operation], length: usize) -> Vec<Body> {
    (0..length).fold(vec![Vec::new()], |shorter, _| {
        let longer =
            |body: &Body| alphabet.iter().map(|next| [body, &[*next][..]].concat()).collect::<Vec<_>>();
        shorter.iter().flat_map(longer).collect()
    })
}

/// Returns all programs of `threads` threads with `length` operations each. The order of threads
/// does not matter.
fn programs(alphabet: &[Operation], threads: usize, length: usize) -> Vec<Vec<Body>> {
    let bodies = bodies(alphabet, length);
    (0..threads).fold(vec![Vec::new()], |shorter, _| {
        let longer = |program: &Vec<Body>| {
            let last = program.last().cloned().unwrap_or_default();
            let next = bodies.iter().filter(move |body| **body >= last);
            next.map(|body| [&program[..], std::slice::from_ref(body)].concat()).collect::<Vec<_>>()
        };
        shorter.iter().flat_map(longer).collect()
    })
}

/// Asserts that a program has the same outcomes whichever of its threads are fibers and which are
/// tasks.
fn is_exchangeable(program: &[Body]) -> usize {
    let of_fibers = outcomes(program, &vec![Kind::Fiber; program.len()]);
    for assignment in 1..1 << program.len() {
        let kinds = |task: Kind| -> Vec<Kind> {
            let kind = |thread| if assignment >> thread & 1 == 1 { task } else { Kind::Fiber };
            (0..program.len()).map(kind).collect()
        };
        let of_both = outcomes(program, &kinds(Kind::Inflated));
        assert_eq!(of_both, of_fibers, "{program:?} with {:?}", kinds(Kind::Inflated));
        let some = outcomes(program, &kinds(Kind::Task));
        let others: Vec<_> = some.difference(&of_fibers).collect();
        assert!(
            others.is_empty() && !some.is_empty(),
            "{program:?} with {:?}: {others:?}",
            kinds(Kind::Task)
        );
    }
    of_fibers.len()
}

fn are_exchangeable(alphabet: &[Operation], threads: usize, length: usize) -> (usize, usize) {
    let programs = programs(alphabet, threads, length);
    let outcomes = programs.iter().map(|program| is_exchangeable(program)).sum();
    println!("{} programs, {outcomes} outcomes", programs.len());
    (programs.len(), outcomes)
}

#[test]
fn programs_of_messages() {
    assert_eq!(are_exchangeable(&MESSAGES, 2, 2).0, 666);
}

#[test]
fn programs_of_locks() {
    assert_eq!(are_exchangeable(&LOCKS, 2, 2).0, 666);
}

#[test]
fn programs_of_three_threads() {
    assert_eq!(are_exchangeable(&MESSAGES, 3, 1).0, 56);
    assert_eq!(are_exchangeable(&LOCKS, 3, 1).0, 56);
}

#[test]
#[ignore = "takes some minutes"]
fn longer_programs() {
    assert_eq!(are_exchangeable(&MESSAGES, 2, 3).0, 23_436);
    assert_eq!(are_exchangeable(&LOCKS, 2, 3).0, 23_436);
}

#[test]
#[ignore = "takes about an hour"]
fn longer_programs_of_three_threads() {
    assert_eq!(are_exchangeable(&MESSAGES, 3, 2).0, 8_436);
    assert_eq!(are_exchangeable(&LOCKS, 3, 2).0, 8_436);
}
