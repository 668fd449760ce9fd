//! Sends that the sender does not wait for. Asynchronous receives are tasks and are defined with
//! them.

mod begun;
mod error;
mod sending;

#[doc(hidden)]
pub use begun::{Begun, Outcome, OutcomeSlot, UnderWay};
pub use error::{AsyncRecvError, AsyncSendError};
pub use sending::{AsyncSend, SendAsyncEvt};
