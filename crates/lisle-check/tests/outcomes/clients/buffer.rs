//! A channel with room for one message.

use super::Client;
use lisle_core::channel::{Receiver, Sender, bounded};

pub(crate) const CLIENTS: Client<(Sender<u32>, Receiver<u32>)> =
    Client { primitive: "buffer", make: || bounded(1), operations: super::ON_A_CHANNEL };
