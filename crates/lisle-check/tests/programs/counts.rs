//! How many executions there are: neither one too many nor one too few.

use lisle::sync::Mutex;
use lisle_check::Checker;
use std::sync::Arc;

fn complete(program: impl Fn() + Send + Sync + 'static) -> (u64, u64) {
    let verdict = Checker::new().explore(program);
    println!("{verdict}");
    (verdict.counts().complete, verdict.counts().redundant)
}

#[test]
fn one_fiber_has_one_schedule() {
    assert_eq!(complete(|| ()), (1, 0));
    assert_eq!(complete(|| lisle::spawn(|| ()).join().unwrap()), (1, 0));
}

#[test]
fn what_does_not_meet_has_one_schedule() {
    assert_eq!(
        complete(|| {
            let fibers = [1, 2, 3].map(|n| {
                lisle::spawn(move || {
                    let own = Mutex::new(n);
                    *own.lock() += 1;
                    *own.lock()
                })
            });
            let _ = fibers.map(|fiber| fiber.join().unwrap());
        }),
        (1, 0)
    );
}

#[test]
fn two_fibers_take_one_lock_in_two_orders() {
    for (fibers, orders) in [(2, 2), (3, 6), (4, 24)] {
        assert_eq!(
            complete(move || {
                let count = Arc::new(Mutex::new(0));
                let all: Vec<_> = (0..fibers)
                    .map(|_| {
                        let count = count.clone();
                        lisle::spawn(move || *count.lock() += 1)
                    })
                    .collect();
                all.into_iter().for_each(|fiber| fiber.join().unwrap());
                assert_eq!(*count.lock(), fibers);
            }),
            (orders, 0)
        );
    }
}

#[test]
fn a_message_is_sent_in_one_way() {
    assert_eq!(
        complete(|| {
            let (tx, rx) = lisle::channel();
            let sender = lisle::spawn(move || tx.send(1).unwrap());
            assert_eq!(rx.recv(), Ok(1));
            sender.join().unwrap();
        })
        .1,
        0
    );
}

mod atomics {
    use super::complete;
    use lisle_check::atomic::{AtomicU32, Ordering::SeqCst};
    use std::sync::Arc;

    fn variables(n: usize) -> Arc<Vec<AtomicU32>> {
        Arc::new((0..n).map(|_| AtomicU32::new(0)).collect())
    }

    /// A reader of one variable, and a writer each of N variables of which this is one: of 2^N.
    #[test]
    fn readers() {
        for n in 1..=8 {
            let readers = move || {
                let x = variables(1);
                let writer = x.clone();
                let writer = lisle::spawn(move || writer[0].store(1, SeqCst));
                let readers: Vec<_> = (0..n)
                    .map(|_| {
                        let x = x.clone();
                        lisle::spawn(move || x[0].load(SeqCst))
                    })
                    .collect();
                writer.join().unwrap();
                readers.into_iter().for_each(|reader| assert!(reader.join().unwrap() <= 1));
            };
            assert_eq!(complete(readers), (1 << n, 0), "{n}");
        }
    }

    /// `lastzero`: a reader looks for the last zero of an array whose elements are made one more
    /// than the one before.
    #[test]
    fn last_zero() {
        for (n, executions) in [(1, 2), (2, 5), (3, 12), (4, 28)] {
            let program = move || {
                let array = variables(n + 1);
                let of_reader = array.clone();
                let mut fibers = vec![lisle::spawn(move || {
                    let mut i = n;
                    while of_reader[i].load(SeqCst) != 0 {
                        i -= 1;
                    }
                })];
                for i in 1..=n {
                    let array = array.clone();
                    fibers.push(lisle::spawn(move || array[i].store(array[i - 1].load(SeqCst) + 1, SeqCst)));
                }
                fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
            };
            assert_eq!(complete(program), (executions, 0), "{n}");
        }
    }

    /// Store buffering: three executions under sequential consistency.
    #[test]
    fn store_buffering() {
        let program = || {
            let x = variables(2);
            let other = x.clone();
            let other = lisle::spawn(move || {
                other[0].store(1, SeqCst);
                other[1].load(SeqCst)
            });
            x[1].store(1, SeqCst);
            let here = x[0].load(SeqCst);
            assert_ne!(here + other.join().unwrap(), 0);
        };
        assert_eq!(complete(program), (3, 0));
    }
}
