//! Channels whose operations are futures.

use std::future::Future;

/// A channel for one receiver at a time. Capacity 0 asks for a rendezvous; a system that has none
/// gives its smallest buffer.
pub(crate) trait Channel: 'static {
    type Sender: Clone + Send + Sync + 'static;
    type Receiver: Send + 'static;

    fn bounded(capacity: usize) -> (Self::Sender, Self::Receiver);

    fn send(sender: &Self::Sender, message: u64) -> impl Future<Output = ()> + Send;

    /// `None`: closed, and nothing is left.
    fn receive(receiver: &mut Self::Receiver) -> impl Future<Output = Option<u64>> + Send;

    /// From a plain thread.
    fn send_blocking(sender: &Self::Sender, message: u64);

    /// From a plain thread.
    fn receive_blocking(receiver: &mut Self::Receiver) -> Option<u64>;
}

/// A channel for several receivers.
pub(crate) trait SharedChannel: Channel<Receiver: Clone> {}

/// Lisle's, its events awaited.
pub(crate) struct LisleChannel;

impl SharedChannel for LisleChannel {}

impl Channel for LisleChannel {
    type Sender = lisle::channel::Sender<u64>;
    type Receiver = lisle::channel::Receiver<u64>;

    fn bounded(capacity: usize) -> (Self::Sender, Self::Receiver) {
        lisle::channel::bounded(capacity)
    }

    async fn send(sender: &Self::Sender, message: u64) {
        sender.send_evt(message).await.expect("the receiver is there");
    }

    async fn receive(receiver: &mut Self::Receiver) -> Option<u64> {
        receiver.recv_evt().await.ok()
    }

    fn send_blocking(sender: &Self::Sender, message: u64) {
        sender.send(message).expect("the receiver is there");
    }

    fn receive_blocking(receiver: &mut Self::Receiver) -> Option<u64> {
        receiver.recv().ok()
    }
}

/// tokio's own. It has no rendezvous: one slot is its least.
pub(crate) struct TokioMpsc;

impl Channel for TokioMpsc {
    type Sender = tokio::sync::mpsc::Sender<u64>;
    type Receiver = tokio::sync::mpsc::Receiver<u64>;

    fn bounded(capacity: usize) -> (Self::Sender, Self::Receiver) {
        tokio::sync::mpsc::channel(capacity.max(1))
    }

    async fn send(sender: &Self::Sender, message: u64) {
        sender.send(message).await.expect("the receiver is there");
    }

    fn receive(receiver: &mut Self::Receiver) -> impl Future<Output = Option<u64>> + Send {
        receiver.recv()
    }

    fn send_blocking(sender: &Self::Sender, message: u64) {
        sender.blocking_send(message).expect("the receiver is there");
    }

    fn receive_blocking(receiver: &mut Self::Receiver) -> Option<u64> {
        receiver.blocking_recv()
    }
}

pub(crate) struct Kanal;

impl SharedChannel for Kanal {}

impl Channel for Kanal {
    type Sender = kanal::AsyncSender<u64>;
    type Receiver = kanal::AsyncReceiver<u64>;

    fn bounded(capacity: usize) -> (Self::Sender, Self::Receiver) {
        kanal::bounded_async(capacity)
    }

    async fn send(sender: &Self::Sender, message: u64) {
        sender.send(message).await.expect("the receiver is there");
    }

    async fn receive(receiver: &mut Self::Receiver) -> Option<u64> {
        receiver.recv().await.ok()
    }

    fn send_blocking(sender: &Self::Sender, message: u64) {
        sender.as_sync().send(message).expect("the receiver is there");
    }

    fn receive_blocking(receiver: &mut Self::Receiver) -> Option<u64> {
        receiver.as_sync().recv().ok()
    }
}

pub(crate) struct Flume;

impl SharedChannel for Flume {}

impl Channel for Flume {
    type Sender = flume::Sender<u64>;
    type Receiver = flume::Receiver<u64>;

    fn bounded(capacity: usize) -> (Self::Sender, Self::Receiver) {
        flume::bounded(capacity)
    }

    async fn send(sender: &Self::Sender, message: u64) {
        sender.send_async(message).await.expect("the receiver is there");
    }

    async fn receive(receiver: &mut Self::Receiver) -> Option<u64> {
        receiver.recv_async().await.ok()
    }

    fn send_blocking(sender: &Self::Sender, message: u64) {
        sender.send(message).expect("the receiver is there");
    }

    fn receive_blocking(receiver: &mut Self::Receiver) -> Option<u64> {
        receiver.recv().ok()
    }
}

/// The channel that smol hands on as its own. It has no rendezvous: one slot is its least.
pub(crate) struct AsyncChannel;

impl SharedChannel for AsyncChannel {}

impl Channel for AsyncChannel {
    type Sender = async_channel::Sender<u64>;
    type Receiver = async_channel::Receiver<u64>;

    fn bounded(capacity: usize) -> (Self::Sender, Self::Receiver) {
        async_channel::bounded(capacity.max(1))
    }

    async fn send(sender: &Self::Sender, message: u64) {
        sender.send(message).await.expect("the receiver is there");
    }

    async fn receive(receiver: &mut Self::Receiver) -> Option<u64> {
        receiver.recv().await.ok()
    }

    fn send_blocking(sender: &Self::Sender, message: u64) {
        sender.send_blocking(message).expect("the receiver is there");
    }

    fn receive_blocking(receiver: &mut Self::Receiver) -> Option<u64> {
        receiver.recv_blocking().ok()
    }
}
