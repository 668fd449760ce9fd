//! Work in parts: a thread for each part, which sends its result, and one thread that puts the
//! results together.

use lisle::{channel::Receiver, spawn_task, task::inflate};

/// A fiber for each number below `count`, which sends the part of that number. They come in any
/// order.
pub(crate) fn by_fibers<T: Send + 'static>(
    count: usize,
    part: impl Fn(usize) -> T + Clone + Send + 'static,
) -> Receiver<T> {
    let (tx, rx) = lisle::channel();
    for nth in 0..count {
        let (part, tx) = (part.clone(), tx.clone());
        lisle::spawn(move || tx.send(part(nth)).unwrap());
    }
    rx
}

/// As [`by_fibers`], by tasks. They inflate, to run beside each other: a task that makes a part
/// does not wait.
pub(crate) fn by_tasks<T: Send + 'static>(
    count: usize,
    part: impl Fn(usize) -> T + Clone + Send + 'static,
) -> Receiver<T> {
    let (tx, rx) = lisle::channel();
    for nth in 0..count {
        let (part, tx) = (part.clone(), tx.clone());
        spawn_task(async move {
            inflate().await;
            drop(tx.send_async_evt(part(nth)).await);
        });
    }
    rx
}

/// Puts parts that come in any order into the order of their numbers.
pub(crate) fn in_order<T: Clone + Default>(
    count: usize,
    parts: impl IntoIterator<Item = (usize, T)>,
) -> Vec<T> {
    let mut all = vec![T::default(); count];
    parts.into_iter().for_each(|(nth, part)| all[nth] = part);
    all
}
