//! Handing a span on.

use tracing::Span;

/// `f`, to be run within the span that is current now: for what is spawned as a part of it.
///
/// A fiber begins in no span, whoever spawns it, as a thread does.
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
