//! The operations of a program, one by one. Each asserts its result.

use lisle::channel::bounded;
use lisle::effect::{Effect, finish, generate, generator, handle, perform};
use lisle::event::WaitSet;
use lisle::par::prelude::*;
use lisle::time::{after, sleep};
use lisle::{Event, Runtime, channel, choose};
use std::io::{Read, Write};
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(1);

struct Ask;
impl Effect for Ask {
    type Answer = u32;
}

/// All of them, by name.
pub(crate) const ALL: &[(&str, fn())] = &[
    ("run", run),
    ("start a runtime, and end it", start),
    ("spawn and join", || assert_eq!(lisle::spawn(|| 5).join().unwrap(), 5)),
    ("spawn a task, and join it", task),
    ("scope", || assert_eq!(lisle::fiber::scope(|scope| scope.spawn(|| 1).join().unwrap()), 1)),
    ("blocking", || assert_eq!(lisle::blocking(|| 1), 1)),
    ("send and receive", send_and_receive),
    ("receive, with a timeout", timeout),
    ("choose", choice),
    ("sleep", || sleep(SHORT)),
    ("a wait set", wait_set),
    ("block_on", || lisle::future::block_on(after(SHORT).future())),
    ("lock", lock),
    ("checkpoint", lisle::fiber::checkpoint),
    ("no_suspend", || assert_eq!(lisle::fiber::no_suspend(|| 1), 1)),
    ("waiting", || assert!(!lisle::waiting().to_string().is_empty())),
    ("join", || assert_eq!(lisle::par::join(|| 1, || 2), (1, 2))),
    ("a loop", || assert_eq!((0..10_000_u64).into_par_iter().sum::<u64>(), 49_995_000)),
    ("a scope of jobs", || assert_eq!(lisle::par::scope(|scope| scope.spawn(|| 1).wait()), 1)),
    ("sort", sort),
    ("handle", || assert_eq!(handle(|| perform(Ask)).on(|Ask, k| k.resume(4)).run(), 4)),
    ("keep", keep),
    ("a generator", || assert_eq!(generator(|items| (1..4).for_each(|n| items.give(n))).sum::<u32>(), 6)),
    ("generate", || assert_eq!(generate(|items| items.give(3), |values| values.sum::<u32>()), 3)),
    ("a frame", frame),
    ("sockets", sockets),
];

fn run() {
    let sum = Runtime::builder().domains(1).run(|| {
        let (tx, rx) = channel::<u32>();
        lisle::spawn(move || (0..10).try_for_each(|n| tx.send(n)));
        sleep(SHORT);
        std::iter::from_fn(|| rx.recv().ok()).sum::<u32>()
    });
    assert_eq!(sum, 45);
    assert_eq!(lisle::run(|| lisle::spawn(|| 7).join().unwrap()), 7);
}

fn start() {
    let runtime = Runtime::builder().domains(1).start().unwrap();
    assert_eq!(runtime.run(|| 3), 3);
    assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
}

fn task() {
    let task = lisle::spawn_task(async {
        lisle::task::yield_now().await;
        after(SHORT).await;
        2
    });
    assert_eq!(task.join().unwrap(), 2);
}

fn send_and_receive() {
    let (there, asked) = channel::<u32>();
    let (back, answers) = channel::<u32>();
    let thread = std::thread::spawn(move || asked.recv().is_ok_and(|n| back.send(n + 1).is_ok()));
    there.send(1).unwrap();
    assert_eq!(answers.recv(), Ok(2));
    assert!(thread.join().unwrap());
    assert!(answers.recv().is_err());
}

fn timeout() {
    let (tx, rx) = channel::<u32>();
    assert!(rx.recv_timeout(SHORT).is_err());
    drop(tx);
}

fn choice() {
    let (tx, rx) = bounded::<u32>(1);
    let next = choose((rx.recv_evt().wrap(Result::ok), after(SHORT).wrap(|()| None)));
    assert_eq!(next.sync(), None);
    tx.send(5).unwrap();
    let next = choose((rx.recv_evt().wrap(Result::ok), lisle::never::<Option<u32>>()));
    assert_eq!(next.sync(), Some(5));
}

fn wait_set() {
    let mut set = WaitSet::new();
    set.insert(after(SHORT));
    set.sync();
}

fn lock() {
    let mutex = lisle::sync::Mutex::new(1);
    std::thread::scope(|scope| {
        let mut held = mutex.lock();
        scope.spawn(|| *mutex.lock() += 1);
        *held += 1;
    });
    assert_eq!(*mutex.lock(), 3);
}

fn sort() {
    let mut numbers: Vec<u32> = (0..50_000).rev().collect();
    lisle::par::sort::sort(&mut numbers);
    assert!(numbers.is_sorted());
}

/// Goes on with one kept computation, and leaves another for the end of the scope.
fn keep() {
    let begin = || {
        let slot = std::rc::Rc::new(std::cell::RefCell::new(None));
        let kept = slot.clone();
        handle(|| perform(Ask))
            .on(move |Ask, k| {
                kept.replace(Some(k.keep()));
                finish(0)
            })
            .run();
        slot.take().unwrap()
    };
    assert_eq!(begin().resume(9), 9);
    drop(begin());
}

/// Frames outside of a runtime, and in one, whose domains run the calls.
fn frame() {
    use lisle_frame::{Domains, Foreign, World};
    let frames = |mut world: World| {
        let keys = world.input(4);
        let double = Foreign::new("double", |n: u32| 2 * n);
        let doubled = world.stream(async move || double.call(keys.stream().await).await);
        world.frame();
        world.frame();
        assert_eq!(world.get(doubled).unwrap(), 8);
    };
    frames(World::new());
    Runtime::builder().domains(2).run(|| frames(World::builder().pool(Domains::current()).build()));
}

fn sockets() {
    let listener = lisle::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let thread = std::thread::spawn(move || {
        let mut peer = std::net::TcpStream::connect(address).unwrap();
        peer.write_all(b"hello").unwrap();
    });
    let (mut stream, _) = listener.accept().unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    assert_eq!(said, "hello");
    thread.join().unwrap();
}
