//! Small programs by chance, of everything that the library has: exploring finds all that sampling
//! finds.
//!
//! The library tells, for each of its operations, which others it commutes with. If it tells too
//! many, an exploration that calls itself exhaustive leaves outcomes out. Each operation here ends
//! by itself, so that an outcome has the results of all operations.

use crate::found::{self, Executions};
use lisle::channel::{self, MailReceiver, MailSender, Multicast, Port, Receiver, Sender};
use lisle::sync::{Condvar, IVar, Latch, MVar, Mutex, RwLock, Semaphore, WaitGroup, Watch};
use lisle::time::after;
use lisle::{Event, always, choose, event::choose_biased, spawn};
use lisle_check::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::Arc;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// The state that the fibers of a program share.
struct Shared {
    mutex: Mutex<u32>,
    changed: Condvar,
    rwlock: RwLock<u32>,
    permits: Semaphore,
    latch: Latch,
    mvar: MVar<u32>,
    ivar: IVar<u32>,
    group: WaitGroup,
    watch: Watch<u32>,
    published: Multicast<u32>,
    number: AtomicU32,
}

/// The state of one fiber.
struct Own {
    id: u32,
    sender: Option<Sender<u32>>,
    receiver: Option<Receiver<u32>>,
    meet_sender: Option<Sender<u32>>,
    meet_receiver: Option<Receiver<u32>>,
    mail: Option<MailSender<u32>>,
    inbox: Option<MailReceiver<u32>>,
    port: Port<u32>,
    member: Option<lisle::sync::Member>,
}

type Operation = fn(&Shared, &mut Own) -> String;

fn text(value: impl std::fmt::Debug) -> String {
    format!("{value:?}")
}

/// The operations, in families that have an object in common.
#[allow(clippy::unit_arg, reason = "each operation is one expression, also if it gives nothing")]
const FAMILIES: &[&[Operation]] = &[
    &[
        |_, own| text(own.sender.as_ref().map(|tx| tx.try_send(own.id).is_ok())),
        |_, own| text(own.sender.as_ref().map(|tx| tx.send_timeout(own.id + 10, SECOND).is_ok())),
        |_, own| text(own.receiver.as_ref().map(Receiver::try_recv)),
        |_, own| text(own.receiver.as_ref().map(|rx| rx.recv_timeout(SECOND))),
        |_, own| text(own.sender.take().map(drop)),
        |_, own| text(own.receiver.take().map(drop)),
        |_, own| text(own.sender.as_ref().map(|tx| (tx.len(), tx.is_closed()))),
        |_, own| text(own.sender.as_ref().map(Sender::close)),
        |_, own| {
            text(own.sender.as_ref().map(|tx| {
                choose_biased((tx.send_evt(own.id + 20).wrap(|sent| sent.is_ok()), always(false))).sync()
            }))
        },
        |_, own| text(own.sender.clone().map(drop)),
    ],
    &[
        |_, own| text(own.meet_sender.as_ref().map(|tx| tx.try_send(own.id).is_ok())),
        |_, own| text(own.meet_sender.as_ref().map(|tx| tx.send_timeout(own.id + 10, SECOND).is_ok())),
        |_, own| text(own.meet_receiver.as_ref().map(Receiver::try_recv)),
        |_, own| text(own.meet_receiver.as_ref().map(|rx| rx.recv_timeout(SECOND))),
        |_, own| text(own.meet_sender.take().map(drop)),
        |_, own| text(own.meet_receiver.take().map(drop)),
    ],
    &[
        |shared, own| text(shared.mutex.try_lock().map(|mut value| std::mem::replace(&mut *value, own.id))),
        |shared, own| text(std::mem::replace(&mut *shared.mutex.lock(), own.id + 10)),
        |shared, _| text(shared.mutex.lock_timeout(SECOND).map(|value| *value)),
        |shared, _| {
            let guard = shared.mutex.lock();
            text((*guard, shared.number.load(SeqCst)))
        },
        |shared, _| text(*shared.changed.wait_timeout(shared.mutex.lock(), SECOND).0),
        |shared, _| text(shared.changed.notify_one()),
        |shared, _| text(shared.changed.notify_all()),
        |shared, own| text(shared.number.swap(own.id, SeqCst)),
    ],
    &[
        |shared, _| text(shared.rwlock.try_read().map(|value| *value)),
        |shared, _| text(*shared.rwlock.read()),
        |shared, own| text(std::mem::replace(&mut *shared.rwlock.write(), own.id)),
        |shared, own| text(shared.rwlock.try_write().map(|mut value| std::mem::replace(&mut *value, own.id))),
        |shared, _| text(shared.rwlock.write_timeout(SECOND).map(|value| *value)),
        |shared, _| {
            let guard = shared.rwlock.read();
            text((*guard, shared.number.load(SeqCst)))
        },
        |shared, own| text(shared.number.swap(own.id, SeqCst)),
    ],
    &[
        |shared, _| text(shared.permits.try_wait()),
        |shared, _| text(shared.permits.try_acquire().is_some()),
        |shared, _| text(shared.permits.post()),
        |shared, _| {
            text(choose((shared.permits.wait_evt().wrap(|()| true), after(SECOND).wrap(|()| false))).sync())
        },
        |shared, _| text(shared.permits.tokens()),
        |shared, _| text(shared.permits.acquire_evt().poll().is_some()),
    ],
    &[
        |shared, _| text(shared.latch.count_down()),
        |shared, _| text(shared.latch.count()),
        |shared, _| text(shared.latch.wait_evt().poll()),
        |shared, own| text(own.member.replace(shared.group.enter()).is_some()),
        |_, own| text(own.member.take().is_some()),
        |shared, _| text(shared.group.wait_evt().poll()),
        |shared, _| text(shared.group.count()),
    ],
    &[
        |shared, own| text(shared.mvar.try_put(own.id).is_ok()),
        |shared, _| text(shared.mvar.try_take()),
        |shared, _| text(shared.mvar.try_read()),
        |shared, own| {
            text(choose((shared.mvar.put_evt(own.id).wrap(|()| true), after(SECOND).wrap(|()| false))).sync())
        },
        |shared, _| text(choose_biased((shared.mvar.take_evt(), always(77))).sync()),
        |shared, own| text(shared.ivar.put(own.id).is_ok()),
        |shared, _| text(shared.ivar.try_get()),
        |shared, _| text(choose((shared.ivar.get_evt().wrap(|value| *value), always(78))).sync()),
    ],
    &[
        |shared, own| text(shared.watch.set(own.id)),
        |shared, own| text(shared.watch.update(|value| value * 10 + own.id)),
        |shared, _| text(shared.watch.get()),
        |shared, own| text(shared.published.send(own.id).is_ok()),
        |_, own| text(own.port.try_recv()),
        |_, own| text(own.port.recv_timeout(SECOND)),
        |shared, _| text(shared.published.close()),
    ],
    &[
        |_, own| text(own.mail.as_ref().map(|mail| mail.send(own.id).is_ok())),
        |_, own| text(own.mail.take().map(drop)),
        |_, own| text(own.inbox.as_ref().map(MailReceiver::try_recv)),
        |_, own| text(own.inbox.as_ref().map(|inbox| inbox.recv_timeout(SECOND))),
        |_, own| text(own.inbox.as_ref().map(|inbox| (inbox.len(), inbox.is_closed()))),
        |_, own| text(own.inbox.take().map(drop)),
    ],
];

