//! Effects beside the other features of the facade: loops, sockets, processes. In a process of its
//! own, since a debugger runs it, too.

#[path = "effects/debugger.rs"]
mod debugger;
#[path = "effects/everything.rs"]
mod everything;
