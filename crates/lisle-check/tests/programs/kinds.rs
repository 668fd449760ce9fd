//! Programs with each kind of thing that the library has: all of them can be checked.

use lisle::sync::{Barrier, Condition, IVar, Latch, MVar, Semaphore, Watch};
use lisle::time::{after, sleep};
use lisle::{Event, channel, choose, fiber, spawn, spawn_task};
use lisle_check::{Checker, Verdict};
use std::sync::Arc;
use std::time::Duration;

#[track_caller]
fn is_clean(program: impl Fn() + Send + Sync + 'static) -> Verdict {
    let verdict = Checker::new().executions(200_000).explore(program);
    println!("{} {verdict}", std::panic::Location::caller());
    assert!(verdict.is_exhaustive() && verdict.failure().is_none(), "{verdict}");
    verdict
}

#[test]
fn scopes() {
    is_clean(|| {
        let mut words = [String::from("warp"), String::from("weft")];
        fiber::scope(|scope| {
            for word in &mut words {
                scope.spawn(move || word.push('s'));
            }
        });
        assert_eq!(words, ["warps", "wefts"]);
    });
}

#[test]
fn tasks() {
    is_clean(|| {
        let (tx, rx) = channel();
        let task = spawn_task(async move { rx.recv_evt().await.unwrap() + 1 });
        tx.send(1).unwrap();
        assert_eq!(task.join().unwrap(), 2);
    });
    is_clean(|| {
        let (tx, rx) = channel();
        let tasks = [1, 2].map(|n| {
            let tx = tx.clone();
            spawn_task(async move { tx.send_evt(n).await.unwrap() })
        });
        assert_eq!(rx.recv().unwrap() + rx.recv().unwrap(), 3);
        let [(), ()] = tasks.map(|task| task.join().unwrap());
    });
}

#[test]
fn choices_take_each_arm() {
    use std::sync::Mutex;
    let seen = Arc::new(Mutex::new(std::collections::BTreeSet::new()));
    let of_program = seen.clone();
    is_clean(move || {
        let (a, from_a) = channel::bounded(1);
        let (b, from_b) = channel::bounded(1);
        a.send('a').unwrap();
        b.send('b').unwrap();
        let first = choose((from_a.recv_evt(), from_b.recv_evt())).sync().unwrap();
        of_program.lock().unwrap().insert(first);
    });
    assert_eq!(seen.lock().unwrap().iter().collect::<String>(), "ab");
}

#[test]
fn a_swap() {
    is_clean(|| {
        let (tx, rx) = channel();
        let fibers = [1, 2].map(|me| {
            let (tx, rx) = (tx.clone(), rx.clone());
            spawn(move || choose((tx.send_evt(me).wrap(|_| 0), rx.recv_evt().wrap(Result::unwrap))).sync())
        });
        let got = fibers.map(|fiber| fiber.join().unwrap());
        assert!(got == [0, 1] || got == [2, 0], "{got:?}");
    });
}

#[test]
fn cells() {
    is_clean(|| {
        let cell = Arc::new(IVar::new());
        let putters = [1, 2].map(|n| {
            let cell = cell.clone();
            spawn(move || cell.put(n).is_ok())
        });
        let got = *cell.get();
        let put = putters.map(|putter| putter.join().unwrap());
        assert!(put[got - 1] && !put[2 - got], "{got} of {put:?}");
    });
    is_clean(|| {
        let cell = Arc::new(MVar::full(0));
        let fibers = [(); 2].map(|()| {
            let cell = cell.clone();
            spawn(move || cell.put(cell.take() + 1))
        });
        let [(), ()] = fibers.map(|fiber| fiber.join().unwrap());
        assert_eq!(cell.take(), 2);
    });
}

#[test]
fn signals() {
    is_clean(|| {
        let stop = Arc::new(Condition::new());
        let of_other = stop.clone();
        let other = spawn(move || of_other.wait());
        stop.signal();
        other.join().unwrap();
    });
    is_clean(|| {
        let latch = Arc::new(Latch::new(2));
        for _ in 0..2 {
            let latch = latch.clone();
            spawn(move || latch.count_down());
        }
        latch.wait();
    });
    is_clean(|| {
        let barrier = Barrier::new();
        let (one, other) = (barrier.enrol(), barrier.enrol());
        let fiber = spawn(move || other.wait().number());
        assert_eq!(one.wait().number(), fiber.join().unwrap());
    });
    is_clean(|| {
        let level = Watch::new(0);
        let watcher = level.watcher();
        let fiber = spawn(move || *watcher.wait_for(|level| *level > 0).unwrap());
        level.set(1);
        assert_eq!(fiber.join().unwrap(), 1);
    });
}

