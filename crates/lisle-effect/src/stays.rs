//! What stays on its thread, and what the compiler says of code that sends it to another.

use crate::continuation::{Continuation, Next};
use crate::generator::{Generator, Values};
use crate::kept::Suspended;

/// What may be sent to another thread though it refers to a suspended stack: nothing. It is there for
/// its message.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be sent to another thread",
    label = "this sends a suspended computation to another thread",
    note = "the frames of a suspended computation may hold values that are not `Send`, and may refer to the locals of their \
            thread or fiber: the computation can go on only where it was suspended",
    note = "send the computation a value through a channel, or spawn a fiber (`lisle::spawn`) for code that runs elsewhere"
)]
pub trait MayBeSent {}

// SAFETY: this is never so, since nothing is `MayBeSent`. It holds for all in this module.
unsafe impl<A, R> Send for Suspended<A, R> where Suspended<A, R>: MayBeSent {}
// SAFETY: as above.
unsafe impl<'k, 'env, A, R> Send for Continuation<'k, 'env, A, R> where Continuation<'k, 'env, A, R>: MayBeSent
{}
// SAFETY: as above.
unsafe impl<'k, R> Send for Next<'k, R> where Next<'k, R>: MayBeSent {}
// SAFETY: as above.
unsafe impl<T> Send for Generator<T> where Generator<T>: MayBeSent {}
// SAFETY: as above.
unsafe impl<'s, T> Send for Values<'s, T> where Values<'s, T>: MayBeSent {}
