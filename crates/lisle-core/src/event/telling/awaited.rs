//! What a model is told of a performer that waits for one thing: when it can go on, and what it
//! takes then.
//!
//! Without a model a receiver looks for a message, and if there is none it leaves a waiter, and a
//! sender hands over to that. A model that ran these steps would tell apart who came first, the
//! receiver or the sender, though nothing else can. So where nobody can see that a receiver waits,
//! a model lets it begin when its message is there, as it does with locks. The receiver that takes
//! a message then follows the sender who has sent it, and the two are no race.

/// What a performer waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// That something is so: a lock is free, a fiber has ended.
    Free,
    /// A message in a queue, or the end of all messages.
    Message,
    /// A place in a queue of bounded length, or that messages are refused.
    Place,
}

/// What a performer waits for, and whether it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub struct Awaits {
    pub what: Awaited,
    pub is_there: bool,
}
