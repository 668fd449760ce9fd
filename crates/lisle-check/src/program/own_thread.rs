//! An exploration runs on a thread of its own, and whoever has asked for it waits and watches.
//!
//! What an execution leaves behind stays with its thread: fibers that cannot be unwound, and the
//! panics that they are in the middle of, for `std::thread::panicking` speaks of the thread. No
//! later exploration meets any of it if each has a thread of its own. And a step that never ends
//! keeps that thread, but not the one that waits.

use super::watch::{Hung, Watch};
use crate::explore::Ending;
use lisle_runtime::model;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// What the thread hears that waits.
enum Told {
    Ended(Ending),
    Over,
}

/// Tells the thread that waits how each execution ends, and goes on when it has heard.
pub(super) struct Teller {
    tell: Sender<Told>,
    heard: Mutex<Receiver<()>>,
}

impl Teller {
    /// Tells how an execution has ended.
    ///
    /// # Panics
    ///
    /// If nobody listens any more.
    pub(super) fn tell(&self, ending: Ending) {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let is_heard = self.tell.send(Told::Ended(ending)).is_ok() && heard.recv().is_ok();
        assert!(is_heard, "whoever was told how executions end has panicked");
    }
}

/// Tells that the exploration is over, also by a panic, when it is dropped.
struct Over(Sender<Told>);

impl Drop for Over {
    fn drop(&mut self) {
        // Nobody listens any more if `each` has panicked.
        let _ = self.0.send(Told::Over);
    }
}

/// Calls `explore` on a thread of its own, and watches it; tells `each` meanwhile what
/// [`Teller::tell`] is told. Returns what does not end if `explore` does not for that; its thread
/// is left behind then.
///
/// # Panics
///
/// With the panic of `explore` or `each`, if this thread is one of a runtime, and if the system
/// gives no thread.
#[track_caller]
pub(super) fn run<R: Send + 'static>(
    watch: &Watch,
    each: Option<&dyn Fn(Ending)>,
    explore: impl FnOnce(Option<Teller>) -> R + Send + 'static,
) -> Result<R, Hung> {
    model::assert_no_domain();
    let ((tell, told), (hear, heard)) = (channel(), channel());
    let over = Over(tell.clone());
    let teller = each.is_some().then(|| Teller { tell, heard: Mutex::new(heard) });
    // What the program prints says which test it is.
    let name = thread::current().name().unwrap_or("a check").to_owned();
    let explored = thread::Builder::new().name(name).spawn(move || {
        let _over = over;
        explore(teller)
    });
    let explored = explored.unwrap_or_else(|error| panic!("the checker has no thread to begin on: {error}"));
    let mut looks = watch.looks();
    loop {
        // Who is told much is not kept from looking.
        if looks.until_next().is_zero()
            && let Some(hung) = looks.look()
        {
            // If the step ends after all, nobody wants what comes after it.
            watch.give_up();
            return Err(hung);
        }
        match told.recv_timeout(looks.until_next()) {
            Ok(Told::Ended(ending)) => {
                let tell_each = || each.into_iter().for_each(|each| each(ending));
                if let Err(panic) = catch_unwind(AssertUnwindSafe(tell_each)) {
                    drop((told, hear));
                    drop(explored.join());
                    resume_unwind(panic);
                }
                let _ = hear.send(());
            }
            Err(RecvTimeoutError::Timeout) => {}
            // Joined, it has dropped what it had of the program.
            Ok(Told::Over) | Err(RecvTimeoutError::Disconnected) => {
                return Ok(explored.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
        }
    }
}
