//! The call on behalf of which the library runs loops of its own. A sort runs joins, and a scan
//! runs loops. Reports about their parts name the place where the user has called the sort or the
//! scan.
//!
//! The place is kept with the stack as long as the call runs there, and goes along with the
//! halves that are put off.

use super::join::join_at;
use super::owner;
use super::pending::Pending;
use std::panic::Location;

/// Runs `f`, with which the library carries out a call of its caller's caller.
#[track_caller]
pub(super) fn here<R>(f: impl FnOnce() -> R) -> R {
    let pending = owner::pending();
    within(of(pending, Location::caller()), f)
}

/// Returns the place on behalf of which the code at `site` runs if this is code of the library.
/// Otherwise returns `site`.
pub(super) fn of(pending: &Pending, site: &'static Location<'static>) -> &'static Location<'static> {
    pending.origin.get().unwrap_or(site)
}

fn within<R>(site: &'static Location<'static>, f: impl FnOnce() -> R) -> R {
    /// Restores the previous place when dropped.
    struct Before<'a>(&'a Pending, Option<&'static Location<'static>>);
    impl Drop for Before<'_> {
        fn drop(&mut self) {
            self.0.origin.set(self.1);
        }
    }
    let pending = owner::pending();
    let _before = Before(pending, pending.origin.replace(Some(site)));
    f()
}

/// Does the same as [`join`](super::join()), for the library's own loops.
#[inline(always)]
#[track_caller]
pub(super) fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    let site = of(owner::pending(), Location::caller());
    join_at(a, move || within(site, b), site)
}