/// Which operations each fiber performs.
type Program = Vec<Vec<Operation>>;

fn program(random: &mut fastrand::Rng) -> Program {
    let families = [random.choice(FAMILIES).unwrap(), random.choice(FAMILIES).unwrap()];
    let operation = |random: &mut fastrand::Rng| {
        // Most are of one family, so that they meet.
        let family = families[usize::from(random.u8(..4) == 0)];
        *random.choice(*family).unwrap()
    };
    let fibers = if random.u8(..3) == 0 { 3 } else { 2 };
    (0..fibers).map(|_| (0..random.usize(1..=4 - fibers / 2)).map(|_| operation(random)).collect()).collect()
}

fn run(program: &Program) -> String {
    let shared = Arc::new(Shared {
        mutex: Mutex::new(0),
        changed: Condvar::new(),
        rwlock: RwLock::new(0),
        permits: Semaphore::new(1),
        latch: Latch::new(2),
        mvar: MVar::new(),
        ivar: IVar::new(),
        group: WaitGroup::new(),
        watch: Watch::new(0),
        published: Multicast::new(),
        number: AtomicU32::new(0),
    });
    let (sender, receiver) = channel::bounded(1);
    let (meet_sender, meet_receiver) = lisle::channel();
    let (mail, inbox) = channel::unbounded();
    let mut inbox = Some(inbox);
    let owns: Vec<_> = (1..=program.len() as u32)
        .map(|id| Own {
            id,
            sender: Some(sender.clone()),
            receiver: Some(receiver.clone()),
            meet_sender: Some(meet_sender.clone()),
            meet_receiver: Some(meet_receiver.clone()),
            mail: Some(mail.clone()),
            inbox: inbox.take(),
            port: shared.published.port(),
            member: None,
        })
        .collect();
    drop((sender, receiver, meet_sender, meet_receiver, mail));
    let fibers: Vec<_> = owns
        .into_iter()
        .zip(program.clone())
        .map(|(mut own, code)| {
            let shared = shared.clone();
            spawn(move || {
                let results: Vec<_> = code.iter().map(|operation| operation(&shared, &mut own)).collect();
                // A fiber's state is dropped when all fibers have ended. Otherwise drops would be
                // steps of each program.
                (results, own)
            })
        })
        .collect();
    let ends: Vec<_> = fibers.into_iter().map(|fiber| fiber.join().unwrap()).collect();
    text(ends.iter().map(|(results, _)| results).collect::<Vec<_>>())
}

#[test]
fn exploring_finds_all_that_sampling_finds() {
    let executions = Executions { explored: 2_000, by_chance: 150 };
    found::exploring_finds_all_that_sampling_finds(executions, |seed| {
        let program = program(&mut fastrand::Rng::with_seed(seed));
        move || run(&program)
    });
}
