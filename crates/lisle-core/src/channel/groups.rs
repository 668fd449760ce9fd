//! Sends to each of several channels, and receives from each of several channels.

use crate::channel::{Receiver, RecvEvt, SendEvt, Sender};
use crate::event::ChooseAll;
use crate::event::choose_all;

/// Returns the event of having sent each of `values` on the sender at the same position, in any
/// order. Each performance sends clones of the values. The event gives the result of each send.
///
/// It is a [`choose_all`] of sends, with its [behaviour in a choice](choose_all#in-a-choice).
///
/// # Panics
///
/// Panics if the numbers of values and senders differ.
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::{Event, channel, channel::{gather, scatter}};
/// use std::thread;
///
/// let (work, jobs): (Vec<_>, Vec<_>) = (0..3).map(|_| channel::<u64>()).unzip();
/// let (answers, answer): (Vec<_>, Vec<_>) = (0..3).map(|_| channel::<u64>()).unzip();
/// for (job, answer) in jobs.into_iter().zip(answers) {
///     thread::spawn(move || job.iter().try_for_each(|n| answer.send(n * n)));
/// }
/// assert!(scatter(&work, [1, 2, 3]).sync().iter().all(Result::is_ok));
/// assert_eq!(gather(&answer).sync(), [Ok(1), Ok(4), Ok(9)]);
/// ```
///
/// # Examples
///
/// ```should_panic
/// # use lisle_core as lisle;
/// let (tx, _rx) = lisle::channel();
/// let _ = lisle::channel::scatter(&[tx], [1, 2]); // there is one sender
/// ```
pub fn scatter<T, V>(senders: &[Sender<T>], values: V) -> ChooseAll<Vec<SendEvt<'_, T>>>
where
    T: Send + Clone,
    V: IntoIterator<Item = T>,
{
    let mut values = values.into_iter();
    let sends: Vec<_> =
        senders.iter().zip(&mut values).map(|(sender, value)| sender.send_evt(value)).collect();
    assert!(sends.len() == senders.len(), "`scatter` wants a value for each of its senders, and has too few");
    assert!(values.next().is_none(), "`scatter` wants a sender for each of its values, and has too few");
    choose_all(sends)
}

/// Returns the event of having received one message from each of `receivers`, in any order. It
/// gives the messages in the order of the receivers.
///
/// It is a [`choose_all`] of receives, with its [behaviour in a choice](choose_all#in-a-choice).
/// See [`scatter`] for an example.
///
/// # Examples
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::channel::{RecvError, bounded, gather};
/// use lisle::Event;
///
/// let ((one, from_one), (other, from_other)) = (bounded(1), bounded(1));
/// let receivers = [from_one, from_other];
/// one.send(1).unwrap();
/// drop(other); // a closed channel does not keep the others waiting
/// assert_eq!(gather(&receivers).sync(), [Ok(1), Err(RecvError)]);
/// ```
pub fn gather<T: Send>(receivers: &[Receiver<T>]) -> ChooseAll<Vec<RecvEvt<'_, T>>> {
    choose_all(receivers.iter().map(Receiver::recv_evt).collect())
}
