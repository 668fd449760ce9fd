//! A channel without a buffer.

use super::Client;
use lisle_core::channel::{Receiver, Sender, bounded};

pub(crate) const CLIENTS: Client<(Sender<u32>, Receiver<u32>)> =
    Client { primitive: "rendezvous", make: || bounded(0), operations: super::ON_A_CHANNEL };
