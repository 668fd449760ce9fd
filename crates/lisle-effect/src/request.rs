//! The request of a performer to a handler, and the clause that the performer has found there,
//! without their types.

use crate::any::AnyEffect;
use crate::computation::Header;
use crate::effect::Effect;
use std::any::Any;
use std::cell::Cell;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::NonNull;

/// A clause that was found, without its types.
#[derive(Clone, Copy)]
pub(crate) struct Clause {
    /// The closure of a clause that answers, or otherwise the whole clause, which begins with its
    /// [`Busy`].
    pub(crate) closure: NonNull<()>,
    pub(crate) call: &'static Call,
}

/// Whether the closure of a clause runs while its computation is unwound, and must not be called.
pub(crate) type Busy = Cell<bool>;

/// How to call a clause.
pub(crate) enum Call {
    /// On the performer's stack. The closure, the effect, and the room for its answer.
    InPlace(unsafe fn(NonNull<()>, NonNull<()>, NonNull<()>)),
    /// On the performer's stack, for an effect of any type, which goes on to outer handlers if it
    /// is not answered.
    OfAny(unsafe fn(NonNull<()>, &mut AnyEffect<'_>)),
    /// On the stack of the code that drives or unwinds the computation, which is suspended. It is
    /// called with the request of the performer.
    Suspended(Take),
}

/// Calls a clause for the request of a performer. Returns `true` if the computation goes on.
/// Otherwise it has written the result of the whole to the last argument.
pub(crate) type Take = unsafe fn(NonNull<Asked<()>>, &Header, NonNull<()>, NonNull<()>) -> bool;

/// The request of a performer, which lies on its stack.
#[repr(C)]
pub(crate) struct Asked<T> {
    pub(crate) take: Take,
    pub(crate) closure: NonNull<()>,
    pub(crate) what: T,
}

/// An effect and the room for its answer.
#[repr(C)]
pub(crate) struct Exchange<E: Effect> {
    pub(crate) answer: MaybeUninit<E::Answer>,
    pub(crate) effect: ManuallyDrop<E>,
}

/// The payload of a panic.
pub(crate) type Payload = Box<dyn Any + Send>;
