//! Abstractions that survive their clients: a manager that owns the state, and clients that may go at any point.
//!
//! How they work is said in [`lisle_core::kill_safe`], all of which is exported here; [`start`] starts a manager as a fiber.

#[doc(inline)]
pub use lisle_core::kill_safe::*;

/// Starts a manager as a fiber of the current runtime, or of the default one outside any. Returns the clients' handle.
///
/// A fiber ends with its runtime. For a manager that outlives every runtime see [`Server::start_on_thread`].
#[track_caller]
pub fn start<A, B>(manager: impl FnOnce(Requests<A, B>) + Send + 'static) -> Server<A, B>
where
    A: Send + 'static,
    B: Send + 'static,
{
    let (server, requests) = server();
    drop(crate::spawn(move || manager(requests)));
    server
}
