//! How a wait ends.

/// The reason why [`PerformerContext::park`](crate::event::PerformerContext::park) returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unparked {
    /// The one wake that belongs to this park.
    Woken,
    /// An interruption. The performer must withdraw and unwind, because its runtime shuts down.
    Interrupted,
    /// A [deadline](crate::time::with_deadline) of the calls in progress has passed. The performer
    /// must withdraw, and end its wait.
    Passed,
}

/// How a park may end without a wake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub enum Ends {
    /// It does not: others borrow from the performer until it is woken.
    Never,
    /// The performer is unwound.
    Unwinding,
    /// The performer is unwound when its runtime shuts down. That a deadline has passed is an error
    /// that its operation returns.
    Error,
}

/// The payload that unwinds a fiber at shutdown. It is not a panic of the user's: no hook runs and
/// nothing is printed.
#[derive(Debug)]
#[doc(hidden)]
pub struct Interrupted;
