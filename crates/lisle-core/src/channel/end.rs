//! Which ends belong to one channel.

use super::{MailReceiver, MailSender, Multicast, Port, Receiver, Sender};

/// An end of a channel of any kind, to be asked [whether it is of the same one](Sender::same_channel). Nobody else implements
/// it.
pub trait ChannelEnd: Address {}

pub trait Address {
    /// Where the channel is, which stays there as long as it has an end.
    fn address(&self) -> usize;
}

macro_rules! ends {
    ($($end:ident: $shared:ident)*) => { $(
        impl<T> Address for $end<T> {
            fn address(&self) -> usize {
                std::ptr::from_ref(&*self.$shared).addr()
            }
        }

        impl<T> ChannelEnd for $end<T> {}

        impl<T> $end<T> {
            /// Returns `true` if the other end is one of the same channel: a clone, or an end of the other side.
            ///
            /// ```
            /// let (tx, rx) = lisle::channel::<u32>();
            /// assert!(tx.same_channel(&tx.clone()) && tx.same_channel(&rx));
            /// assert!(!tx.same_channel(&lisle::channel::<u32>().0));
            /// ```
            pub fn same_channel(&self, other: &impl ChannelEnd) -> bool {
                self.address() == other.address()
            }
        }
    )* };
}

ends! {
    Sender: shared
    Receiver: shared
    MailSender: mailbox
    MailReceiver: mailbox
    Multicast: shared
    Port: shared
}
