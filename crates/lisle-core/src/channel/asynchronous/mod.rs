//! Sends that their sender does not wait for. (The receives are tasks, and lie with those.)

mod begun;
mod error;
mod sending;

#[doc(hidden)]
pub use begun::{Begun, Outcome, Place, UnderWay};
pub use error::{AsyncRecvError, AsyncSendError};
pub use sending::{AsyncSend, SendAsyncEvt};
