//! The report to a model about a performer that waits for one thing: the condition on which it goes
//! on, and the thing that it takes then.
//!
//! Without a model a receiver looks for a message, and if there is none it leaves a waiter, to
//! which a sender hands its message over. A model that ran these steps would distinguish whether
//! the receiver or the sender came first, although nothing else can. So where no code can see that
//! a receiver waits, a model lets it begin when its message is there, as it does with locks. The
//! receiver then follows the sender of its message, and the two are no race.

/// The awaited thing of a performer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// That something is so: a lock is free, a fiber has ended.
    Free,
    /// A message in a queue, or the end of all messages.
    Message,
    /// A place in a queue of bounded length, or that messages are refused.
    Place,
}

/// The awaited thing of a performer, and whether it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub struct Awaits {
    pub what: Awaited,
    pub is_there: bool,
}
