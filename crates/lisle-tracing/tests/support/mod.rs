//! A subscriber that remembers which events came in which spans.

use lisle::Runtime;
use std::fmt::Debug;
use std::io::Write;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use tracing::field::{Field, Visit};
use tracing::span::Id;
use tracing::{Dispatch, Event, Subscriber, dispatcher};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

/// The spans and events seen.
#[derive(Clone, Default)]
pub(crate) struct Seen {
    events: Arc<Mutex<Vec<(&'static str, String)>>>,
    moves: Arc<Mutex<Vec<String>>>,
}

impl Seen {
    /// Runs `f` as a fiber of one domain, with the layer.
    pub(crate) fn of(f: impl FnOnce()) -> Self {
        let _watched = watched();
        let (dispatch, seen) = recorded(Some(lisle_tracing::layer()));
        on_one_domain(&dispatch, f);
        assert_eq!(here(&dispatch), "", "the thread is in a span of a fiber's");
        seen
    }

    /// Each event, and the spans in which it came, the outermost first.
    pub(crate) fn events(&self) -> Vec<(&'static str, String)> {
        self.events.lock().unwrap().clone()
    }

    /// All entries and exits.
    pub(crate) fn moves(&self) -> Vec<String> {
        self.moves.lock().unwrap().clone()
    }
}

/// A subscriber, and the spans and events that it sees.
pub(crate) fn recorded(layer: Option<lisle_tracing::FiberSpans>) -> (Dispatch, Seen) {
    let seen = Seen::default();
    let subscriber = tracing_subscriber::registry().with(seen.clone()).with(layer);
    (Dispatch::new(subscriber), seen)
}

/// Runs `f` as a fiber of a runtime with one domain, which is this thread.
pub(crate) fn on_one_domain(dispatch: &Dispatch, f: impl FnOnce()) {
    dispatcher::with_default(dispatch, || Runtime::builder().domains(1).run(f));
}

/// The span that this thread is in.
pub(crate) fn here(dispatch: &Dispatch) -> &'static str {
    dispatch.current_span().metadata().map_or("", |metadata| metadata.name())
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Seen {
    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        struct Text(String);
        impl Visit for Text {
            fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
                if ["message", "name"].contains(&field.name()) {
                    self.0 = format!("{value:?}").replace('"', "");
                }
            }
        }
        let mut text = Text(String::new());
        event.record(&mut text);
        let spans = context.event_scope(event).into_iter().flat_map(|scope| scope.from_root());
        let spans = spans.map(|span| span.name()).collect::<Vec<_>>().join(":");
        self.events.lock().unwrap().push((text.0.leak(), spans));
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        let name = context.span(id).unwrap().name();
        self.moves.lock().unwrap().push(format!("+{name}"));
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        let name = context.span(id).unwrap().name();
        self.moves.lock().unwrap().push(format!("-{name}"));
    }
}

/// Ends the process if the test takes too long: then it hangs.
pub(crate) fn watched() -> mpsc::Sender<()> {
    let (done, is_done) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        if is_done.recv_timeout(Duration::from_secs(120)) == Err(mpsc::RecvTimeoutError::Timeout) {
            // Not by `eprintln`: the test that began the thread would capture it.
            let _ = writeln!(std::io::stderr(), "a test hangs");
            std::process::abort();
        }
    });
    done
}
