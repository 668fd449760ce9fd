//! Loom models of the commit protocol with one-sided events. Those with partners on both sides are
//! beside the channels.

use super::{Event, Source, choose};
use crate::shim::sync::Arc;
use loom::thread;
use std::task::{Context, Poll, Waker};

/// Explores `model` with at most `preemptions` forced switches in each run.
fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// Tokens, which are granted to a waiting performer or kept.
type Tokens = Source<Vec<u32>, u32>;

fn give(tokens: &Tokens, token: u32) {
    tokens.update(|kept, waiters| {
        if let Err(token) = waiters.grant(token) {
            kept.push(token);
        }
    });
}

fn take(kept: &mut Vec<u32>) -> Option<u32> {
    kept.pop()
}

fn assert_idle(tokens: &Tokens) {
    tokens.update(|kept, waiters| {
        assert!(kept.is_empty(), "a token is left behind");
        assert!(waiters.is_empty(), "a performer is left behind");
    });
}

#[test]
fn a_grant_reaches_a_performer_that_waits() {
    explore(3, || {
        let tokens = Arc::new(Tokens::new(Vec::new()));
        let giver = thread::spawn({
            let tokens = tokens.clone();
            move || give(&tokens, 1)
        });
        assert_eq!(tokens.event(take).sync(), 1);
        giver.join().unwrap();
        assert_idle(&tokens);
    });
}

/// Both sources try to commit the choice; the grant that comes too late stays where it was.
#[test]
fn a_choice_is_granted_one_of_two() {
    explore(3, || {
        let sources = [1, 2].map(|_| Arc::new(Tokens::new(Vec::new())));
        let givers = [0, 1].map(|i| {
            let tokens = sources[i].clone();
            thread::spawn(move || give(&tokens, u32::try_from(i).unwrap()))
        });
        let got = choose((sources[0].event(take), sources[1].event(take))).sync() as usize;
        givers.into_iter().for_each(|giver| giver.join().unwrap());
        assert_eq!(sources[1 - got].event(take).poll(), Some(1 - got as u32), "the other is still there");
        sources.iter().for_each(|tokens| assert_idle(tokens));
    });
}

/// The choice has published its first branch when it looks at the second: it claims itself while
/// the function runs, and a grant on the first must wait for the result.
#[test]
fn a_grant_waits_for_a_claim() {
    explore(3, || {
        let (a, b) = (Arc::new(Tokens::new(Vec::new())), Arc::new(Tokens::new(Vec::new())));
        let giver = thread::spawn({
            let (a, b) = (a.clone(), b.clone());
            move || {
                give(&b, 2);
                give(&a, 1);
            }
        });
        let slowly = |kept: &mut Vec<u32>| {
            thread::yield_now();
            kept.pop()
        };
        let got = choose((a.event(take), b.event(slowly))).sync();
        giver.join().unwrap();
        let left = if got == 1 { b.event(take).poll() } else { a.event(take).poll() };
        assert_eq!(left, Some(3 - got));
        assert_idle(&a);
        assert_idle(&b);
    });
}

/// Two choices over the same two sources in opposite order, and a token for each.
#[test]
fn two_choices_share_two_grants() {
    explore(2, || {
        let (a, b) = (Arc::new(Tokens::new(Vec::new())), Arc::new(Tokens::new(Vec::new())));
        let other = thread::spawn({
            let (a, b) = (a.clone(), b.clone());
            move || choose((b.event(take), a.event(take))).sync()
        });
        let giver = thread::spawn({
            let (a, b) = (a.clone(), b.clone());
            move || {
                give(&a, 1);
                give(&b, 2);
            }
        });
        let got = choose((a.event(take), b.event(take))).sync();
        giver.join().unwrap();
        assert_eq!(got + other.join().unwrap(), 3);
        assert_idle(&a);
        assert_idle(&b);
    });
}

