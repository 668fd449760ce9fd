//! Effects: operations that code asks of its surroundings, and handlers that decide what they mean.
//!
//! A computation [*performs*](perform) an effect, a value of a type of its own. The nearest
//! [*handler*](handle) for that type decides about it: it answers at once, as a function does; or
//! it is given the *continuation*, which is the rest of the computation, and resumes it at once,
//! later, elsewhere in the program, or never. With that, generators, schedulers, exceptions, state,
//! and doubles of the world in tests are ordinary library code, in direct style.
//!
//! ```
//! use lisle::effect::{Effect, finish, handle, perform};
//!
//! struct Ask;
//! impl Effect for Ask {
//!     type Answer = u32;
//! }
//! let twice = || perform(Ask) + perform(Ask);
//!
//! assert_eq!(handle(twice).answer(|Ask| 21).run(), 42); // in place, as a call
//! assert_eq!(handle(twice).on(|Ask, k| k.resume(21)).run(), 42); // with the continuation
//! assert_eq!(handle(twice).on(|Ask, _| finish(0)).run(), 0); // which nobody resumes
//! ```
//!
//! The guide has [*Effects in ten minutes*](crate::guide::effects).
//!
//! # How it works
//!
//! A handled computation runs on a stack of its own, within its fiber or thread. To suspend it is
//! to switch to the stack on which the handler was put in place. Stacks come from those of the
//! domain in a fiber, and from a pool of the thread elsewhere; a handled computation allocates
//! nothing once there is one.
//!
//! Handlers are *deep*: a handler stays in place when the computation is resumed. Continuations are
//! *one-shot*: to resume one consumes it.
//!
//! # Fibers, tasks, loops
//!
//! - Handled code may do what other code may. If it waits for an event, its fiber waits.
//! - A fiber does not see the handlers of the code that spawned it, nor does a task, which might
//!   begin elsewhere.
//! - A part of a loop or join of [`par`](crate::par) may run on another domain. An effect that
//!   would leave it is a panic, whether or not the part has run elsewhere.
//! - When a runtime ends, fibers are unwound through the computations that run in them.
//!
//! # Soundness
//!
//! What is said of [fibers](crate::fiber#soundness) holds of handled computations, also on a plain
//! thread without fibers. While one is suspended, the code of the handler runs on the same thread,
//! before the calls of the computation have returned. Do not perform an effect that suspends
//! between the beginning and the end of a call that relies on the order in which calls end. The
//! first example is the initializer of a [`std::thread_local!`]: if it performs an effect, and the
//! handler keeps the continuation and uses the thread-local itself, then the value that it borrows
//! is dropped when the initializer goes on. Initialize by `const { … }`, or in
//! [`no_suspend`](crate::fiber::no_suspend()), which enforces the rule here, too.
//!
//! What is kept in a thread-local at the end of its thread is not unwound, since its frames may
//! refer to another that is gone: see [`Suspended`].

#[doc(inline)]
pub use lisle_effect::*;
