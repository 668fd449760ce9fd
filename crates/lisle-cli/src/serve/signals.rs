//! SIGINT and SIGTERM as messages; SIGQUIT as a question.
//!
//! A signal handler may do next to nothing, and a signal that is waited for blocks a thread; so one plain thread waits and
//! sends on a channel what it has got. That a channel's two ends may be a thread and a host is all that is needed.
//!
//! SIGQUIT asks what the server is doing, and is most wanted when it does nothing; so the thread answers it by itself,
//! without asking any host.

use std::io;
use std::thread;

use lisle::channel::Receiver;
use signal_hook::consts::{SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

/// Begins to catch the signals. Those that come before [`with`] wait for it.
pub(crate) fn catch() -> io::Result<Signals> {
    Signals::new([SIGINT, SIGTERM, SIGQUIT])
}

/// Runs `serve` with a channel on which each SIGINT and SIGTERM arrives, as its number, and meanwhile `show` for each SIGQUIT.
pub(crate) fn with<T>(
    mut signals: Signals,
    show: impl Fn() + Sync,
    serve: impl FnOnce(&Receiver<i32>) -> T,
) -> io::Result<T> {
    /// Ends the thread, whether it waits for a signal or for somebody to take one.
    struct End<'a>(Handle, &'a Receiver<i32>);
    impl Drop for End<'_> {
        fn drop(&mut self) {
            self.0.close();
            self.1.close();
        }
    }
    let (sender, receiver) = lisle::channel::named("signals", 4);
    let handle = signals.handle();
    thread::scope(|scope| {
        let show = &show;
        thread::Builder::new().name("lisle-signals".to_owned()).spawn_scoped(scope, move || {
            for signal in signals.forever() {
                if signal == SIGQUIT {
                    show();
                } else if sender.send(signal).is_err() {
                    break;
                }
            }
        })?;
        let _end = End(handle, &receiver);
        Ok(serve(&receiver))
    })
}
