//! Programs that go wrong, after bugs of real programs, and their mended versions.
//!
//! The names come from the collections that made the bugs known: GoKer (T. Yuan, G. Li, J. Lu, C.
//! Liu, L. Li and J. Xue, *GoBench: a benchmark suite of real-world Go concurrency bugs*, CGO 2021)
//! and SCTBench (P. Thomson, A. Donaldson and A. Betts, *Concurrency testing using schedule
//! bounding*, PPoPP 2014). The programs are written anew.

use lisle::sync::{Condvar, Mutex, RwLock, WaitGroup};
use lisle::time::after;
use lisle::{Event, channel, choose, spawn};
use lisle_check::{Checker, Verdict};
use std::sync::Arc;
use std::time::Duration;

fn explore(program: impl Fn() + Send + Sync + 'static) -> Verdict {
    let verdict = Checker::new().explore(program);
    println!("{verdict}");
    verdict
}

/// Asserts that nothing goes wrong in any schedule.
#[track_caller]
fn is_clean(program: impl Fn() + Send + Sync + 'static) {
    let verdict = explore(program);
    assert!(verdict.is_exhaustive() && verdict.failure().is_none(), "{verdict}");
}

/// Asserts that fibers are left that wait to do this to that.
#[track_caller]
fn is_blocked(waits: &[&str], program: impl Fn() + Send + Sync + 'static) {
    let verdict = explore(program);
    let text = verdict.to_string();
    assert!(verdict.failure().is_some_and(|failure| failure.blocked().is_some()), "{text}");
    for wait in waits {
        assert!(text.contains(wait), "`{wait}` is not in: {text}");
    }
}

/// Asserts that a schedule panics with a message that has this in it.
#[track_caller]
fn panics(message: &str, program: impl Fn() + Send + Sync + 'static) {
    let verdict = explore(program);
    let panicked = verdict.failure().and_then(|failure| failure.panicked());
    assert!(panicked.is_some_and(|panicked| panicked.contains(message)), "{verdict}");
}

fn shared<T>(value: T) -> Arc<Mutex<T>> {
    Arc::new(Mutex::new(value))
}

/// cockroach/10214, cockroach/7504, moby/4951: two locks taken crosswise.
#[test]
fn locks_taken_crosswise() {
    fn take(crosswise: bool) {
        let (one, other) = (Arc::new(Mutex::new(1).named("one")), Arc::new(Mutex::new(2).named("other")));
        let (a, b) = (one.clone(), other.clone());
        let (a, b) = if crosswise { (b, a) } else { (a, b) };
        let fiber = spawn(move || {
            let first = a.lock();
            *first + *b.lock()
        });
        let sum = {
            let first = one.lock();
            *first + *other.lock()
        };
        assert_eq!(sum, fiber.join().unwrap());
    }
    is_blocked(&["lock mutex 'one'", "lock mutex 'other'"], || take(true));
    is_clean(|| take(false));
}

/// cockroach/6181: read, write, read on one lock.
#[test]
fn a_reader_behind_a_writer_behind_the_reader() {
    is_blocked(&["read a readers-writer lock", "write a readers-writer lock"], || {
        let lock = Arc::new(RwLock::new(0));
        let writes = lock.clone();
        let writer = spawn(move || *writes.write() += 1);
        let outer = lock.read();
        let inner = lock.read();
        drop((inner, outer));
        writer.join().unwrap();
    });
}

/// etcd/10492: a lock taken twice by its holder.
#[test]
fn a_lock_taken_twice() {
    is_blocked(&["lock"], || {
        let lock = Mutex::new(0);
        let _held = lock.lock();
        drop(lock.lock());
    });
}

/// kubernetes/10182: a sender holds the lock that its receiver wants.
#[test]
fn a_sender_holds_the_lock_of_its_receiver() {
    fn talk(hold: bool) {
        let (tx, rx) = channel();
        let state = shared(0);
        let of_sender = state.clone();
        let sender = spawn(move || {
            let held = of_sender.lock();
            if !hold {
                drop(held);
            }
            tx.send(1).unwrap();
        });
        let receiver = spawn(move || {
            *state.lock() += 1;
            rx.recv().unwrap()
        });
        sender.join().unwrap();
        receiver.join().unwrap();
    }
    is_blocked(&["send to", "lock"], || talk(true));
    is_clean(|| talk(false));
}

/// moby/33781: the time-out wins, and a late sender waits for ever.
#[test]
fn a_late_sender() {
    fn ask(capacity: usize) {
        let (tx, rx) = channel::bounded(capacity);
        spawn(move || tx.send(1));
        let answer = choose((rx.recv_evt().wrap(Result::ok), after(Duration::from_secs(1)).wrap(|()| None)));
        let _ = answer.sync();
        // Receivers that are gone would release the sender: this one is kept.
        std::mem::forget(rx);
    }
    is_blocked(&["send to"], || ask(0));
    is_clean(|| ask(1));
}

