//! The reports of code to a model that runs it: operations that others see, with the objects that they
//! touch. Operations that no model can check panic here.
//!
//! A model runs a program alone, again and again, and chooses each next step. Input from outside of
//! the program would come at any time, and not again in the same way. So in a model an operation
//! that waits for such input panics, and the message names a replacement.

use super::context::{Doing, PerformerContext, in_model};
use crate::event::telling::waits::Label;
use crate::shim::model::{Touch, is_running, touched};

/// The beginning of time in a model, in nanoseconds of the library's clock: a hundred years later
/// than elsewhere. So a point in time shows whether it comes from a model.
#[doc(hidden)]
pub const MODEL_ERA: u64 = 100 * 365 * 24 * 3_600 * 1_000_000_000;

/// Tells a model that an operation on `object` follows, which others see. Where there can be no
/// model it costs nothing.
#[inline(always)]
#[doc(hidden)]
pub fn visible_on<T: ?Sized>(object: &T) {
    if is_running() {
        visible_doing("", &Label::anywhere(std::any::type_name::<T>()), object);
    }
}

/// Does the same as [`visible_on`], and names the operation: a verb, to which the object's label is
/// appended.
#[inline(always)]
#[doc(hidden)]
pub fn visible_doing<T: ?Sized>(operation: &'static str, label: &Label, object: &T) {
    if let Some(context) = in_model() {
        let address = std::ptr::from_ref(object).cast::<()>().addr();
        tell(context, operation, label, address, size_of_val(object));
    }
}

/// Tells a model which operation follows on the object with this label, address and size.
#[cold]
fn tell(context: &dyn PerformerContext, operation: &'static str, label: &Label, address: usize, size: usize) {
    context.about_to(Doing::One(operation, label, address));
    context.about_to_touch(address, size, label.made());
    context.visible();
}

/// Tells a model that others may run here.
#[inline(always)]
#[doc(hidden)]
pub fn visible() {
    in_model().into_iter().for_each(PerformerContext::visible);
}

/// Returns `true` if a model runs the calling code, which then must take no short cut: an operation
/// that is tried first and then performed would be two steps.
#[inline(always)]
#[doc(hidden)]
pub fn is_modelled() -> bool {
    in_model().is_some_and(|context| context.is_model())
}

/// Tells a model of an object without a label that the running operation touches, with its size.
#[inline(always)]
#[doc(hidden)]
pub fn declare<T: ?Sized>(object: &T) {
    if is_running() {
        declare_made(&Label::anywhere(std::any::type_name::<T>()), object);
    }
}

/// Tells a model of an object that the running operation touches, with its size and its label,
/// which has the place where it was made.
#[inline(always)]
#[doc(hidden)]
pub fn declare_made<T: ?Sized>(label: &Label, object: &T) {
    if let Some(context) = in_model() {
        let address = std::ptr::from_ref(object).cast::<()>().addr();
        context.about_to_touch(address, size_of_val(object), label.made());
    }
}

/// Tells a model that an object is gone, and something else may come to its place.
#[inline(always)]
#[doc(hidden)]
pub fn gone<T: ?Sized>(object: &T) {
    touched(std::ptr::from_ref(object).cast::<()>().addr(), Touch::Gone);
}

/// Adds to a count, which is at `place`, and returns what `add` returns. If `commutes` returns
/// `true`, a model learns that this commutes with the additions of others: the caller does not use
/// the value, and no performer waits for it.
#[inline(always)]
#[doc(hidden)]
pub fn add_to<T, R>(place: &T, add: impl FnOnce() -> R, commutes: impl FnOnce(&R) -> bool) -> R {
    let added = crate::shim::unreported(add);
    if is_running() {
        let touch = if commutes(&added) { Touch::Count } else { Touch::Write };
        touched(std::ptr::from_ref(place).addr(), touch);
    }
    added
}

/// Panics if a model runs the calling code. `what` cannot be checked because of `why`; `instead`
/// names a replacement.
#[inline(always)]
#[track_caller]
#[doc(hidden)]
pub fn cannot_be_checked(what: &str, why: &str, instead: &str) {
    if is_modelled() && !(crate::event::parker::SURROUNDINGS.is_unwinding)() {
        refuse(what, why, instead);
    }
}

#[cold]
#[track_caller]
fn refuse(what: &str, why: &str, instead: &str) -> ! {
    let site = std::panic::Location::caller();
    panic!("{what} cannot be checked: {why}. {instead} (at {site})")
}
