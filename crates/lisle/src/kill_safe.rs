//! Abstractions that survive their clients: a manager owns the state, and clients may go away at
//! any point.
//!
//! [`lisle_core::kill_safe`] describes how they work, and all of it is exported here. [`start`]
//! starts a manager as a fiber.

#[doc(inline)]
pub use lisle_core::kill_safe::*;

/// Starts a manager as a fiber of the current runtime, or of the default one if the caller is
/// outside any runtime. Returns the clients' handle.
///
/// A fiber ends with its runtime. [`Server::start_on_thread`] starts a manager that outlives every
/// runtime.
///
/// ```
/// use lisle::kill_safe::{self, Server};
///
/// let numbers: Server<(), u64> = kill_safe::start(|requests| {
///     let mut next = 0;
///     while let Some(request) = requests.next() {
///         if request.reply().offer(next).is_ok() {
///             next += 1;
///         }
///     }
/// });
/// assert_eq!(numbers.request(()), Ok(0));
/// assert_eq!(numbers.request(()), Ok(1));
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
