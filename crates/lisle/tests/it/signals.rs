//! Signals. They belong to the process, so cases that send the same signal run one at a time.

use crate::support::{Cx, scaled, worlds};
use lisle::event::Source;
use lisle::signal::{SIGUSR1, SIGUSR2, SIGWINCH, Signal, ctrl_c, signal};
use lisle::time::after;
use lisle::{Event, choose};
use std::sync::LazyLock;
use std::time::Duration;

worlds!(
    every_receiver_gets_each,
    one_that_came_before_is_not_lost,
    a_loser_has_received_nothing,
    none_is_lost_in_a_storm,
    those_that_are_dropped_receive_no_more,
);

static IN_USE: LazyLock<Source<bool, ()>> = LazyLock::new(|| Source::new(false));

/// While it is alive, no other case sends a signal.
struct Alone;

impl Alone {
    async fn new(cx: &Cx) -> Self {
        cx.sync(IN_USE.event(|in_use| (!std::mem::replace(in_use, true)).then_some(()))).await;
        Alone
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        IN_USE.update(|in_use, waiters| *in_use = waiters.grant(()).is_ok());
    }
}

/// Sends the signal to the process. Any of its threads may take it.
fn send(signal: &Signal) {
    let own = libc::pid_t::try_from(std::process::id()).unwrap();
    // SAFETY: the process catches the signal.
    assert_eq!(unsafe { libc::kill(own, signal.number()) }, 0);
}

fn soon(signal: &Signal) -> impl Event<Output = bool> + Send + '_ {
    choose((
        signal.recv_evt().wrap(|received| received.is_ok()),
        after(Duration::from_millis(2)).wrap(|()| false),
    ))
}

async fn every_receiver_gets_each(cx: Cx) {
    let _alone = Alone::new(&cx).await;
    let sender = signal(SIGUSR1).unwrap().named("sender");
    let (done, received) = lisle::channel::<usize>();
    let receivers: Vec<_> = (0..4)
        .map(|id| {
            let (signal, done) = (signal(SIGUSR1).unwrap(), done.clone());
            cx.spawn(move |cx| async move {
                for _ in 0..10 {
                    cx.sync(signal.recv_evt()).await.unwrap();
                    cx.sync(done.send_evt(id)).await.unwrap();
                }
            })
        })
        .collect();
    for _ in 0..10 {
        send(&sender);
        let mut all = Vec::new();
        for _ in 0..4 {
            all.push(cx.sync(received.recv_evt()).await.unwrap());
        }
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3]);
    }
    cx.join_all(receivers).await;
}

async fn one_that_came_before_is_not_lost(cx: Cx) {
    let _alone = Alone::new(&cx).await;
    let signal = signal(SIGUSR1).unwrap();
    assert!(signal.recv_evt().poll().is_none());
    send(&signal);
    cx.sync(signal.recv_evt()).await.unwrap();
    assert!(signal.recv_evt().poll().is_none(), "one delivery, two receipts");
}

async fn a_loser_has_received_nothing(cx: Cx) {
    let _alone = Alone::new(&cx).await;
    let signal = signal(SIGUSR2).unwrap();
    for _ in 0..5 {
        assert!(!cx.sync(soon(&signal)).await);
    }
    drop(signal.recv_evt().future());
    send(&signal);
    assert!(cx.sync(choose((signal.recv_evt().wrap(Some), lisle::never()))).await.unwrap().is_ok());
}

/// Each signal is sent after the previous one has been received, at a moment at which a timeout may
/// win.
async fn none_is_lost_in_a_storm(cx: Cx) {
    let _alone = Alone::new(&cx).await;
    let signal = signal(SIGUSR1).unwrap();
    let (next, sent) = lisle::channel::<()>();
    let sender = {
        let signal = lisle::signal::signal(SIGUSR1).unwrap();
        cx.spawn(move |cx| async move {
            while cx.sync(sent.recv_evt()).await.is_ok() {
                send(&signal);
            }
        })
    };
    for round in 0..scaled(2_000, 300) {
        cx.sync(next.send_evt(())).await.unwrap();
        let short = || after(Duration::from_micros(round as u64 % 50)).wrap(|()| false);
        while !cx.sync(choose((signal.recv_evt().wrap(|received| received.is_ok()), short()))).await {
            cx.yield_now().await;
        }
    }
    drop(next);
    cx.join(sender).await;
}

async fn those_that_are_dropped_receive_no_more(cx: Cx) {
    let _alone = Alone::new(&cx).await;
    for _ in 0..20 {
        let (one, other) = (signal(SIGWINCH).unwrap(), signal(SIGWINCH).unwrap());
        drop(one);
        send(&other);
        cx.sync(other.recv_evt()).await.unwrap();
    }
    // The process continues although there is no receiver: the signal's default action is off. The
    // signal is sent to the thread, so it has come when this returns, and does not disturb the next
    // case.
    drop(signal(SIGUSR2).unwrap());
    // SAFETY: the process has caught the signal for good.
    assert_eq!(unsafe { libc::raise(SIGUSR2) }, 0);
}

#[test]
fn what_cannot_be_received() {
    for number in [libc::SIGKILL, libc::SIGSTOP, libc::SIGSEGV] {
        assert_eq!(signal(number).unwrap_err().kind(), std::io::ErrorKind::InvalidInput);
    }
    assert!(signal(12_345).is_err());
    assert_eq!(ctrl_c().unwrap().number(), libc::SIGINT);
}
