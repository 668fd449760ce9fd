//! Destructors that panic: each value that the library holds is dropped, even if the destructors of
//! others panic, and the process continues. (Two panics at a time would end it, and with it all
//! tests.)

use crate::support::child::{Ended, part};
use crate::support::{Cx, poll_once, watched, worlds};
use lisle::channel::{Multicast, bounded, unbounded};
use lisle::event::{WaitSet, choose_all};
use lisle::rpc::rpc;
use lisle::{Event, choose, never};
use std::future::IntoFuture;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

worlds!(
    messages_in_a_buffer,
    messages_in_a_mailbox,
    messages_of_a_multicast_channel,
    messages_of_asynchronous_sends,
    sources_of_a_wait_set,
    messages_of_a_choice_that_is_given_up,
    values_of_parts_that_have_happened,
    requests_that_nobody_serves,
    while_the_performer_unwinds_anyway,
);

/// Counts that it was dropped, and panics without a message.
#[derive(Clone)]
struct Bomb(Arc<AtomicUsize>);

impl Drop for Bomb {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
        resume_unwind(Box::new("a bomb"));
    }
}

#[derive(Default)]
struct Bombs(Arc<AtomicUsize>);

impl Bombs {
    fn make(&self) -> Bomb {
        Bomb(self.0.clone())
    }

    /// Asserts that `f` runs `count` destructors and panics as the first of them does.
    #[track_caller]
    fn go_off(&self, count: usize, f: impl FnOnce()) {
        let before = self.0.load(SeqCst);
        let panic = catch_unwind(AssertUnwindSafe(f)).expect_err("the first panic goes on");
        assert_eq!(*panic.downcast::<&str>().unwrap(), "a bomb");
        assert_eq!(self.0.load(SeqCst) - before, count);
    }
}

async fn messages_in_a_buffer(_: Cx) {
    let bombs = Bombs::default();
    for count in [1, 2, 5] {
        let (tx, rx) = bounded(8);
        (0..count).for_each(|_| assert!(tx.try_send(bombs.make()).is_ok()));
        bombs.go_off(count, || drop(rx));
        assert!(tx.is_closed() && tx.is_empty());
    }
}

async fn messages_in_a_mailbox(_: Cx) {
    let bombs = Bombs::default();
    for count in [2, 70] {
        let (tx, rx) = unbounded();
        (0..count).for_each(|_| assert!(tx.send(bombs.make()).is_ok()));
        bombs.go_off(count, || drop(rx));
        assert!(tx.is_closed() && tx.is_empty());
    }
}

async fn messages_of_a_multicast_channel(_: Cx) {
    let bombs = Bombs::default();
    let news = Multicast::new();
    let port = news.port();
    (0..5).for_each(|_| assert!(news.send(bombs.make()).is_ok()));
    bombs.go_off(5, || {
        port.skip();
    });
    (0..5).for_each(|_| assert!(news.send(bombs.make()).is_ok()));
    bombs.go_off(5, || drop(port));
}

async fn messages_of_asynchronous_sends(_: Cx) {
    let bombs = Bombs::default();
    let (tx, rx) = bounded(0);
    (0..5).for_each(|_| drop(tx.send_async(bombs.make())));
    bombs.go_off(5, || {
        rx.close();
    });
}

async fn sources_of_a_wait_set(_: Cx) {
    let bombs = Bombs::default();
    let (tx, rx) = bounded(0);
    let mut set = WaitSet::new();
    let keys = [(); 5].map(|()| set.insert(tx.send_evt(bombs.make()).wrap(|_| ())));
    // Now each event has a branch with a clone.
    assert!(set.poll().is_none());
    bombs.go_off(2, || {
        set.remove(keys[0]);
    });
    assert_eq!(set.len(), 4);
    bombs.go_off(8, || set.clear());
    assert!(set.is_empty());
    for _ in 0..3 {
        set.insert(tx.send_evt(bombs.make()).wrap(|_| ()));
    }
    assert!(set.poll().is_none());
    bombs.go_off(6, || drop(set));
    assert!(rx.try_recv().is_err(), "nothing is left behind");
}

