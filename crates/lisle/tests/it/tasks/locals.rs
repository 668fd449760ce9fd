//! Values that belong to a task move with it.

use super::{Counted, Then, come_back, everywhere, until};
use crate::support::{on_domains, watched};
use lisle::{Runtime, channel, spawn_task, task};
use std::cell::{Cell, RefCell};
use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

lisle::task_local! {
    static NUMBER: Cell<usize> = Cell::new(7);
    static HELD: RefCell<Vec<Counted>> = RefCell::new(Vec::new());
    static OTHER: Cell<usize> = Cell::new(NUMBER.with(Cell::get) + 1);
}

#[test]
fn each_has_its_own() {
    everywhere(|| {
        NUMBER.with(|number| number.set(1));
        let inner = spawn_task(async {
            assert_eq!((OTHER.with(Cell::get), NUMBER.with(Cell::get)), (8, 7));
            NUMBER.with(|number| number.set(2));
            let innermost = spawn_task(async {
                assert_eq!(NUMBER.with(|number| number.replace(3)), 7);
                come_back().await;
                NUMBER.with(Cell::get)
            });
            assert_eq!(NUMBER.with(Cell::get), 2);
            come_back().await;
            (NUMBER.with(Cell::get), innermost.await.unwrap())
        });
        assert_eq!(NUMBER.with(Cell::get), 1);
        assert_eq!(inner.join().unwrap(), (2, 3));
        assert_eq!(NUMBER.with(Cell::get), 1);
    });
}

/// The task moves from domain to domain until it has been on two.
#[test]
fn they_migrate() {
    let _watched = watched();
    Runtime::builder().domains(2).run(|| {
        let (tx, rx) = channel::<()>();
        let task = spawn_task(async move {
            let mut seen = std::collections::HashSet::new();
            for round in 0.. {
                NUMBER.with(|number| number.set(round));
                rx.recv_evt().await.unwrap();
                assert_eq!(NUMBER.with(Cell::get), round);
                seen.insert(thread::current().id());
                if seen.len() == 2 {
                    return;
                }
            }
        });
        // The sender makes it continue.
        for domain in [0, 1].into_iter().cycle() {
            let tx = tx.clone();
            if lisle::fiber::spawn_on(domain, move || tx.send(())).join().unwrap().is_err() {
                break;
            }
        }
        task.join().unwrap();
        assert!(lisle::statistics().migrations > 0);
    });
}

#[test]
fn they_are_dropped_with_it() {
    everywhere(|| {
        let count = Arc::new(AtomicUsize::new(0));
        let hold = || HELD.with(|held| held.borrow_mut().push(Counted::new(&count)));
        lisle::fiber::scope(|scope| {
            scope.spawn_task(async { hold() }).join().unwrap();
            assert_eq!(count.load(Ordering::SeqCst), 0);
            scope
                .spawn_task(async {
                    hold();
                    come_back().await;
                    hold();
                    assert_eq!(HELD.with(|held| held.borrow().len()), 2);
                })
                .join()
                .unwrap();
            assert_eq!(count.load(Ordering::SeqCst), 0);
            let waits = scope.spawn_task(async {
                hold();
                pending::<()>().await;
            });
            until(|| count.load(Ordering::SeqCst) == 1);
            waits.cancel();
            assert!(waits.join().is_err());
            assert_eq!(count.load(Ordering::SeqCst), 0);
            let panics = scope.spawn_task(async {
                hold();
                std::panic::resume_unwind(Box::new(())) as ()
            });
            assert!(panics.join().is_err());
            assert_eq!(count.load(Ordering::SeqCst), 0);
        });
    });
}

/// A destructor may use its task's locals, and create new ones.
#[test]
fn destructors_use_them() {
    type Says = Box<dyn FnMut() + Send>;
    lisle::task_local! {
        static LAST: RefCell<Option<Then<Says>>> = RefCell::new(None);
    }
    on_domains(|| {
        let heard = Arc::new(Mutex::new(Vec::new()));
        for waits in [false, true] {
            for cancelled in [false, true] {
                let (says, says_too) = (heard.clone(), heard.clone());
                let begun = Arc::new(AtomicUsize::new(0));
                let begins = begun.clone();
                let task = spawn_task(async move {
                    NUMBER.with(|number| number.set(40));
                    let last: Says =
                        Box::new(move || says.lock().unwrap().push(NUMBER.with(|n| n.replace(1))));
                    LAST.with(|place| *place.borrow_mut() = Some(Then(last)));
                    let _then = Then(move || says_too.lock().unwrap().push(NUMBER.with(Cell::get)));
                    begins.store(1, Ordering::SeqCst);
                    if waits {
                        come_back().await;
                    }
                    if cancelled {
                        pending::<()>().await;
                    }
                });
                until(|| begun.load(Ordering::SeqCst) == 1);
                task.cancel();
                drop(task.join());
                // The local with the number was dropped first, since it was created last or not at
                // all.
                let heard = std::mem::take(&mut *heard.lock().unwrap());
                assert_eq!(heard.len(), 2);
                assert_eq!(heard[0], 40);
                assert!([7, 40].contains(&heard[1]), "{heard:?}");
            }
        }
    });
}

/// An attached task runs on another's stack, and so do its destructors if it is cancelled there.
#[test]
fn an_attached_task_has_its_own() {
    on_domains(|| {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let place = Arc::new(Mutex::new(None));
        let (says, gives) = (heard.clone(), place.clone());
        let guest = spawn_task(async move {
            NUMBER.with(|number| number.set(50));
            let _then = Then(move || says.lock().unwrap().push(NUMBER.with(Cell::get)));
            task::reify::<(), _>(|me| *gives.lock().unwrap() = Some(me)).await.unwrap();
            assert_eq!(NUMBER.with(Cell::get), 50);
        });
        let attaches = spawn_task(async move {
            NUMBER.with(|number| number.set(60));
            let mut me = None;
            until(|| {
                me = place.lock().unwrap().take();
                me.is_some()
            });
            me.unwrap().prepare(()).attach().unwrap();
            assert_eq!(NUMBER.with(Cell::get), 60);
        });
        attaches.join().unwrap();
        guest.join().unwrap();
        assert_eq!(*heard.lock().unwrap(), [50]);
    });
}

#[test]
fn a_detached_ones_locals_are_dropped() {
    on_domains(|| {
        let count = Arc::new(AtomicUsize::new(0));
        let (tx, rx) = channel::<()>();
        for _ in 0..100 {
            let (count, rx) = (count.clone(), rx.clone());
            drop(spawn_task(async move {
                HELD.with(|held| held.borrow_mut().push(Counted::new(&count)));
                rx.recv_evt().await.unwrap();
            }));
        }
        until(|| count.load(Ordering::SeqCst) == 100);
        (0..100).for_each(|_| tx.send(()).unwrap());
        until(|| count.load(Ordering::SeqCst) == 0);
    });
}
