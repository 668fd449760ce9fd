//! One message to each of several channels, one message from each.

use crate::channel::{Receiver, RecvEvt, SendEvt, Sender};
use crate::event::{ChooseAll, choose_all};

/// The event of each of `values` having been sent on the sender at its place, in whatever order: clones of them, for
/// each time that the event is performed. It gives what came of each.
///
/// A [`choose_all`] of sends, with its [behaviour in a choice](choose_all#in-a-choice).
///
/// # Panics
///
/// If there are not as many values as senders.
///
/// ```
/// use lisle::{Event, channel, channel::{gather, scatter}};
///
/// lisle::run(|| {
///     let (work, jobs): (Vec<_>, Vec<_>) = (0..3).map(|_| channel::<u64>()).unzip();
///     let (answers, answer): (Vec<_>, Vec<_>) = (0..3).map(|_| channel::<u64>()).unzip();
///     for (job, answer) in jobs.into_iter().zip(answers) {
///         lisle::spawn(move || job.iter().try_for_each(|n| answer.send(n * n)));
///     }
///     assert!(scatter(&work, [1, 2, 3]).sync().iter().all(Result::is_ok));
///     assert_eq!(gather(&answer).sync(), [Ok(1), Ok(4), Ok(9)]);
/// });
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

/// The event of one message having come from each of `receivers`, in whatever order; it gives them in the order of the
/// receivers.
///
/// A [`choose_all`] of receives, with its [behaviour in a choice](choose_all#in-a-choice). See [`scatter`] for an example.
pub fn gather<T: Send>(receivers: &[Receiver<T>]) -> ChooseAll<Vec<RecvEvt<'_, T>>> {
    choose_all(receivers.iter().map(Receiver::recv_evt).collect())
}
