//! A comparison of channel ends: whether they belong to one channel.

use super::{MailReceiver, MailSender, Multicast, Port, Receiver, Sender};

/// An end of a channel of any kind, which can be [compared](Sender::same_channel) with another.
/// Other crates cannot implement this trait.
pub trait ChannelEnd: Address {}

/// A type with an address that identifies its channel. It is public only as a bound of
/// [`ChannelEnd`], and keeps other crates from implementing that trait.
pub trait Address {
    /// Returns the address of the channel. The channel stays there as long as it has an end, so two
    /// ends that exist at the same time have equal addresses only if the channel is the same.
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
            /// Returns `true` if `other` is an end of the same channel: a clone, or an end of the
            /// other side.
            ///
            /// ```
            /// # use lisle_core as lisle;
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
