//! Fibers that borrow.

use crate::support::{on_domains, watched};
use lisle::fiber::{self, scope};
use lisle::time::sleep;
use lisle::{Event, channel};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

#[test]
fn fibers_borrow_from_their_spawner() {
    on_domains(|| {
        let numbers: Vec<u64> = (0..1_000).collect();
        let total = AtomicUsize::new(0);
        let halves = scope(|scope| {
            let (left, right) = numbers.split_at(500);
            let left = scope.spawn(|| left.iter().sum::<u64>());
            let right = scope.spawn(|| right.iter().sum::<u64>());
            for _ in 0..10 {
                scope.spawn(|| {
                    fiber::yield_now();
                    total.fetch_add(1, Ordering::Relaxed);
                });
            }
            left.join().unwrap() + right.join_evt().sync().unwrap()
        });
        assert_eq!(halves, 499_500);
        assert_eq!(total.into_inner(), 10, "the scope has waited for all");
    });
}

#[test]
fn a_result_may_borrow_as_well() {
    on_domains(|| {
        let words = ["a".to_string(), "longer".into()];
        let longest =
            scope(|scope| scope.spawn(|| words.iter().max_by_key(|w| w.len()).unwrap()).join().unwrap());
        assert_eq!(longest, "longer");
    });
}

#[test]
fn scopes_nest_and_spawn_from_their_fibers() {
    fn tree(depth: usize) -> usize {
        if depth == 0 {
            return 1;
        }
        scope(|scope| {
            let children = [(); 3].map(|()| scope.spawn(move || tree(depth - 1)));
            children.into_iter().map(|child| child.join().unwrap()).sum()
        })
    }
    on_domains(|| {
        assert_eq!(tree(5), 243);
        let count = AtomicUsize::new(0);
        scope(|outer| {
            outer.spawn(|| {
                outer.spawn(|| {
                    sleep(Duration::from_millis(1));
                    count.fetch_add(1, Ordering::Relaxed);
                });
                count.fetch_add(1, Ordering::Relaxed);
            });
        });
        assert_eq!(count.into_inner(), 2);
    });
}

/// The panic of the scope's own function waits for the fibers, which may be using values that it
/// would unwind.
#[test]
fn a_panic_in_the_scope_waits_for_its_fibers() {
    on_domains(|| {
        let ended = AtomicUsize::new(0);
        let caught = catch_unwind(AssertUnwindSafe(|| {
            scope(|scope| {
                scope.spawn(|| {
                    sleep(Duration::from_millis(3));
                    ended.fetch_add(1, Ordering::SeqCst);
                });
                resume_unwind(Box::new("the scope's own"))
            })
        }));
        let panic: Box<dyn std::any::Any + Send> = caught.unwrap_err();
        assert_eq!(*panic.downcast::<&str>().unwrap(), "the scope's own");
        assert_eq!(ended.into_inner(), 1);
    });
}

#[test]
fn a_panic_of_a_scoped_fiber_is_not_swallowed() {
    on_domains(|| {
        let joined = scope(|scope| scope.spawn(|| resume_unwind(Box::new("joined"))).join());
        assert!(joined.unwrap_err().is_panic());
        let caught = catch_unwind(|| {
            scope(|scope| {
                scope.spawn(|| resume_unwind(Box::new("not joined")));
            })
        });
        let panic = caught.unwrap_err();
        assert!(panic.downcast_ref::<&str>().unwrap().contains("was not joined"));
    });
}

/// On a plain thread a scope's fibers run on the default runtime, and the thread waits for them.
#[test]
fn a_scope_on_a_plain_thread() {
    let _watched = watched();
    let (tx, rx) = channel::<u32>();
    let borrowed = 5;
    let got = scope(|scope| {
        let fiber = scope.spawn(|| rx.recv().unwrap() + borrowed);
        tx.send(37).unwrap();
        fiber.join().unwrap()
    });
    assert_eq!(got, 42);
}

#[test]
fn a_scoped_fiber_can_be_cancelled() {
    on_domains(|| {
        scope(|scope| {
            let fiber = scope.spawn(|| fiber::cancelled_evt().sync());
            assert!(!fiber.is_finished());
            fiber.cancel();
            fiber.join().unwrap();
        });
    });
}
