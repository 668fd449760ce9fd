//! `lisle serve` from outside: the real program on a port of its own, driven by an HTTP client that
//! knows nothing of it (`ureq`) and by raw sockets that break the rules for clients.
//!
//! No test waits for a guessed time: each waits until something can be observed, with a generous
//! limit, and options make the server's time limits short.

mod abuse;
mod basics;
mod client;
mod crowd;
mod files;
mod logging;
mod shutdown;
mod support;
mod waiting;
