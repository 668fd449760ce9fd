//! Effects of any type, for clauses that do not know the types of the effects.

use crate::effect::Effect;
use std::any::{Any, type_name};
use std::fmt;
use std::panic::Location;

/// An effect of some type, as a clause given to [`Handler::answer_any`](crate::Handler::answer_any) sees it.
///
/// If the clause does not [answer](AnyEffect::answer) the effect, it goes on to the handlers around.
pub struct AnyEffect<'p> {
    slot: &'p mut dyn Offered,
    site: &'static Location<'static>,
}

/// An effect that is offered to clauses, and its answer once a clause has given one.
pub(crate) struct Slot<E: Effect> {
    pub(crate) effect: Option<E>,
    pub(crate) answer: Option<E::Answer>,
}

/// A [`Slot`], without its type.
trait Offered: Any {
    fn effect(&self) -> Option<&dyn Any>;
    fn name(&self) -> &'static str;
}

impl<E: Effect> Offered for Slot<E> {
    fn effect(&self) -> Option<&dyn Any> {
        self.effect.as_ref().map(|effect| effect as _)
    }

    fn name(&self) -> &'static str {
        type_name::<E>()
    }
}

impl<'p> AnyEffect<'p> {
    pub(crate) fn new<E: Effect>(slot: &'p mut Slot<E>, site: &'static Location<'static>) -> Self {
        AnyEffect { slot, site }
    }

    /// Answers the effect, if it is of type `E` and has not been answered.
    ///
    /// Calls for different types may follow one another. `answer` may perform effects and panic, as a clause
    /// given to [`Handler::answer`](crate::Handler::answer) may.
    pub fn answer<E: Effect>(&mut self, answer: impl FnOnce(E) -> E::Answer) -> &mut Self {
        let slot: &mut dyn Any = self.slot;
        if let Some(slot) = slot.downcast_mut::<Slot<E>>()
            && let Some(effect) = slot.effect.take()
        {
            slot.answer = Some(answer(effect));
        }
        self
    }

    /// Returns `true` if the effect has been answered, and so does not go on.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        self.slot.effect().is_none()
    }

    /// Returns the effect, if it is of type `E` and has not been answered.
    #[must_use]
    pub fn downcast_ref<E: Effect>(&self) -> Option<&E> {
        self.slot.effect()?.downcast_ref()
    }

    /// Returns the name of the effect's type, for messages: see [`type_name`].
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.slot.name()
    }

    /// Returns the place at which the effect was performed.
    #[must_use]
    pub fn site(&self) -> &'static Location<'static> {
        self.site
    }
}

impl fmt::Debug for AnyEffect<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyEffect")
            .field("name", &self.name())
            .field("site", &self.site)
            .field("is_answered", &self.is_answered())
            .finish()
    }
}
