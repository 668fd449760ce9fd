//! What the code tells a model that runs it: the operations that others see, and the objects that they
//! touch; and what no model can check.
//!
//! A model runs a program alone, again and again, and decides what comes next. What happens outside
//! of the program would come when it likes, and not again in the same way. An operation that lets
//! it in therefore panics where a model runs the calling code, and says what to put in its place.

use super::context::{Context, Doing, in_model};
use crate::event::telling::waits::Label;
use crate::shim::model::{Touch, is_running, touched};

/// When time begins in a model, in nanoseconds of the library's clock: a hundred years after it does
/// elsewhere. So a point in time tells whether it is of a model.
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

/// Does the same as [`visible_on`], and says which operation it is: a verb that the object, of
/// which this is the label, is appended to.
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
fn tell(context: &dyn Context, operation: &'static str, label: &Label, address: usize, size: usize) {
    context.about_to(Doing::One(operation, label, address));
    context.about_to_touch(address, size, label.made());
    context.visible();
}

/// Tells a model that others may run here.
#[inline(always)]
#[doc(hidden)]
pub fn visible() {
    in_model().into_iter().for_each(Context::visible);
}

/// Returns `true` if a model runs the calling code, which then takes no short cut: an operation
/// that is tried first and then performed would be two steps.
#[inline(always)]
#[doc(hidden)]
pub fn is_modelled() -> bool {
    in_model().is_some_and(|context| context.is_model())
}

/// Tells a model of an object without a label that the running operation touches, and how large it
/// is.
#[inline(always)]
#[doc(hidden)]
pub fn declare<T: ?Sized>(object: &T) {
    if is_running() {
        declare_made(&Label::anywhere(std::any::type_name::<T>()), object);
    }
}

/// Tells a model of an object that the running operation touches, how large it is, and by its label
/// where it was made.
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

/// Adds to a count, which is at `place`, and returns what `add` returns. A model is told that this
/// commutes with what others add if `commutes` returns `true`: the count learns nothing, and nobody
/// waits for it.
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

/// Panics if a model runs the calling code. `what` is something that cannot be checked because of
/// `why`; `instead` says what can.
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
