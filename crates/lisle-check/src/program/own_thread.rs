//! Runs an exploration on a thread of its own, while the calling thread waits and watches.
//!
//! An execution may leave fibers that cannot be unwound, and their unfinished panics, which
//! `std::thread::panicking` counts by thread. With a thread for each exploration, no later
//! exploration meets them. And a step that never ends keeps that thread, but not the calling one.

use super::watch::{Hung, Watch};
use crate::explore::Ending;
use lisle_runtime::internal::model;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The messages to the waiting thread.
enum Told {
    Ended(Ending),
    Over,
}

/// Sends the ending of each execution to the waiting thread, and waits for its acknowledgement.
pub(super) struct Teller {
    tell: Sender<Told>,
    heard: Mutex<Receiver<()>>,
}

impl Teller {
    /// Sends the ending of an execution.
    ///
    /// # Panics
    ///
    /// If the waiting thread does not listen any more.
    pub(super) fn tell(&self, ending: Ending) {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let is_heard = self.tell.send(Told::Ended(ending)).is_ok() && heard.recv().is_ok();
        assert!(is_heard, "the function given to `explore_each` has panicked");
    }
}

/// Tells that the exploration is over, also by a panic, when it is dropped.
struct Over(Sender<Told>);

impl Drop for Over {
    fn drop(&mut self) {
        // No thread listens any more if `each` has panicked.
        let _ = self.0.send(Told::Over);
    }
}

/// Calls `explore` on a thread of its own, and watches it. Meanwhile calls `each` with the endings
/// given to [`Teller::tell`]. If a step keeps `explore` from ending, returns the step and leaves
/// the thread behind.
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
    // The name shows the test in the program's messages.
    let name = thread::current().name().unwrap_or("a check").to_owned();
    let explored = thread::Builder::new().name(name).spawn(move || {
        let _over = over;
        explore(teller)
    });
    let explored = explored.unwrap_or_else(|error| panic!("the checker has no thread to begin on: {error}"));
    let mut looks = watch.looks();
    loop {
        // Many messages must not keep this thread from looking.
        if looks.until_next().is_zero()
            && let Some(hung) = looks.look()
        {
            // If the step ends after all, its execution is given up.
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
            // After the join, the thread has dropped its part of the program.
            Ok(Told::Over) | Err(RecvTimeoutError::Disconnected) => {
                return Ok(explored.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
        }
    }
}
