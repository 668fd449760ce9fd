//! Loom models of futures that wait together with the recycled task that polls them, see
//! `future/wake.rs`.

use crate::channel::Receiver;
use crate::channel::create::channel;
use crate::event::choose;
use crate::event::loom_tests::{Gate, Tokens, assert_idle, give, open, pass, take};
use crate::event::performer::recycled::Recycled;
use crate::event::{Event, EventFuture};
use crate::loom_models::{explore, spawn_with};
use crate::shim::sync::Arc;
use loom::sync::Notify;
use loom::thread;
use std::pin::{Pin, pin};
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};

/// A recycled task that one thread runs. Its memory is leaked: a wake may come after the token that it tells of.
#[repr(C)]
struct Task {
    recycled: Recycled,
    woken: Notify,
}

impl Task {
    fn new() -> &'static Self {
        fn ready(recycled: NonNull<Recycled>) {
            // SAFETY: all recycled tasks here are in a `Task`, which stays.
            unsafe { recycled.cast::<Task>().as_ref() }.woken.notify();
        }
        // The size covers all of memory, so every future that the task polls waits directly.
        // SAFETY: as said above, the task stays.
        let recycled = unsafe { Recycled::new(ready, usize::MAX) };
        recycled.state().begin();
        Box::leak(Box::new(Task { recycled, woken: Notify::new() }))
    }

    fn waker(&self) -> Waker {
        // SAFETY: the place has been prepared.
        unsafe { Recycled::waker(NonNull::from(self).cast()) }
    }

    fn poll<F: Future + ?Sized>(&self, future: Pin<&mut F>) -> Poll<F::Output> {
        self.recycled.begin_turn();
        future.poll(&mut Context::from_waker(&self.waker()))
    }

    fn run<F: Future>(&self, mut future: Pin<&mut F>) -> F::Output {
        loop {
            if let Poll::Ready(value) = self.poll(future.as_mut()) {
                return value;
            }
            if self.recycled.state().park() {
                self.woken.wait();
            } else {
                self.recycled.state().absorb();
            }
        }
    }
}

/// Gives a token while `receive` has a future for it.
fn granted_beside(preemptions: usize, receive: impl Fn(&Tokens) -> u32 + Sync + Send + 'static) {
    explore(preemptions, move || {
        let tokens = Arc::new(Tokens::new(Vec::new()));
        let giver = spawn_with(&tokens, |tokens| give(tokens, 7));
        assert_eq!(receive(&tokens), 7);
        giver.join().unwrap();
        assert_idle(&tokens);
    });
}

#[test]
fn a_grant_wakes_a_resident() {
    granted_beside(4, |tokens| Task::new().run(pin!(tokens.event(take).future())));
}

/// Either the first poller is woken, or the second, or the second sees that the first was about to
/// be woken.
#[test]
fn a_grant_finds_the_resident_that_polled_last() {
    granted_beside(4, |tokens| {
        let tasks = [Task::new(), Task::new(), Task::new()];
        let mut future = pin!(tokens.event(take).future());
        for task in &tasks[..2] {
            if let Poll::Ready(token) = task.poll(future.as_mut()) {
                return token;
            }
        }
        tasks[2].run(future)
    });
}

#[test]
fn a_grant_finds_the_waker_that_polled_last() {
    granted_beside(4, |tokens| {
        let task = Task::new();
        let mut future = pin!(tokens.event(take).future());
        match task.poll(future.as_mut()) {
            Poll::Ready(token) => token,
            Poll::Pending => loom::future::block_on(future),
        }
    });
}

/// From a recycled task to a waker and back: the future stays with wakers, and the second recycled
/// task is woken by its own waker.
#[test]
fn a_grant_finds_a_resident_after_a_waker() {
    granted_beside(4, |tokens| {
        let (first, last) = (Task::new(), Task::new());
        let mut future = pin!(tokens.event(take).future());
        if let Poll::Ready(token) = first.poll(future.as_mut()) {
            return token;
        }
        if let Poll::Ready(token) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return token;
        }
        last.run(future)
    });
}

/// A future that was first polled with a waker is given to a recycled task.
#[test]
fn a_grant_finds_a_resident_that_took_over() {
    granted_beside(4, |tokens| {
        let task = Task::new();
        let mut future = pin!(tokens.event(take).future());
        match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(token) => token,
            Poll::Pending => task.run(future),
        }
    });
}

