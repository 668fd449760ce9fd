//! Objects and helpers of several files.

#[cfg(not(miri))] // there are no processes
mod child;
mod meeting;
mod watch;

#[cfg(not(miri))]
pub(crate) use child::{Running, block_until_let_go};
pub(crate) use meeting::{Meeting, together};
pub(crate) use watch::watched;

use crate::scheme::{numbers, sum};
use lisle_heap::{Heap, Object, Scope, Slot};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

#[derive(Object)]
pub(crate) struct Text {
    pub(crate) text: String,
}

#[derive(Object)]
pub(crate) struct Pair {
    pub(crate) first: Slot<Option<Text>>,
    pub(crate) second: Slot<Option<Pair>>,
}

/// Returns a heap with the smallest nursery.
pub(crate) fn small() -> Heap {
    Heap::builder().nursery(1 << 16).build()
}

/// A list of these numbers is alive where a test looks at what is.
pub(crate) const LIST: i64 = if cfg!(miri) { 12 } else { 1_000 };
pub(crate) const SUM: i64 = LIST * (LIST - 1) / 2;

/// Returns a heap whose nursery has blocks for several places, if not for Miri, which takes its time.
pub(crate) fn crowded() -> Heap {
    Heap::builder().nursery(if cfg!(miri) { 1 << 16 } else { 1 << 18 }).build()
}

/// Makes and forgets a list.
pub(crate) fn churn(s: &mut Scope<'_>) {
    s.scope(|s| {
        let list = numbers(s, LIST);
        assert_eq!(sum(list.get(s)), SUM);
    });
}

/// Returns the message of the panic of `f`.
pub(crate) fn message(f: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(f)).unwrap_err();
    panic
        .downcast_ref::<&str>()
        .map(|text| text.to_string())
        .or_else(|| panic.downcast::<String>().ok().map(|text| *text))
        .unwrap()
}

/// Runs the calling test anew in a process of its own, where it does `f`, and checks how that ends.
pub(crate) fn ends(name: &str, message: &str, f: impl FnOnce()) {
    const KEY: &str = "LISLE_HEAP_TEST_ENDS";
    if std::env::var(KEY).is_ok_and(|chosen| chosen == name) {
        f();
        return;
    }
    if cfg!(miri) {
        return; // there are no processes
    }
    let test = thread::current().name().unwrap().to_owned();
    let out = std::process::Command::new(std::env::current_exe().unwrap())
        .args([&test, "--exact", "--nocapture"])
        .env(KEY, name)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(!out.status.success() && said.contains(message), "{}: {said}", out.status);
}

/// The xorshift generator of Marsaglia.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}
