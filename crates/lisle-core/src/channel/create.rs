//! Creating channels.

use super::receiver::Receiver;
use super::sender::Sender;
use super::shared::Shared;
use crate::event::Label;
use crate::shim::sync::Arc;

/// Creates a rendezvous channel. It buffers nothing: a send completes when a receiver takes the
/// message.
///
/// ```
/// # use lisle_core as lisle;
/// let (tx, rx) = lisle::channel();
/// std::thread::scope(|scope| {
///     scope.spawn(|| tx.send(42).unwrap());
///     assert_eq!(rx.recv(), Ok(42));
/// });
/// ```
///
/// Messages that must not leave their thread cannot be sent:
///
/// ```compile_fail,E0277
/// # use lisle_core as lisle;
/// let (tx, rx) = lisle::channel();
/// tx.send(std::rc::Rc::new(1)); // `Rc` is not `Send`
/// # let _: Result<std::rc::Rc<i32>, _> = rx.try_recv();
/// ```
///
/// Each end has its own direction:
///
/// ```compile_fail,E0599
/// # use lisle_core as lisle;
/// let (tx, _rx) = lisle::channel::<u32>();
/// tx.recv(); // a sender does not receive
/// ```
///
/// ```compile_fail,E0599
/// # use lisle_core as lisle;
/// let (_tx, rx) = lisle::channel::<u32>();
/// rx.send(1); // nor a receiver send
/// ```
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    labelled(Label::new("channel"), 0)
}

/// Creates a channel that buffers up to `capacity` messages. A send completes when there is room.
/// With a capacity of 0 it is a rendezvous [`channel`].
///
/// The buffer is allocated immediately.
///
/// # Examples
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::channel::{TrySendError, bounded};
///
/// let (tx, rx) = bounded(1);
/// tx.send("first").unwrap(); // there is room
/// assert_eq!(tx.try_send("second"), Err(TrySendError::Full("second")));
/// assert_eq!(rx.recv(), Ok("first"));
/// tx.send("second").unwrap(); // there is room again
/// ```
#[track_caller]
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    labelled(Label::new("channel"), capacity)
}

/// Creates a [`bounded`] channel with a name, which appears in reports of waiting performers.
///
/// ```
/// # use lisle_core as lisle;
/// let (jobs, queue) = lisle::channel::named("jobs", 16);
/// jobs.send("sweep").unwrap();
/// assert_eq!(queue.recv(), Ok("sweep"));
/// ```
#[track_caller]
pub fn named<T>(name: &str, capacity: usize) -> (Sender<T>, Receiver<T>) {
    labelled(Label::new("channel").named(name), capacity)
}

fn labelled<T>(label: Label, capacity: usize) -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(Shared::new(capacity, label));
    (Sender::new(shared.clone()), Receiver::new(shared))
}
