//! Effects: operations that code asks of its surroundings, and handlers that decide what they mean.
//!
//! A computation [*performs*](perform) an effect, a value of a type of its own. The nearest
//! [*handler*](handle) for that type decides about the effect. A handler may answer at once, as a
//! function does. Or it receives the *continuation*, the rest of the computation, and resumes it at
//! once, later, elsewhere in the program, or never. With handlers, generators, schedulers,
//! exceptions, state, and doubles of the world in tests are library code in direct style.
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
//! assert_eq!(handle(twice).answer(|Ask| 21).run(), 42); // answers in place, as a call
//! assert_eq!(handle(twice).on(|Ask, k| k.resume(21)).run(), 42); // resumes the continuation
//! assert_eq!(handle(twice).on(|Ask, _| finish(0)).run(), 0); // drops the continuation
//! ```
//!
//! The guide has [*Effects in ten minutes*](crate::guide::effects).
//!
//! # How it works
//!
//! A handled computation runs on a stack of its own, within its fiber or thread. Suspending it
//! switches to the stack of its handler. In a fiber the stack comes from the stacks of the domain,
//! elsewhere from a pool of the thread. If there is such a stack, a handled computation allocates
//! nothing.
//!
//! Handlers are *deep*: a handler stays in place when the computation is resumed. Continuations are
//! *one-shot*: resuming one consumes it.
//!
//! # Fibers, tasks, loops
//!
//! - Handled code may do everything that other code may do. If it waits for an event, its fiber
//!   waits.
//! - A fiber or a task does not see the handlers of the code that spawned it.
//! - A part of a loop or join of [`par`](crate::par) may run on another domain. An effect that
//!   would leave the part is a panic, whether or not the part has run elsewhere.
//! - When a runtime ends, its fibers are unwound, through the computations that run in them.
//!
//! # Soundness
//!
//! The rule of [fibers](crate::fiber#soundness) holds for handled computations, also on a plain
//! thread without fibers. While a computation is suspended, the code of the handler runs on the same
//! thread, before the calls of the computation have returned. Between the beginning and the end of a
//! call that relies on the nesting of calls, do not perform an effect that suspends. The first
//! example is the initializer of a [`std::thread_local!`]. Suppose that it performs an effect, and
//! that the handler keeps the continuation and uses the thread-local itself. Then the value that the
//! handler borrows is dropped when the initializer goes on. Initialize by `const { … }`, or in
//! [`no_suspend`](crate::fiber::no_suspend()), which enforces the rule here, too.
//!
//! A computation that a thread-local keeps at the end of its thread is not unwound, since its frames
//! may refer to another thread-local that is gone: see [`Suspended`].

#[doc(inline)]
pub use lisle_effect::*;
