//! What has no place in a checked program.
//!
//! A model runs a program alone, again and again, and decides what comes next. What happens outside
//! of the program would come when it likes, and not again in the same way. An operation that lets
//! it in therefore panics where a model runs the calling code, and says what to put in its place.

/// When time begins in a model, in nanoseconds of the library's clock: a hundred years after it does
/// elsewhere. So a point in time tells whether it is of a model.
#[cfg(feature = "model")]
#[doc(hidden)]
pub const MODEL_ERA: u64 = 100 * 365 * 24 * 3_600 * 1_000_000_000;

/// Panics if a model runs the calling code. `what` is something that cannot be checked because of
/// `why`; `instead` says what can.
#[inline(always)]
#[track_caller]
#[doc(hidden)]
pub fn cannot_be_checked(what: &str, why: &str, instead: &str) {
    #[cfg(feature = "model")]
    if super::is_modelled() && !(super::parker::SURROUNDINGS.is_unwinding)() {
        refuse(what, why, instead);
    }
    let _ = (what, why, instead);
}

#[cfg(feature = "model")]
#[cold]
#[track_caller]
fn refuse(what: &str, why: &str, instead: &str) -> ! {
    let site = std::panic::Location::caller();
    panic!("{what} cannot be checked: {why}. {instead} (at {site})")
}
