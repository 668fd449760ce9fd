//! Types that stay on their thread, and the message of the compiler for code that sends them to
//! another.

use crate::continuation::{Continuation, Next};
use crate::generator::{Generator, Values};
use crate::kept::Suspended;

/// A value that refers to a suspended stack and may be sent to another thread. No type implements
/// this: the trait exists for its message.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be sent to another thread",
    label = "this sends a suspended computation to another thread",
    note = "the frames of a suspended computation may hold values that are not `Send`, and may refer to the locals of their \
            thread or fiber: the computation can go on only where it was suspended",
    note = "send the computation a value through a channel, or spawn a fiber (`lisle::spawn`) for code that runs elsewhere"
)]
pub trait MayBeSent {}

// SAFETY: the bound never holds, because no type is `MayBeSent`. This is so for all
// implementations in this module.
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