/// Two threads hand a waiting future from one to the other, each with a task of its own.
#[test]
fn a_future_moves_to_another_thread_while_it_is_granted() {
    explore(3, || {
        let tokens = Arc::new(Tokens::new(Vec::new()));
        let giver = spawn_with(&tokens, |tokens| give(tokens, 7));
        // SAFETY: the future is dropped before the tokens, in the thread that has both.
        let lent: &'static Tokens = unsafe { &*Arc::as_ptr(&tokens) };
        let mut future = Box::pin(lent.event(take).future());
        let first = Task::new();
        let token = match first.poll(future.as_mut()) {
            Poll::Ready(token) => token,
            Poll::Pending => {
                let last = Task::new();
                let tokens = tokens.clone();
                let token = thread::spawn(move || {
                    let token = last.run(future.as_mut());
                    drop(future);
                    drop(tokens);
                    token
                });
                token.join().unwrap()
            }
        };
        assert_eq!(token, 7);
        giver.join().unwrap();
        assert_idle(&tokens);
    });
}

/// Polls a future once as a recycled task and drops it. Its memory is leaked; then a committer that
/// comes too late is noticed, see `Lock`.
fn poll_once<E: Event>(
    task: &Task,
    event: E,
    then: impl FnOnce(Pin<&mut EventFuture<E>>) -> Poll<E::Output>,
) -> Poll<E::Output> {
    let mut place = Box::pin(Some(event.future()));
    let mut outcome = task.poll(place.as_mut().as_pin_mut().expect("just made"));
    if outcome.is_pending() {
        outcome = then(place.as_mut().as_pin_mut().expect("just made"));
    }
    place.set(None);
    std::mem::forget(place);
    outcome
}

/// Drops a future of a recycled task, alone and in a choice, while it is granted; before that it
/// may be handed on.
fn dropped_beside(
    then: impl Fn(&Task, Pin<&mut dyn Future<Output = u32>>) -> Poll<u32> + Sync + Send + 'static,
) {
    explore(3, move || {
        let (a, b) = (Arc::new(Tokens::new(Vec::new())), Arc::new(Tokens::new(Vec::new())));
        let giver = spawn_with(&a, |a| a.update(|_, waiters| waiters.grant(1).is_ok()));
        let tasks = [Task::new(), Task::new()];
        let mut got = poll_once(tasks[0], a.event(take), |future| then(tasks[1], future));
        if got.is_pending() {
            let choice = choose((a.event(take), b.event(take)));
            got = poll_once(tasks[0], choice, |future| then(tasks[1], future));
        }
        let granted = giver.join().unwrap();
        assert!(granted || got.is_pending(), "no token out of nothing");
        assert_idle(&a);
        assert_idle(&b);
    });
}

#[test]
fn a_dropped_future_of_a_resident_was_granted_or_not() {
    dropped_beside(|_, _| Poll::Pending);
}

#[test]
fn a_dropped_future_that_was_handed_to_a_resident_was_granted_or_not() {
    dropped_beside(|task, future| task.poll(future));
}

#[test]
fn a_dropped_future_that_was_handed_to_a_waker_was_granted_or_not() {
    dropped_beside(|_, future| future.poll(&mut Context::from_waker(Waker::noop())));
}

/// A future that was told to start over is published anew by the next task that polls it.
#[test]
fn a_resident_is_told_to_try_again() {
    explore(3, || {
        let gate = Arc::new(Gate::new(false));
        let opener = spawn_with(&gate, |gate| {
            gate.update(|_, waiters| waiters.retry_all());
            open(gate);
        });
        let tasks = [Task::new(), Task::new()];
        let mut future = pin!(gate.event(pass).future());
        if tasks[0].poll(future.as_mut()).is_pending() {
            tasks[1].run(future);
        }
        opener.join().unwrap();
        gate.update(|_, waiters| assert!(waiters.is_empty()));
    });
}

/// Both sides of a message are recycled tasks.
#[test]
fn two_residents_meet() {
    explore(3, || {
        let (tx, rx) = channel::<u32>();
        let sender = thread::spawn(move || Task::new().run(pin!(tx.send_evt(3).future())).unwrap());
        let receive = |rx: &Receiver<u32>| Task::new().run(pin!(rx.recv_evt().future()));
        assert_eq!(receive(&rx), Ok(3));
        sender.join().unwrap();
    });
}