/// cockroach/1055: a stop that waits, with a lock held that the work needs.
#[test]
fn a_stop_that_waits_under_a_lock() {
    fn stop(hold: bool) {
        let (state, group) = (shared(0), WaitGroup::new());
        let (of_work, member) = (state.clone(), group.enter());
        spawn(move || {
            *of_work.lock() += 1;
            drop(member);
        });
        let held = state.lock();
        if !hold {
            drop(held);
        }
        group.wait();
    }
    is_blocked(&["lock"], || stop(true));
    is_clean(|| stop(false));
}

/// moby/25384: a wait group that is waited for within its own loop.
#[test]
fn a_group_waited_for_in_its_loop() {
    fn all(inside: bool) {
        let group = WaitGroup::new();
        let members: Vec<_> = (0..2).map(|_| group.enter()).collect();
        for member in members {
            spawn(move || drop(member));
            if inside {
                group.wait();
            }
        }
        group.wait();
    }
    is_blocked(&["wait"], || all(true));
    is_clean(|| all(false));
}

/// moby/30408: a condition that nobody signals.
#[test]
fn a_condition_that_nobody_signals() {
    is_blocked(&["condition variable"], || {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let of_other = pair.clone();
        let other = spawn(move || *of_other.0.lock() = true);
        let ready = pair.1.wait_while(pair.0.lock(), |ready| !*ready);
        drop(ready);
        other.join().unwrap();
    });
}

/// shuttle's `notify_one_deadlock`: two wait, and one of them is woken.
#[test]
fn the_second_waiter_is_never_woken() {
    fn wake(all: bool) {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let waiters: Vec<_> = (0..2)
            .map(|_| {
                let pair = pair.clone();
                spawn(move || drop(pair.1.wait_while(pair.0.lock(), |ready| !*ready)))
            })
            .collect();
        *pair.0.lock() = true;
        if all {
            pair.1.notify_all()
        } else {
            pair.1.notify_one()
        }
        waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
    }
    is_blocked(&["condition variable"], || wake(false));
    is_clean(|| wake(true));
}

/// SCTBench's wronglock: one fiber takes another lock than the others.
#[test]
fn a_wrong_lock() {
    fn count(wrong: bool) {
        let (lock, other, data) = (shared(()), shared(()), shared(0));
        let fibers: Vec<_> = (0..2)
            .map(|n| {
                let lock = if wrong && n == 0 { other.clone() } else { lock.clone() };
                let data = data.clone();
                spawn(move || {
                    let _held = lock.lock();
                    let before = *data.lock();
                    *data.lock() = before + 1;
                })
            })
            .collect();
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
        assert_eq!(*data.lock(), 2);
    }
    panics("left: 1", || count(true));
    is_clean(|| count(false));
}

/// Philosophers, who all take the fork on their left first, or one of whom does not.
#[test]
fn philosophers() {
    fn dine(number: usize, mended: bool) {
        let forks: Vec<_> = (0..number).map(|_| shared(())).collect();
        let philosophers: Vec<_> = (0..number)
            .map(|n| {
                let (mut one, mut other) = (forks[n].clone(), forks[(n + 1) % number].clone());
                if mended && n == 0 {
                    std::mem::swap(&mut one, &mut other);
                }
                spawn(move || {
                    let _one = one.lock();
                    let _other = other.lock();
                })
            })
            .collect();
        philosophers.into_iter().for_each(|philosopher| philosopher.join().unwrap());
    }
    for number in 2..=7 {
        is_blocked(&["lock"], move || dine(number, false));
    }
    for number in 2..=4 {
        is_clean(move || dine(number, true));
    }
}

/// loom's senders: the sum does not depend on the schedule, the first value does.
#[test]
fn senders_in_any_order() {
    fn receive(check: fn(i32, i32)) {
        let (tx, rx) = channel::bounded(2);
        for n in [1, 2] {
            let tx = tx.clone();
            spawn(move || tx.send(n).unwrap());
        }
        let (first, second) = (rx.recv().unwrap(), rx.recv().unwrap());
        check(first, second);
    }
    is_clean(|| receive(|first, second| assert_eq!(first + second, 3)));
    panics("left: 2", || receive(|first, _| assert_eq!(first, 1)));
}

/// SCTBench's twostage, with 101 fibers: one value is set before the other, and a reader sees the
/// one without the other.
#[test]
fn two_stages_with_many_fibers() {
    let verdict = Checker::new().portfolio(1).executions(20_000).explore(|| {
        let (one, other) = (shared(0), shared(0));
        let writers: Vec<_> = (0..99)
            .map(|_| {
                let (one, other) = (one.clone(), other.clone());
                spawn(move || {
                    *one.lock() = 1;
                    *other.lock() = *one.lock() + 1;
                })
            })
            .collect();
        let reader = spawn(move || {
            let one = *one.lock();
            if one != 0 {
                let other = *other.lock();
                assert_eq!(other, one + 1);
            }
        });
        reader.join().unwrap();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
    });
    assert!(verdict.failure().is_some(), "{verdict}");
}

