//! A stand-in for `lisle::parasite`: to be removed with the merge that brings it, and `crate::parasite` replaced by
//! `lisle::parasite` (and `lisle::spawn_parasite`). Parasites are hosts here.

use lisle::{JoinHandle, channel::Sender};

pub(crate) fn spawn_parasite<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    lisle::spawn(move || lisle::future::block_on(future))
}

pub(crate) async fn inflate() {}

pub(crate) trait SendAsync<T> {
    async fn send_async_evt(&self, value: T);
}

impl<T: Send + Clone + 'static> SendAsync<T> for Sender<T> {
    async fn send_async_evt(&self, value: T) {
        let _ = self.send_evt(value).await;
    }
}
