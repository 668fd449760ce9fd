//! The guide: a series of pages, from the first event to the pitfalls.
//!
//! - [`tour`]: *A tour*, one paragraph and one example for each part of the library.
//! - [`events`]: *Events in ten minutes*, for readers who have never met Concurrent ML.
//! - [`tasks`]: *Tasks in ten minutes*, `async` blocks that cost a call unless they wait.
//! - [`effects`]: *Effects in ten minutes*, for readers who have never met effect handlers, and for
//!   readers who know OCaml's.
//! - [`from_go`]: *From Go's select*, idiom by idiom.
//! - [`from_tokio`]: *From tokio's select!*, the reasons for cancel safety, and how to use both
//!   libraries.
//! - [`servers`]: *Servers*, for readers who know axum or hyper: connections, deadlines, files and
//!   heavy computation.
//! - [`from_rayon`]: *From rayon*, the same iterators on the cores that serve requests.
//! - [`from_racket_and_fibers`]: *From Racket and Guile Fibers*, name by name, with the names of
//!   Concurrent ML.
//! - [`cancellation`]: *Cancellation*, the ways to end without a value, and the guarantees of each.
//! - [`pitfalls`]: *Pitfalls*, and how to see them in a program.
//! - [`threads`]: *When a thread is the better fiber*, with the costs of spawning and of blocking
//!   calls.
//! - [`compared`]: *Events compared*, a table of Concurrent ML, Racket, Hopac, Guile Fibers, Go,
//!   Kotlin, tokio, crossbeam and this library.
//!
//! The tests compile and run all examples.

#[doc = include_str!("tour.md")]
pub mod tour {}

#[doc = include_str!("events.md")]
pub mod events {}

#[doc = include_str!("tasks.md")]
pub mod tasks {}

#[doc = include_str!("effects.md")]
pub mod effects {}

#[doc = include_str!("from_go.md")]
pub mod from_go {}

#[doc = include_str!("from_tokio.md")]
pub mod from_tokio {}

#[doc = include_str!("servers.md")]
pub mod servers {}

#[doc = include_str!("from_rayon.md")]
pub mod from_rayon {}

#[doc = include_str!("from_racket_and_fibers.md")]
pub mod from_racket_and_fibers {}

#[doc = include_str!("cancellation.md")]
pub mod cancellation {}

#[doc = include_str!("pitfalls.md")]
pub mod pitfalls {}

#[doc = include_str!("threads.md")]
pub mod threads {}

#[doc = include_str!("compared.md")]
pub mod compared {}