/// SCTBench's reorder, with 21 fibers: setters set two values, and a checker sees them in between.
#[test]
fn a_reordering_of_many_fibers() {
    use lisle_check::atomic::{AtomicI32, Ordering::SeqCst};
    let verdict = Checker::new().portfolio(1).executions(20_000).explore(|| {
        let values = Arc::new([AtomicI32::new(0), AtomicI32::new(0)]);
        let setters: Vec<_> = (0..20)
            .map(|_| {
                let values = values.clone();
                spawn(move || {
                    values[0].store(1, SeqCst);
                    values[1].store(-1, SeqCst);
                })
            })
            .collect();
        let checker = spawn(move || {
            let (a, b) = (values[0].load(SeqCst), values[1].load(SeqCst));
            assert!((a == 0 && b == 0) || (a == 1 && b == -1), "{a} and {b}");
        });
        checker.join().unwrap();
        setters.into_iter().for_each(|setter| setter.join().unwrap());
    });
    assert!(verdict.failure().is_some(), "{verdict}");
}

/// The first draft of `recv` in A. Wingo, *A new concurrent ML* (2017), which is marked there as
/// racy: a fiber that comes to a meeting-place looks for a partner, and then waits to be found by
/// one. Two fibers that look at the same time do not see each other, and both wait. The queues have
/// room for one here.
#[test]
fn a_meeting_place_where_both_wait() {
    use lisle::sync::IVar;
    use lisle_check::atomic::{AtomicU32, Ordering::SeqCst};
    use lisle_check::hint::spin_loop;

    /// Nobody waits in the queue; somebody does, and can be met; is about to meet another; has met
    /// one.
    const AWAY: u32 = 0;
    const WAITS: u32 = 1;
    const CLAIMS: u32 = 2;
    const MET: u32 = 3;

    struct Queue {
        state: AtomicU32,
        /// The value of a sender, and of a receiver when it has met one.
        value: AtomicU32,
        resume: IVar<()>,
    }

    impl Queue {
        fn new(name: &str) -> Queue {
            let resume = IVar::new().named(name);
            Queue { state: AtomicU32::new(AWAY), value: AtomicU32::new(0), resume }
        }

        fn turns(&self, from: u32, to: u32) -> Result<u32, u32> {
            self.state.compare_exchange(from, to, SeqCst, SeqCst)
        }
    }

    #[derive(Clone, Copy, PartialEq)]
    enum Role {
        Sends,
        Receives,
    }

    struct Channel {
        receiver: Queue,
        sender: Queue,
        is_mended: bool,
    }

    impl Channel {
        fn send(&self, value: u32) {
            self.sender.value.store(value, SeqCst);
            self.meet(Role::Sends);
        }

        fn recv(&self) -> u32 {
            self.meet(Role::Receives);
            self.receiver.value.load(SeqCst)
        }

        fn meet(&self, role: Role) {
            let (me, other) = match role {
                Role::Sends => (&self.sender, &self.receiver),
                Role::Receives => (&self.receiver, &self.sender),
            };
            loop {
                match other.turns(WAITS, MET) {
                    Ok(_) => return self.hand_over(other),
                    Err(CLAIMS) => spin_loop(),
                    Err(_) => break,
                }
            }
            me.state.store(WAITS, SeqCst);
            if !(self.is_mended && self.meets_after_all(me, other, role)) {
                me.resume.get();
            }
        }

        fn hand_over(&self, other: &Queue) {
            self.receiver.value.store(self.sender.value.load(SeqCst), SeqCst);
            other.resume.put(()).unwrap();
        }

        /// Looks again, now that the other can see the one that looks. Returns `true` if they meet,
        /// and `false` if it is to wait, or has been met.
        fn meets_after_all(&self, me: &Queue, other: &Queue, role: Role) -> bool {
            loop {
                if me.turns(WAITS, CLAIMS).is_err() {
                    return false;
                }
                let mut met = other.turns(WAITS, MET);
                // Of two that claim each other, the receiver insists and the sender gives way. If
                // both gave way, they could do so for ever.
                while role == Role::Receives && met == Err(CLAIMS) {
                    spin_loop();
                    met = other.turns(WAITS, MET);
                }
                me.state.store(if met.is_ok() { MET } else { WAITS }, SeqCst);
                match met {
                    Ok(_) => {
                        self.hand_over(other);
                        return true;
                    }
                    Err(CLAIMS) => {
                        while other.state.load(SeqCst) == CLAIMS {
                            spin_loop();
                        }
                    }
                    Err(_) => return false,
                }
            }
        }
    }

    fn one_message(is_mended: bool) {
        let (receiver, sender) = (Queue::new("the receiver's turn"), Queue::new("the sender's turn"));
        let channel = Arc::new(Channel { receiver, sender, is_mended });
        let of_sender = channel.clone();
        let sender = spawn(move || of_sender.send(7));
        assert_eq!(channel.recv(), 7);
        sender.join().unwrap();
    }
    is_blocked(&["the sender's turn", "the receiver's turn"], || one_message(false));
    is_clean(|| one_message(true));
}
