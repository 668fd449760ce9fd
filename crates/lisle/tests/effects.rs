//! Effects beside what the facade has besides them: loops, sockets, processes. In a process of its
//! own, since a debugger runs it, too.

#[path = "effects/debugger.rs"]
mod debugger;
#[path = "effects/everything.rs"]
mod everything;
