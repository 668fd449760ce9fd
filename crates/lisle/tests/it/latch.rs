//! Latches open once for all waiters. Wait groups are empty when the last member has left.

use crate::support::{Cx, scaled, worlds};
use lisle::sync::{Latch, WaitGroup};
use lisle::time::after;
use lisle::{Event, choose, never};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

worlds!(a_latch_opens_at_the_last_count, a_group_is_waited_for_again_and_again);

async fn a_latch_opens_at_the_last_count(cx: Cx) {
    const COUNT: usize = 4;
    for _ in 0..scaled(300, 50) {
        let latch = Arc::new(Latch::new(COUNT));
        let counted = Arc::new(AtomicUsize::new(0));
        let waiters = [false, true].map(|chooses| {
            let (latch, counted) = (latch.clone(), counted.clone());
            cx.spawn(move |cx| async move {
                match chooses {
                    true => cx.sync(choose((never(), latch.wait_evt()))).await,
                    false => cx.sync(latch.wait_evt()).await,
                }
                counted.load(Ordering::Relaxed)
            })
        });
        let counters: Vec<_> = (0..COUNT)
            .map(|_| {
                let (latch, counted) = (latch.clone(), counted.clone());
                cx.spawn(move |_| async move {
                    counted.fetch_add(1, Ordering::Relaxed);
                    latch.count_down()
                })
            })
            .collect();
        assert_eq!(cx.join_all(waiters).await, [COUNT; 2]);
        assert_eq!(cx.join_all(counters).await.iter().filter(|last| **last).count(), 1);
        assert!(!latch.count_down() && latch.is_open());
        assert_eq!(latch.wait_evt().poll(), Some(()));
    }
    assert!(Latch::new(0).is_open());
    let closed = Latch::new(1);
    let timeout = after(Duration::from_millis(1)).wrap(|()| false);
    assert!(!cx.sync(choose((closed.wait_evt().wrap(|()| true), timeout))).await);
}

async fn a_group_is_waited_for_again_and_again(cx: Cx) {
    let group = WaitGroup::new();
    for _ in 0..scaled(300, 50) {
        assert_eq!(group.wait_evt().poll(), Some(()));
        let left = Arc::new(AtomicUsize::new(0));
        let members: Vec<_> = (0..5)
            .map(|id| {
                let (member, left) = (group.enter(), left.clone());
                cx.spawn(move |_| async move {
                    left.fetch_add(1, Ordering::Relaxed);
                    let _member = member;
                    if id == 0 {
                        std::panic::resume_unwind(Box::new("leaves as well"));
                    }
                })
            })
            .collect();
        cx.sync(group.wait_evt()).await;
        assert_eq!((group.count(), left.load(Ordering::Relaxed)), (0, 5));
        for (id, member) in members.into_iter().enumerate() {
            assert_eq!(cx.join_caught(member).await.is_err(), id == 0);
        }
    }
}
