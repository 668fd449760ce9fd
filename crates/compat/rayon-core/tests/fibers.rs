//! Pools and fibers: what is so only here. rayon's own tests check the rest.

use lisle_runtime::facade as lisle;

use lisle::{Runtime, fiber};
use rayon_core::{ThreadPool, ThreadPoolBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc;
use std::sync::{Arc, Barrier};

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

#[test]
fn the_pool_of_a_fiber_is_its_runtime() {
    Runtime::builder().domains(3).run(|| {
        assert_eq!(rayon_core::current_num_threads(), 3);
        assert_eq!(rayon_core::current_thread_index(), fiber::domain());
        assert_eq!(
            rayon_core::broadcast(|context| (context.index(), context.num_threads())),
            [(0, 3), (1, 3), (2, 3)]
        );
        let (tx, rx) = lisle::channel::bounded(1);
        rayon_core::spawn(move || tx.send(lisle::Handle::current()).unwrap());
        assert_eq!(rx.recv(), Ok(lisle::Handle::current()));
    });
}

#[test]
fn a_fiber_that_waits_for_a_pool_lets_its_domain_run_others() {
    let pool = pool(1);
    Runtime::builder().domains(1).run(|| {
        let (tx, rx) = mpsc::channel();
        drop(lisle::spawn(move || tx.send(1).unwrap()));
        assert_eq!(pool.install(move || rx.recv()), Ok(1));

        let (tx, rx) = mpsc::channel();
        drop(lisle::spawn(move || tx.send(2).unwrap()));
        assert_eq!(pool.broadcast(|_| 3), [3]);
        pool.in_place_scope(|s| s.spawn(move |_| assert_eq!(rx.recv(), Ok(2))));
    });
}

#[test]
fn a_job_that_waits_does_not_keep_the_others_of_its_thread_waiting() {
    let pool = pool(1);
    let (tx, rx) = lisle::channel::<u32>();
    pool.scope(|s| {
        s.spawn(|_| tx.send(7).unwrap());
        s.spawn(|_| assert_eq!(rx.recv(), Ok(7))); // the newest runs first
    });
    pool.scope_fifo(|s| {
        s.spawn_fifo(|_| assert_eq!(rx.recv(), Ok(8))); // the oldest runs first
        s.spawn_fifo(|_| tx.send(8).unwrap());
    });
    let (done, all) = mpsc::channel();
    let (tx, rx) = (tx.clone(), rx.clone());
    pool.spawn({
        let done = done.clone();
        move || done.send(rx.recv().unwrap()).unwrap()
    });
    pool.spawn(move || {
        tx.send(9).unwrap();
        done.send(10).unwrap();
    });
    let mut values: Vec<_> = all.iter().collect();
    values.sort_unstable();
    assert_eq!(values, [9, 10]);
}

#[test]
fn the_jobs_of_a_scope_all_run_at_once_if_all_wait_for_each_other() {
    let pool = pool(2);
    let all = lisle::sync::Latch::new(100);
    let count = AtomicUsize::new(0);
    pool.scope(|s| {
        for _ in 0..100 {
            s.spawn(|_| {
                all.count_down();
                all.wait();
                count.fetch_add(1, Relaxed);
            });
        }
    });
    assert_eq!(count.into_inner(), 100);
}

#[test]
fn a_job_begins_on_an_idle_thread_although_its_spawner_blocks_its_own() {
    let pool = pool(2);
    for _ in 0..100 {
        pool.scope(|s| {
            let (tx, rx) = mpsc::channel();
            s.spawn(move |_| tx.send(rayon_core::current_thread_index()).unwrap());
            assert_ne!(rx.recv().unwrap(), rayon_core::current_thread_index());
        });
    }
}

#[test]
fn the_second_closure_has_migrated_if_another_thread_runs_it() {
    let (pool, barrier) = (pool(2), Barrier::new(2));
    let meets = |context: rayon_core::FnContext| {
        barrier.wait();
        (context.migrated(), rayon_core::current_thread_index())
    };
    let ((first, here), (second, there)) = pool.install(|| rayon_core::join_context(meets, meets));
    assert_eq!((first, second), (false, true));
    assert_ne!(here, there);
}

#[test]
fn a_scope_ends_with_its_runtime_and_its_jobs_are_dropped() {
    struct Told(mpsc::Sender<()>);
    impl Drop for Told {
        fn drop(&mut self) {
            self.0.send(()).unwrap();
        }
    }
    let (tx, rx) = mpsc::channel();
    let (_never, waits) = lisle::channel::<u32>();
    Runtime::builder().domains(1).run(|| {
        drop(lisle::spawn(move || {
            let (told, borrowed) = (Told(tx), waits);
            rayon_core::scope(|s| {
                for _ in 0..10 {
                    s.spawn(|_| _ = borrowed.recv());
                }
            });
            drop(told);
            unreachable!("the jobs have waited in vain");
        }));
        (0..10).for_each(|_| fiber::yield_now());
    });
    assert_eq!(rx.iter().count(), 1);
}

#[test]
fn all_jobs_of_a_dropped_pool_run_before_its_threads_end() {
    let (tx, rx) = mpsc::channel();
    let (exits, exited) = mpsc::channel();
    let builder =
        ThreadPoolBuilder::new().num_threads(2).exit_handler(move |index| exits.send(index).unwrap());
    let pool = Arc::new(builder.build().unwrap());
    for i in 0..100 {
        let (tx, pool2) = (tx.clone(), pool.clone());
        pool.spawn(move || {
            let tx2 = tx.clone();
            pool2.spawn_fifo(move || tx2.send(i).unwrap());
            tx.send(i).unwrap();
        });
    }
    drop((tx, pool));
    assert_eq!(rx.iter().count(), 200);
    assert_eq!(exited.iter().sum::<usize>(), 1);
}

#[test]
fn handlers_know_their_thread() {
    let (tx, rx) = mpsc::channel();
    let tell = move |index| {
        tx.send((index, rayon_core::current_thread_index(), rayon_core::current_num_threads())).unwrap();
    };
    let builder = ThreadPoolBuilder::new().num_threads(3);
    drop(builder.start_handler(tell.clone()).exit_handler(tell).build().unwrap());
    let mut told: Vec<_> = rx.iter().collect();
    told.sort_unstable();
    let each = [0, 0, 1, 1, 2, 2];
    assert_eq!(told, each.map(|index| (index, Some(index), 3)));
}

/// A job could be on the very domain that the scope would block.
#[test]
fn a_scope_takes_no_jobs_where_nothing_may_wait() {
    let pool = pool(1);
    let calls: [fn(); 3] = [
        || rayon_core::scope(|s| s.spawn(|_| unreachable!())),
        || rayon_core::scope_fifo(|s| s.spawn_fifo(|_| unreachable!())),
        || drop(rayon_core::broadcast(|_| unreachable!())),
    ];
    for call in calls {
        let refused =
            catch_unwind(AssertUnwindSafe(|| pool.install(|| fiber::no_suspend(call)))).unwrap_err();
        let message = refused.downcast::<String>().unwrap();
        assert!(
            message.ends_with("this would have to wait for a job of a scope or of a broadcast"),
            "{message}"
        );
    }
    // A scope without jobs does not wait. One that was opened outside takes jobs.
    assert_eq!(pool.install(|| fiber::no_suspend(|| rayon_core::scope(|_| 7))), 7);
    let count = AtomicUsize::new(0);
    pool.scope(|s| fiber::no_suspend(|| s.spawn(|_| _ = count.fetch_add(1, Relaxed))));
    assert_eq!(count.into_inner(), 1);
}

#[test]
fn the_first_panic_of_a_scope_goes_on_when_all_jobs_have_ended() {
    let (pool, count) = (pool(2), AtomicUsize::new(0));
    let scope = || {
        pool.scope(|s| {
            for i in 0..50 {
                s.spawn({
                    let count = &count;
                    move |_| {
                        count.fetch_add(1, Relaxed);
                        assert_ne!(i, 25, "the one");
                    }
                });
            }
        });
    };
    let panic = catch_unwind(AssertUnwindSafe(scope)).unwrap_err();
    assert!(panic.downcast_ref::<String>().unwrap().contains("the one"));
    assert_eq!(count.into_inner(), 50);
}

/// The destructor of a thread-local may run when those of this package have run.
#[test]
fn a_thread_that_ends_may_still_use_the_global_pool() {
    struct Last(std::sync::mpsc::Sender<u32>);
    impl Drop for Last {
        fn drop(&mut self) {
            self.0.send(rayon_core::scope(|_| 6 * 7)).unwrap();
        }
    }
    thread_local! {
        static LAST: std::cell::RefCell<Option<Last>> = const { std::cell::RefCell::new(None) };
    }

    let (tx, rx) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        // It comes before what the scope needs, and is dropped after that.
        LAST.set(Some(Last(tx)));
        rayon_core::scope(|_| ());
    });
    thread.join().unwrap();
    assert_eq!(rx.recv(), Ok(42));
}
