//! The ways in which one event can be performed.

use crate::executor::{block_on, poll_once};
use lisle_core::event::{WaitSet, choose_biased, guard, with_nack};
use lisle_core::time::after;
use lisle_core::{Event, always, choose, never};
use std::pin::pin;
use std::time::Duration;

/// The number of ways.
pub(crate) const WAYS: usize = 22;

/// Performs `event` in one of the ways. Returns `None` if that way gives up and the event has not
/// happened, or if it has happened to a future that was dropped.
pub(crate) fn perform<E>(way: usize, event: E) -> Option<E::Output>
where
    E: Event + Send + Sync,
    E::Output: Send,
{
    let no = never::<E::Output>;
    match way % WAYS {
        0 => Some(event.sync()),
        1 => poll_once(Box::pin(event.future()).as_mut()),
        2 => Some(block_on(event.future())),
        3 => event.poll(),
        4 => Some(event.boxed().sync()),
        5 => poll_once(Box::pin(event.boxed().future()).as_mut()),
        6 => Some(choose((event, no())).sync()),
        7 => poll_once(pin!(choose((no(), event)).future())),
        8 => Some(choose([None, Some(event)]).sync()),
        9 => choose((event, no())).poll(),
        10 => Some(choose(vec![no().boxed(), event.boxed(), no().boxed()]).sync()),
        11 => Some(block_on(choose(vec![event.boxed(), no().boxed()]).future())),
        12 => {
            let mut set = WaitSet::new();
            set.insert(event);
            Some(set.sync().1)
        }
        13 => {
            let mut set = WaitSet::new();
            set.insert(event);
            let before = poll_once(pin!(set.evt().future()));
            before.or_else(|| set.poll()).map(|(_, value)| value)
        }
        14 => choose((event.wrap(Some), after(Duration::from_micros(200)).wrap(|()| None))).sync(),
        15 => {
            // A future that is entered on one thread and dropped on another.
            let mut future = Box::pin(event.future());
            let value = poll_once(future.as_mut());
            std::thread::scope(|scope| drop(scope.spawn(move || drop(future))));
            value
        }
        16 => {
            // A future that is entered on one thread and ends on another.
            let mut future = Box::pin(event.future());
            let value = poll_once(future.as_mut());
            value.or_else(|| {
                std::thread::scope(|scope| Some(scope.spawn(move || block_on(future)).join().unwrap()))
            })
        }
        17 => {
            let event = &event;
            Some(guard(|| event.wrap(|value| value)).sync())
        }
        18 => {
            let event = &event;
            let refused = with_nack(|nack| {
                // The nack is entered and left in the middle of its own performance.
                poll_once(pin!(nack.future()));
                event.wrap(Some)
            });
            choose((refused, after(Duration::from_micros(100)).wrap(|()| None))).sync()
        }
        19 => {
            let second = event.replace(there);
            Some(block_on(second.future()))
        }
        20 => {
            // Polled by two wakers, then dropped.
            let mut future = pin!(choose_biased((event, no())).future());
            poll_once(future.as_mut()).or_else(|| poll_once(future.as_mut()))
        }
        21 => Some(choose((choose((no(), event.boxed())), no().boxed())).sync()),
        _ => unreachable!("a remainder"),
    }
}

/// Returns an event that is ready with `value`, and is performed once.
fn there<T: Send>(value: T) -> impl Event<Output = T> + Send {
    let value = std::sync::Mutex::new(Some(value));
    always(()).wrap(move |()| value.lock().unwrap().take().expect("performed once"))
}

/// Performs the events that `make` returns, in one way after the other, until `count` of them have
/// happened. Calls `on` with each value.
pub(crate) fn each_way<E>(count: usize, first: usize, make: impl Fn() -> E, mut on: impl FnMut(E::Output))
where
    E: Event + Send + Sync,
    E::Output: Send,
{
    let mut happened = 0;
    for way in first.. {
        if let Some(value) = perform(way, make()) {
            on(value);
            happened += 1;
        }
        if happened == count {
            return;
        }
    }
}

/// Performs the events that `make` returns, in one way after the other, until one says that there is
/// nothing more to come.
pub(crate) fn until_closed<T, Closed, E>(first: usize, make: impl Fn() -> E)
where
    E: Event<Output = Result<T, Closed>> + Send + Sync,
    E::Output: Send,
{
    for way in first.. {
        if let Some(Err(_)) = perform(way, make()) {
            return;
        }
    }
}
