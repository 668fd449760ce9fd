//! By default the checker also samples: it finds failures that chance finds at once and the
//! exploration only after long.

use lisle::channel::{self, Sender};
use lisle::spawn;
use lisle::sync::{Mutex, WaitGroup};
use lisle::time::ticker;
use lisle_check::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering::SeqCst};
use lisle_check::hint::spin_loop;
use lisle_check::{Checker, Counts};
use std::sync::Arc;
use std::time::Duration;

/// etcd's issue 7492: a sender holds the lock that the receiver wants first.
fn tokens(is_bad: bool) {
    let lock = Arc::new(Mutex::new(()).named("tokens"));
    let (add, added) = channel::named::<()>("add", 1);
    let (stop, stopped) = channel::named::<Sender<()>>("stop", 0);
    let of_keeper = lock.clone();
    spawn(move || {
        let ticker = ticker(Duration::from_millis(1)).named("ticker");
        let (mut has_tokens, mut ticks) = (false, 0);
        loop {
            if ticks < 2 {
                lisle::select! {
                    got = added.recv_evt() => has_tokens |= got.is_ok(),
                    _ = ticker.tick_evt() => {
                        ticks += 1;
                        if has_tokens {
                            drop(of_keeper.lock());
                            has_tokens = false;
                        }
                    },
                    who = stopped.recv_evt() => return who.unwrap().send(()).unwrap(),
                }
            } else {
                lisle::select! {
                    got = added.recv_evt() => has_tokens |= got.is_ok(),
                    who = stopped.recv_evt() => return who.unwrap().send(()).unwrap(),
                }
            }
        }
    });
    let senders = WaitGroup::new();
    for _ in 0..3 {
        let (member, lock, add) = (senders.enter(), lock.clone(), add.clone());
        spawn(move || {
            let held = is_bad.then(|| lock.lock());
            add.send(()).unwrap();
            drop(held);
            drop(member);
        });
    }
    senders.wait();
    let (done, is_done) = lisle::channel();
    stop.send(done).unwrap();
    is_done.recv().unwrap();
}

#[test]
fn what_many_schedules_have_is_found() {
    let verdict = Checker::new().executions(20_000).explore(|| tokens(true));
    let failure = verdict.failure().unwrap_or_else(|| panic!("{verdict}"));
    assert!(failure.blocked().is_some(), "{verdict}");
    // The exploration itself has not come to it.
    assert_eq!(verdict.counts().blocked, 0);
    assert_eq!(verdict.sampled().blocked, 1);
    assert!(verdict.to_string().contains(" that were drawn by chance: nothing can go on"), "{verdict}");
    // It is told as others are.
    assert!(failure.to_string().contains("lock mutex 'tokens'"), "{failure}");
    let again = Checker::new().replay(&failure.token()).unwrap().explore(|| tokens(true));
    assert!(again.failure().unwrap().blocked().is_some(), "{again}");
    // Without it the exploration ends before.
    let without = Checker::new().sampling(false).executions(5_000).explore(|| tokens(true));
    assert!(without.failure().is_none() && without.sampled() == Counts::default(), "{without}");
}

#[test]
fn what_is_drawn_counts_by_itself() {
    let verdict = Checker::new().executions(3_000).explore(|| tokens(false));
    assert!(verdict.is_bounded() && verdict.failure().is_none(), "{verdict}");
    assert_eq!(verdict.counts().all(), 3_000);
    let drawn = verdict.sampled().complete;
    assert!((1..=3_000).contains(&drawn), "{verdict}");
    assert!(verdict.to_string().contains(" drawn by chance"), "{verdict}");
}

/// Computes for some hundredths of a second, optimized or not.
fn compute() {
    let (from, mut to) = (vec![1_u8; 1 << 20], vec![0_u8; 1 << 20]);
    (0..600).for_each(|_| std::hint::black_box(&mut to).copy_from_slice(std::hint::black_box(&from)));
}

