//! SIGINT and SIGTERM, which both say that the server is to end.

use std::io;

use lisle::signal::{SIGINT, SIGTERM, Signal, signal};
use lisle::{Event, choose};

/// Both signals, caught.
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
