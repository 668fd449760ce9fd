//! Channels for plain threads.

/// A channel whose operations block the thread. Capacity 0 is a rendezvous.
pub(crate) trait BlockingChannel: 'static {
    type Sender: Clone + Send + 'static;
    type Receiver: Send + 'static;

    fn bounded(capacity: usize) -> (Self::Sender, Self::Receiver);
    fn send(sender: &Self::Sender, message: u64);
    /// `None`: closed, and nothing is left.
    fn receive(receiver: &Self::Receiver) -> Option<u64>;
}

/// The channels of the standard library, which are crossbeam's inside.
pub(crate) struct Std;

impl BlockingChannel for Std {
    type Sender = std::sync::mpsc::SyncSender<u64>;
    type Receiver = std::sync::mpsc::Receiver<u64>;

    fn bounded(capacity: usize) -> (Self::Sender, Self::Receiver) {
        std::sync::mpsc::sync_channel(capacity)
    }

    fn send(sender: &Self::Sender, message: u64) {
        sender.send(message).expect("the receiver is there");
    }

    fn receive(receiver: &Self::Receiver) -> Option<u64> {
        receiver.recv().ok()
    }
}

pub(crate) struct Crossbeam;

impl BlockingChannel for Crossbeam {
    type Sender = crossbeam_channel::Sender<u64>;
    type Receiver = crossbeam_channel::Receiver<u64>;

    fn bounded(capacity: usize) -> (Self::Sender, Self::Receiver) {
        crossbeam_channel::bounded(capacity)
    }

    fn send(sender: &Self::Sender, message: u64) {
        sender.send(message).expect("the receiver is there");
    }

    fn receive(receiver: &Self::Receiver) -> Option<u64> {
        receiver.recv().ok()
    }
}
