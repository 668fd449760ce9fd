//! Objects at which performers wait: a state with a queue, and sets of events that stay published.

pub(crate) mod source;
pub(crate) mod wait_set;