#[test]
fn permits() {
    is_clean(|| {
        let (seats, inside) = (Arc::new(Semaphore::new(1)), Arc::new(lisle_check::atomic::AtomicU32::new(0)));
        let fibers = [(); 2].map(|()| {
            let (seats, inside) = (seats.clone(), inside.clone());
            spawn(move || {
                let _seat = seats.acquire();
                let before = inside.fetch_add(1, lisle_check::atomic::Ordering::SeqCst);
                assert_eq!(before, 0);
                inside.fetch_sub(1, lisle_check::atomic::Ordering::SeqCst);
            })
        });
        let [(), ()] = fibers.map(|fiber| fiber.join().unwrap());
    });
}

#[test]
fn mailboxes_and_multicast() {
    is_clean(|| {
        let (tx, rx) = channel::unbounded();
        let fiber = spawn(move || {
            tx.send(1).unwrap();
            tx.send(2).unwrap();
        });
        assert_eq!((rx.recv(), rx.recv()), (Ok(1), Ok(2)));
        assert!(rx.recv().is_err());
        fiber.join().unwrap();
    });
    is_clean(|| {
        let news = channel::Multicast::new();
        let ports = [news.port(), news.port()];
        let readers = ports.map(|port| spawn(move || port.recv()));
        news.send(1).unwrap();
        assert_eq!(readers.map(|reader| reader.join().unwrap()), [Ok(1), Ok(1)]);
    });
}

/// There is one domain in a model, so it is free first.
#[test]
fn fibers_for_the_domain_that_is_free_first() {
    let verdict = is_clean(|| {
        let (tx, rx) = channel::bounded(2);
        let fibers = [1, 2].map(|n| {
            let tx = tx.clone();
            fiber::Builder::new().first_free().spawn(move || tx.send(n).unwrap())
        });
        let sum = rx.recv().unwrap() + rx.recv().unwrap();
        assert_eq!(sum, 3);
        let [(), ()] = fibers.map(|fiber| fiber.join().unwrap());
    });
    assert!(verdict.counts().complete > 1, "the sends come in both orders: {verdict}");
}

#[test]
fn time_is_virtual() {
    is_clean(|| {
        let fiber = spawn(|| sleep(Duration::from_secs(3_600)));
        sleep(Duration::from_secs(7_200));
        fiber.join().unwrap();
    });
    is_clean(|| {
        let (tx, rx) = channel::bounded(1);
        let ticks = spawn(move || {
            let in_time =
                choose((rx.recv_evt().wrap(|_| true), after(Duration::from_secs(1)).wrap(|()| false)));
            (in_time.sync(), rx)
        });
        tx.send(1).unwrap();
        drop(ticks.join().unwrap());
    });
}

#[test]
fn calls() {
    is_clean(|| {
        let (caller, entry) = lisle::rpc::rpc();
        let server = spawn(move || entry.entry_evt(|n: u32| n + 1).sync());
        assert_eq!(caller.call(1), Ok(2));
        server.join().unwrap().unwrap();
    });
}

#[test]
fn cancellation() {
    is_clean(|| {
        let fiber = spawn(|| fiber::cancelled_evt().sync());
        fiber.cancel();
        fiber.join().unwrap();
    });
}

#[test]
fn loops() {
    is_clean(|| {
        let (a, b) = lisle::par::join(|| 1, || 2);
        assert_eq!(a + b, 3);
    });
}

/// A server of calls, whose answers and nacks are a matter of the library's, and its clients.
#[test]
fn a_server_with_clients() {
    for (count, executions) in [(1, 4), (2, 24), (3, 192)] {
        let verdict = is_clean(move || {
            let (caller, entry) = lisle::rpc::rpc();
            let server = spawn(move || while entry.entry_evt(|n: u32| n + 1).sync().is_ok() {});
            let client = |n| {
                let caller = caller.clone();
                spawn(move || caller.call(n))
            };
            let clients: Vec<_> = (1..=count).map(client).collect();
            drop(caller);
            let answers: Vec<_> = clients.into_iter().map(|client| client.join().unwrap()).collect();
            assert_eq!(answers, (1..=count).map(|n| Ok(n + 1)).collect::<Vec<_>>());
            server.join().unwrap();
        });
        assert_eq!(verdict.counts().complete, executions);
    }
}

#[test]
fn a_client_that_gives_up_at_every_point() {
    let verdict = is_clean(|| {
        let (server, requests) = lisle::kill_safe::server::<u32, u32>();
        let manager = spawn(move || {
            while let Some(request) = requests.next() {
                let answer = request.arg() + 1;
                let _ = request.reply().offer(answer);
            }
        });
        let impatient = server.clone();
        let impatient = spawn(move || {
            let request = impatient.request_evt(1).wrap(Some);
            let answer = choose((request, fiber::cancelled_evt().wrap(|()| None))).sync();
            assert!(answer.is_none_or(|answer| answer == Ok(2)));
        });
        impatient.cancel();
        drop(server);
        impatient.join().unwrap();
        manager.join().unwrap();
    });
    assert!(verdict.counts().complete > 10);
}
