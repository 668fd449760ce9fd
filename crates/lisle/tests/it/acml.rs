//! Asynchronous events: an operation that has begun ends once and in order, and a cancelled
//! operation loses nothing.

mod all;
mod racing;
mod receiving;
mod refused;
mod sending;

use lisle::Event;
use lisle::time::after;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Counts how many of its clones have been dropped.
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn counter() -> (Arc<AtomicUsize>, impl Fn() -> Dropped) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    (count, move || Dropped(counted.clone()))
}

fn soon() -> impl Event<Output = ()> + Send + Sync {
    after(Duration::from_millis(2))
}
