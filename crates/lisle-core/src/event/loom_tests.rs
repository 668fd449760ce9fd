//! Loom models of the commit protocol with one-sided events. The models of events with partners on
//! both sides are beside the channels.

use crate::event::choose;
use crate::event::{Event, Source};
use crate::loom_models::{explore, join_all, poll_once, spawn_with, spawn_with_both};
use crate::shim::sync::Arc;
use loom::thread;

/// Tokens, which are granted to a waiting performer or kept.
pub(super) type Tokens = Source<Vec<u32>, u32>;

pub(super) fn give(tokens: &Tokens, token: u32) {
    tokens.update(|kept, waiters| {
        if let Err(token) = waiters.grant(token) {
            kept.push(token);
        }
    });
}

pub(super) fn take(kept: &mut Vec<u32>) -> Option<u32> {
    kept.pop()
}

pub(super) fn assert_idle(tokens: &Tokens) {
    tokens.update(|kept, waiters| {
        assert!(kept.is_empty(), "a token is left behind");
        assert!(waiters.is_empty(), "a performer is left behind");
    });
}

#[test]
fn a_grant_reaches_a_performer_that_waits() {
    explore(3, || {
        let tokens = Arc::new(Tokens::new(Vec::new()));
        let giver = spawn_with(&tokens, |tokens| give(tokens, 1));
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
        let givers =
            [0, 1].map(|i| spawn_with(&sources[i], move |tokens| give(tokens, u32::try_from(i).unwrap())));
        let got = choose((sources[0].event(take), sources[1].event(take))).sync() as usize;
        join_all(givers);
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
        let giver = spawn_with_both(&a, &b, |a, b| {
            give(b, 2);
            give(a, 1);
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
        let other = spawn_with_both(&a, &b, |a, b| choose((b.event(take), a.event(take))).sync());
        let giver = spawn_with_both(&a, &b, |a, b| {
            give(a, 1);
            give(b, 2);
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
        let giver = spawn_with(&a, |a| a.update(|_, waiters| waiters.grant(1).is_ok()));
        let single = poll_once(a.event(take)).or_else(|| poll_once(choose((a.event(take), b.event(take)))));
        let granted = giver.join().unwrap();
        assert!(granted || single.is_none(), "no token out of nothing");
        assert_idle(&a);
        assert_idle(&b);
    });
}

pub(super) type Gate = Source<bool, ()>;

pub(super) fn open(gate: &Gate) {
    gate.update(|open, waiters| {
        *open = true;
        waiters.retry_all();
    });
}

pub(super) fn pass(open: &mut bool) -> Option<()> {
    open.then_some(())
}

#[test]
fn whoever_waits_is_told_to_try_again() {
    explore(3, || {
        let gate = Arc::new(Gate::new(false));
        let waiter = spawn_with(&gate, |gate| gate.event(pass).sync());
        let opener = spawn_with(&gate, open);
        gate.event(pass).sync();
        join_all([waiter, opener]);
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
        let opener = spawn_with(&gate, |gate| {
            // The first update opens nothing, the second does.
            gate.update(|_, waiters| waiters.retry_all());
            open(gate);
        });
        let giver = spawn_with(&tokens, |tokens| give(tokens, 7));
        let got = choose((gate.event(pass).wrap(|()| None), tokens.event(take).wrap(Some))).sync();
        join_all([opener, giver]);
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
        let opener = spawn_with(&gate, |gate| {
            gate.update(|_, waiters| waiters.retry_all());
            open(gate);
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
        let opener = spawn_with(&gate, |gate| gate.update(|_, waiters| waiters.retry_all()));
        assert!(poll_once(gate.event(pass)).is_none());
        assert!(poll_once(choose((other.event(pass), gate.event(pass)))).is_none());
        opener.join().unwrap();
        gate.update(|_, waiters| assert!(waiters.is_empty()));
        other.update(|_, waiters| assert!(waiters.is_empty()));
    });
}