async fn messages_of_a_choice_that_is_given_up(_: Cx) {
    let bombs = Bombs::default();
    let ((a, from_a), (b, _from_b)) = (bounded(0), bounded(0));
    let choice = choose((a.send_evt(bombs.make()), b.send_evt(bombs.make())));
    let mut future = Box::pin(choice.into_future());
    assert!(poll_once(future.as_mut()).is_pending());
    // There are two in the events, and the clones in their branches.
    bombs.go_off(4, || drop(future));
    let once = [a.send_evt(bombs.make()), a.send_evt(bombs.make())];
    bombs.go_off(4, || assert!(choose(once).poll().is_none()));
    assert!(from_a.try_recv().is_err());
}

async fn values_of_parts_that_have_happened(_: Cx) {
    let bombs = Bombs::default();
    let (tx, rx) = bounded(3);
    (0..3).for_each(|_| assert!(tx.try_send(bombs.make()).is_ok()));
    let take = || rx.recv_evt().wrap(|got| got.ok());
    // Three of four have happened when the poll gives up.
    bombs.go_off(3, || assert!(choose_all((take(), take(), take(), never::<()>())).poll().is_none()));
}

async fn requests_that_nobody_serves(_: Cx) {
    let bombs = Bombs::default();
    let (caller, entry) = rpc::<Bomb, ()>();
    let mut calls = [(); 3].map(|()| Box::pin(caller.call_evt(bombs.make()).into_future()));
    for call in &mut calls {
        assert!(poll_once(call.as_mut()).is_pending());
    }
    bombs.go_off(3, || drop(entry));
    // The events still hold theirs.
    for call in calls {
        bombs.go_off(1, || drop(call));
    }
}

async fn while_the_performer_unwinds_anyway(_: Cx) {
    let bombs = Bombs::default();
    let (tx, rx) = bounded(3);
    (0..3).for_each(|_| assert!(tx.try_send(bombs.make()).is_ok()));
    let panic = catch_unwind(AssertUnwindSafe(|| {
        let _dropped_meanwhile = rx;
        resume_unwind(Box::new("the first"));
    }));
    assert_eq!(*panic.unwrap_err().downcast::<&str>().unwrap(), "the first");
    assert_eq!(bombs.0.load(SeqCst), 3);
}

lisle::fiber_local! {
    static FIRST: std::cell::RefCell<Option<Bomb>> = Default::default();
    static SECOND: std::cell::RefCell<Option<Bomb>> = Default::default();
}

/// The locals of a fiber, and the locals of a plain thread.
#[test]
fn locals() {
    let _watched = watched();
    let bombs = Bombs::default();
    let fill = |bombs: &Bombs| {
        for local in [&FIRST, &SECOND] {
            local.with(|place| *place.borrow_mut() = Some(bombs.make()));
        }
    };
    lisle::run(|| {
        let bombs = Bombs(bombs.0.clone());
        lisle::spawn(move || fill(&bombs)).join().unwrap();
    });
    assert_eq!(bombs.0.load(SeqCst), 2);
    std::thread::scope(|scope| {
        scope.spawn(|| fill(&bombs));
    });
    while bombs.0.load(SeqCst) < 4 {
        std::thread::yield_now();
    }
}

/// Its destructor panics with a payload whose destructor panics, too.
struct Chain;

impl Drop for Chain {
    fn drop(&mut self) {
        struct Payload;
        impl Drop for Payload {
            fn drop(&mut self) {
                resume_unwind(Box::new("a payload"));
            }
        }
        resume_unwind(Box::new(Payload));
    }
}

/// A thread's locals are dropped when the thread ends. A panic that escaped from there would end
/// the process.
#[test]
fn a_local_whose_panic_cannot_be_dropped() {
    lisle::fiber_local! {
        static LOCAL: std::cell::RefCell<Option<Chain>> = Default::default();
    }
    let test = "destructors::a_local_whose_panic_cannot_be_dropped";
    let _watched = watched();
    if part().is_none() {
        let ended = Ended::of(test, "child");
        ended.succeeded().says("lisle: the destructor of a thread's local has panicked\n");
        return;
    }
    let fill = || LOCAL.with(|place| *place.borrow_mut() = Some(Chain));
    lisle::run(|| lisle::spawn(fill).join().unwrap());
    // The thread is not scoped, because a scope waits for the end of the function and not for the
    // end of the thread.
    std::thread::spawn(fill).join().unwrap();
}
