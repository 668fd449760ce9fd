//! Effects, and a value that notices a use after its end.

use lisle::effect::{Effect, Suspended, finish, handle};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) struct Yield;
impl Effect for Yield {
    type Answer = ();
}

pub(crate) struct Ask;
impl Effect for Ask {
    type Answer = u32;
}

pub(crate) struct Other;
impl Effect for Other {
    type Answer = ();
}

const ALIVE: u64 = 0x5afe_5afe_5afe_5afe;

/// Knows whether it has been dropped, as far as its memory has not been used again.
pub(crate) struct Canary(AtomicU64);

impl Canary {
    pub(crate) fn new() -> Self {
        Canary(AtomicU64::new(ALIVE))
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.0.load(Ordering::Relaxed) == ALIVE
    }
}

impl Drop for Canary {
    fn drop(&mut self) {
        // Not removed as a store that nobody reads.
        std::hint::black_box(&self.0).store(0, Ordering::Relaxed);
    }
}

/// Looks at a canary when it is dropped, and notes down whether that was alive.
pub(crate) struct Looks<'a>(pub(crate) &'a Canary, pub(crate) fn(bool));

impl Drop for Looks<'_> {
    fn drop(&mut self) {
        (self.1)(self.0.is_alive());
    }
}

/// Runs `f` until it performs `Yield`, and keeps the rest.
pub(crate) fn begin(f: impl FnOnce() + 'static) -> Option<Suspended<(), ()>> {
    let kept = Rc::new(RefCell::new(None));
    let slot = kept.clone();
    handle(f)
        .on(move |Yield, k| {
            *slot.borrow_mut() = Some(k.keep());
            finish(())
        })
        .run();
    kept.take()
}

/// Calls `f`, which panics, and returns the message.
pub(crate) fn message_of<T>(f: impl FnOnce() -> T) -> String {
    let Err(panic) = catch_unwind(AssertUnwindSafe(f)) else { panic!("there was no panic") };
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => {
            panic.downcast_ref::<&str>().map_or_else(|| "not text".to_string(), |text| text.to_string())
        }
    }
}
