//! Abstractions that survive their clients: a manager owns the state, and clients may go away at
//! any point.
//!
//! [`lisle_core::kill_safe`] describes how they work. This module exports all of it, and adds
//! [`start`], which starts a manager as a fiber.

#[doc(inline)]
pub use lisle_core::kill_safe::*;

/// Starts a manager as a fiber of the current runtime, or of the default one if the caller is
/// outside any runtime. Returns the clients' handle.
///
/// A fiber ends with its runtime. [`Server::start_on_thread`] starts a manager that outlives every
/// runtime.
///
/// # Examples
///
/// ```
/// use lisle::kill_safe::{self, Server, ServerGone};
///
/// let doubles = lisle::run(|| {
///     let doubles: Server<u32, u32> = kill_safe::start(|requests| {
///         while let Some(request) = requests.next() {
///             let _ = request.reply().offer(2 * request.arg()); // fails if the client has gone
///         }
///     });
///     assert_eq!(doubles.request(21), Ok(42));
///     doubles
/// });
/// assert_eq!(doubles.request(21), Err(ServerGone)); // the manager has ended with its runtime
/// ```
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