#[test]
fn a_dropped_future_was_granted_or_not() {
    explore(3, || {
        let (a, b) = (Arc::new(Tokens::new(Vec::new())), Arc::new(Tokens::new(Vec::new())));
        let giver = thread::spawn({
            let a = a.clone();
            move || a.update(|_, waiters| waiters.grant(1).is_ok())
        });
        let single = match poll_once(a.event(take)) {
            Poll::Ready(token) => Some(token),
            Poll::Pending => poll_once(choose((a.event(take), b.event(take)))).ready(),
        };
        let granted = giver.join().unwrap();
        assert!(granted || single.is_none(), "no token out of nothing");
        assert_idle(&a);
        assert_idle(&b);
    });
}

/// Performs `event` as a future that is polled once and dropped. Its memory is leaked; then a
/// committer that comes too late is noticed, see `Lock`.
fn poll_once<E: Event>(event: E) -> Poll<E::Output> {
    let mut place = Box::pin(Some(event.future()));
    let future = place.as_mut().as_pin_mut().expect("just made");
    let outcome = future.poll(&mut Context::from_waker(Waker::noop()));
    place.set(None);
    std::mem::forget(place);
    outcome
}

trait Ready<T> {
    fn ready(self) -> Option<T>;
}

impl<T> Ready<T> for Poll<T> {
    fn ready(self) -> Option<T> {
        match self {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        }
    }
}

type Gate = Source<bool, ()>;

fn open(gate: &Gate) {
    gate.update(|open, waiters| {
        *open = true;
        waiters.retry_all();
    });
}

fn pass(open: &mut bool) -> Option<()> {
    open.then_some(())
}

#[test]
fn whoever_waits_is_told_to_try_again() {
    explore(3, || {
        let gate = Arc::new(Gate::new(false));
        let waiter = thread::spawn({
            let gate = gate.clone();
            move || gate.event(pass).sync()
        });
        let opener = thread::spawn({
            let gate = gate.clone();
            move || open(&gate)
        });
        gate.event(pass).sync();
        waiter.join().unwrap();
        opener.join().unwrap();
        gate.update(|_, waiters| assert!(waiters.is_empty()));
    });
}

/// A choice is told to start over by one source while the other grants: it takes the grant, or
/// finds the gate open, and starts over as often as needed.
#[test]
fn a_choice_is_told_to_try_again_or_granted() {
    explore(2, || {
        let gate = Arc::new(Gate::new(false));
        let tokens = Arc::new(Tokens::new(Vec::new()));
        let opener = thread::spawn({
            let gate = gate.clone();
            move || {
                // The first update opens nothing, the second does.
                gate.update(|_, waiters| waiters.retry_all());
                open(&gate);
            }
        });
        let giver = thread::spawn({
            let tokens = tokens.clone();
            move || give(&tokens, 7)
        });
        let got = choose((gate.event(pass).wrap(|()| None), tokens.event(take).wrap(Some))).sync();
        opener.join().unwrap();
        giver.join().unwrap();
        if got.is_none() {
            assert_eq!(tokens.event(take).poll(), Some(7), "the grant was not lost");
        }
        assert_idle(&tokens);
        gate.update(|_, waiters| assert!(waiters.is_empty()));
    });
}

/// A future that is told to start over publishes anew at its next poll.
#[test]
fn a_future_is_told_to_try_again() {
    explore(3, || {
        let gate = Arc::new(Gate::new(false));
        let opener = thread::spawn({
            let gate = gate.clone();
            move || {
                gate.update(|_, waiters| waiters.retry_all());
                open(&gate);
            }
        });
        loom::future::block_on(gate.event(pass).future());
        opener.join().unwrap();
        gate.update(|_, waiters| assert!(waiters.is_empty()));
    });
}

/// A performer is told to start over and leaves at the same moment.
#[test]
fn a_dropped_future_was_told_to_try_again_or_not() {
    explore(3, || {
        let gate = Arc::new(Gate::new(false));
        let other = Gate::new(false);
        let opener = thread::spawn({
            let gate = gate.clone();
            move || gate.update(|_, waiters| waiters.retry_all())
        });
        assert!(poll_once(gate.event(pass)).is_pending());
        assert!(poll_once(choose((other.event(pass), gate.event(pass)))).is_pending());
        opener.join().unwrap();
        gate.update(|_, waiters| assert!(waiters.is_empty()));
        other.update(|_, waiters| assert!(waiters.is_empty()));
    });
}