/// A program with few executions counts as large if each takes long. The executions drawn at random
/// may be short.
#[test]
fn few_executions_that_take_long_are_many() {
    let program = || {
        let order = Arc::new(Mutex::new(Vec::new()));
        let fibers = [0, 1, 2, 3, 4, 5].map(|n| {
            let order = order.clone();
            spawn(move || order.lock().push(n))
        });
        let _ = fibers.map(|fiber| fiber.join().unwrap());
        let order = std::mem::take(&mut *order.lock());
        if order[0] == 0 {
            compute();
        }
        assert!(order[0] != 5 || order[1] != 4, "these two come first");
    };
    let verdict = Checker::new().explore(program);
    let report = verdict.failure().unwrap_or_else(|| panic!("{verdict}")).to_string();
    assert!(report.contains("these two come first"), "{report}");
    assert!(verdict.counts().failed == 0 && verdict.counts().complete < 120, "{:?}", verdict.counts());
}

/// Pauses come between executions: none is lost, and none is run twice.
#[test]
fn a_pause_changes_nothing() {
    let verdict = Checker::new().workers(2).explore(|| {
        let order = Arc::new(Mutex::new(()));
        let fibers = [(); 5].map(|()| {
            let order = order.clone();
            spawn(move || drop(order.lock()))
        });
        let _ = fibers.map(|fiber| fiber.join().unwrap());
        compute();
    });
    assert_eq!(verdict.to_string(), "exhaustive: 120 executions, all end");
    assert_eq!(verdict.counts().all(), 120);
    assert!(verdict.sampled().complete > 0, "{:?}", verdict.sampled());
}

#[test]
fn small_programs_do_not_pay() {
    let verdict = Checker::new().explore(|| {
        let total = Arc::new(Mutex::new(0));
        let adders = [(); 5].map(|()| {
            let total = total.clone();
            spawn(move || *total.lock() += 1)
        });
        let _ = adders.map(|adder| adder.join().unwrap());
    });
    assert_eq!(verdict.to_string(), "exhaustive: 120 executions, all end");
    assert_eq!(verdict.sampled(), Counts::default());
}

/// A queue from which others steal (after Cilk's), whose thief writes the head after the test.
struct Queue {
    lock: AtomicBool,
    head: AtomicI64,
    tail: AtomicI64,
    elements: [AtomicUsize; 8],
}

impl Queue {
    fn acquire(&self) {
        while self.lock.swap(true, SeqCst) {
            spin_loop();
        }
    }

    fn release(&self) {
        self.lock.store(false, SeqCst);
    }

    fn element(&self, at: i64) -> usize {
        self.elements[at as usize % 8].load(SeqCst)
    }

    fn steal(&self) -> Option<usize> {
        self.acquire();
        let head = self.head.load(SeqCst);
        let stolen = (head < self.tail.load(SeqCst)).then(|| {
            self.head.store(head + 1, SeqCst);
            self.element(head)
        });
        self.release();
        stolen
    }

    fn pop(&self) -> Option<usize> {
        let tail = self.tail.load(SeqCst) - 1;
        self.tail.store(tail, SeqCst);
        if self.head.load(SeqCst) <= tail {
            return Some(self.element(tail));
        }
        self.tail.store(tail + 1, SeqCst);
        self.acquire();
        let popped = (self.head.load(SeqCst) <= tail).then(|| {
            self.tail.store(tail, SeqCst);
            self.element(tail)
        });
        self.release();
        popped
    }

    fn push(&self, element: usize) {
        let tail = self.tail.load(SeqCst);
        self.elements[tail as usize % 8].store(element, SeqCst);
        self.tail.store(tail + 1, SeqCst);
    }
}

#[test]
fn an_element_is_taken_twice() {
    let program = || {
        let queue = Arc::new(Queue {
            lock: AtomicBool::new(false),
            head: AtomicI64::new(0),
            tail: AtomicI64::new(0),
            elements: [const { AtomicUsize::new(0) }; 8],
        });
        let taken = Arc::new([const { AtomicUsize::new(0) }; 2]);
        let (of_thief, taken_by_thief) = (queue.clone(), taken.clone());
        let thief = spawn(move || {
            if let Some(element) = of_thief.steal() {
                taken_by_thief[element].fetch_add(1, SeqCst);
            }
        });
        queue.push(0);
        queue.push(1);
        for _ in 0..2 {
            if let Some(element) = queue.pop() {
                taken[element].fetch_add(1, SeqCst);
            }
        }
        thief.join().unwrap();
        assert_eq!(taken.each_ref().map(|count| count.load(SeqCst)), [1, 1], "lost or taken twice");
    };
    let verdict = Checker::new().explore(program);
    let report = verdict.failure().unwrap_or_else(|| panic!("{verdict}")).to_string();
    assert!(report.contains("lost or taken twice"), "{report}");
}
