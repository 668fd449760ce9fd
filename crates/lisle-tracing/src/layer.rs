//! The layer that records which spans are entered.

use crate::entered::{self, Keep, Owner};
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{Arc, Once};
use tracing::span::Id;
use tracing::{Dispatch, Subscriber, dispatcher};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// A layer that keeps the entered spans of a fiber apart, while the fiber waits and other fibers
/// run on its thread. Created by [`layer`].
pub struct FiberSpans {
    owner: Arc<Owner>,
}

/// Creates a layer that keeps the spans of fibers apart, for the subscriber to which it is added.
///
/// It applies to fibers of runtimes that are started after the first call of this function, also of
/// the default runtime. Call it at the beginning of the program, where the subscriber is set up.
/// Its place in the stack of layers does not matter. It must see all spans, so it must not have a
/// filter of its own.
///
/// ```
/// use tracing_subscriber::layer::SubscriberExt;
/// use tracing_subscriber::util::SubscriberInitExt;
///
/// tracing_subscriber::registry()
///     .with(lisle_tracing::layer())
///     .with(tracing_subscriber::fmt::layer())
///     .init();
///
/// lisle::Runtime::builder().domains(1).run(|| {
///     let (tx, rx) = lisle::channel();
///     let asks = lisle::spawn(move || {
///         let _span = tracing::info_span!("asks").entered();
///         tx.send(42).unwrap();
///         tracing::info!("sent"); // in "asks", regardless of other fibers
///     });
///     let _span = tracing::info_span!("answers").entered();
///     tracing::info!("received {}", rx.recv().unwrap()); // in "answers"
///     asks.join().unwrap();
/// });
/// ```
pub fn layer() -> FiberSpans {
    static HOOKED: Once = Once::new();
    HOOKED.call_once(|| lisle::fiber::add_hooks(Keep));
    FiberSpans { owner: Arc::default() }
}

// It remembers its subscriber, which is written once.
impl UnwindSafe for FiberSpans {}
impl RefUnwindSafe for FiberSpans {}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for FiberSpans {
    fn on_register_dispatch(&self, dispatch: &Dispatch) {
        self.owner.register(dispatch, has::<S>);
    }

    fn on_enter(&self, id: &Id, _: Context<'_, S>) {
        if !self.owner.is_registered() {
            // An `Option` or a `Vec` of layers does not pass on the dispatch with which it is
            // registered.
            dispatcher::get_default(|dispatch| {
                if has::<S>(dispatch, id) {
                    self.owner.register(dispatch, has::<S>);
                }
            });
        }
        entered::enter(&self.owner, id);
    }

    fn on_exit(&self, id: &Id, _: Context<'_, S>) {
        entered::exit(&self.owner, id);
    }
}

/// Returns `true` if `S` is a part of this subscriber and has this span.
fn has<S: Subscriber + for<'a> LookupSpan<'a>>(dispatch: &Dispatch, id: &Id) -> bool {
    dispatch.downcast_ref::<S>().is_some_and(|subscriber| subscriber.span_data(id).is_some())
}

impl fmt::Debug for FiberSpans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FiberSpans").field("is_registered", &self.owner.is_registered()).finish()
    }
}
