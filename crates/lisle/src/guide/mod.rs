//! The guide: a series of pages, from the first event to the pitfalls.
//!
//! - [`tour`]: *A tour*, each part of the library in a paragraph and an example.
//! - [`events`]: *Events in ten minutes*, for readers who have never met Concurrent ML.
//! - [`effects`]: *Effects in ten minutes*, for readers who have never met effect handlers, and
//!   those who know OCaml's.
//! - [`from_go`]: *From Go's select*, idiom by idiom.
//! - [`from_tokio`]: *From tokio's select!*, what cancel safety is about, and how to use both
//!   libraries.
//! - [`from_racket_and_fibers`]: *From Racket and Guile Fibers*, name by name, with the names of
//!   Concurrent ML.
//! - [`cancellation`]: *Cancellation*, the ways to end without a value, and what each of them
//!   guarantees.
//! - [`pitfalls`]: *Pitfalls*, and how to recognize them in a program.
//! - [`threads`]: *When a thread is the better fiber*, with what spawning and blocking calls cost.
//! - [`compared`]: *Who has what*, a table of Concurrent ML, Racket, Hopac, Guile Fibers, Go,
//!   Kotlin, tokio, crossbeam and this library.
//!
//! All examples are compiled and run by the tests.

#[doc = include_str!("tour.md")]
pub mod tour {}

#[doc = include_str!("events.md")]
pub mod events {}

#[doc = include_str!("effects.md")]
pub mod effects {}

#[doc = include_str!("from_go.md")]
pub mod from_go {}

#[doc = include_str!("from_tokio.md")]
pub mod from_tokio {}

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
