//! Passing the current span to spawned code.

use tracing::Span;

/// Wraps `f` in a function that runs it in the span that is current now. Use it for code that is
/// spawned as a part of that span.
///
/// A fiber, like a thread, begins in no span, whatever the span in which it is spawned.
///
/// ```
/// let _span = tracing::info_span!("request").entered();
/// let part = lisle::spawn(lisle_tracing::in_current_span(|| {
///     tracing::info!("in the span of the request");
///     1
/// }));
/// assert_eq!(part.join().unwrap(), 1);
/// ```
pub fn in_current_span<R>(f: impl FnOnce() -> R) -> impl FnOnce() -> R {
    let span = Span::current();
    move || span.in_scope(f)
}
