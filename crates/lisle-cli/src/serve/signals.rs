//! SIGINT and SIGTERM, which both say that the server is to end; SIGQUIT, which asks what it is doing.

use std::io;
use std::thread;

use lisle::signal::{SIGINT, SIGQUIT, SIGTERM, Signal, signal};
use lisle::sync::Condition;
use lisle::{Event, choose};

/// Both signals to end, caught.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Begins to catch both.
    pub(crate) fn catch() -> io::Result<Self> {
        Ok(Signals { interrupt: signal(SIGINT)?, terminate: signal(SIGTERM)? })
    }

    /// The event of either of them having come.
    pub(crate) fn any_evt(&self) -> impl Event<Output = ()> {
        // A signal that cannot be waited for is taken for one that has come: better to end than not to be told to.
        choose((self.interrupt.recv_evt(), self.terminate.recv_evt())).wrap(drop)
    }
}

/// Runs `serve`, and meanwhile `show` for each SIGQUIT.
///
/// What the server is doing is most wanted when it does nothing, so a plain thread answers, and asks no host.
pub(crate) fn answering<T>(show: impl Fn() + Sync, serve: impl FnOnce() -> T) -> io::Result<T> {
    /// Ends the thread, also if `serve` panics.
    struct End<'a>(&'a Condition);
    impl Drop for End<'_> {
        fn drop(&mut self) {
            self.0.signal();
        }
    }
    let quit = signal(SIGQUIT)?;
    let ended = Condition::new().named("ended");
    thread::scope(|scope| {
        let (show, quit, ended) = (&show, &quit, &ended);
        thread::Builder::new().name("lisle-signals".to_owned()).spawn_scoped(scope, move || {
            let asked =
                choose((quit.recv_evt().wrap(|came| came.is_ok()), ended.wait_evt().wrap(|()| false)));
            while asked.sync() {
                show();
            }
        })?;
        let _end = End(ended);
        Ok(serve())
    })
}
