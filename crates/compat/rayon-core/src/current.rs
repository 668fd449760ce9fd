//! Which pool is that of the code that runs here.

use crate::builder::ThreadPoolBuilder;
use crate::error::ThreadPoolBuildError;
use crate::registry::{Registry, locked};
use lisle_runtime::Handle;
use std::sync::{Arc, Mutex};

/// The pools of runtimes that were not started as pools, and the global one.
static KNOWN: Mutex<Vec<Arc<Registry>>> = Mutex::new(Vec::new());

/// The global pool. Held while that is started.
static GLOBAL: Mutex<Option<Arc<Registry>>> = Mutex::new(None);

/// Returns the pool of the code that runs here: that of its runtime, or else the global one.
pub(crate) fn current() -> Arc<Registry> {
    here().unwrap_or_else(global)
}

/// Returns the pool of the code that runs here, if that is in a runtime.
pub(crate) fn here() -> Option<Arc<Registry>> {
    Registry::with_here(Arc::clone).or_else(|| {
        let registry = of(Handle::try_current()?);
        Registry::is_here(Some(registry.clone()));
        Some(registry)
    })
}

/// Returns `true` if the program has started the runtime of this domain itself, and so has other work for it than
/// loops.
#[inline]
pub(crate) fn has_other_work() -> bool {
    Registry::with_here(|here| here.has_other_work()).unwrap_or_else(|| current().has_other_work())
}

/// Runs `op` with the current pool and in it, as [`Registry::install`] does.
#[track_caller]
pub(crate) fn in_current<R: Send>(op: impl FnOnce(Arc<Registry>) -> R + Send) -> R {
    let registry = current();
    if registry.index().is_some() {
        return op(registry);
    }
    registry.clone().handle().run(|| op(registry))
}

/// Returns the pool of a runtime that was not started as one.
fn of(handle: Handle) -> Arc<Registry> {
    let (registry, ended) = known(handle);
    drop(ended);
    registry
}

/// Does the same, and returns the pools that are forgotten because they are over. With a pool goes its panic
/// handler, which is code of users and may ask for a pool: they are dropped when no lock is held.
fn known(handle: Handle) -> (Arc<Registry>, Vec<Arc<Registry>>) {
    let mut known = locked(&KNOWN);
    let ended = known.extract_if(.., |registry| registry.handle().has_ended()).collect();
    let found = known.iter().find(|registry| *registry.handle() == handle).cloned();
    let registry = found.unwrap_or_else(|| {
        let registry = Arc::new(Registry::of_program(handle));
        known.push(registry.clone());
        registry
    });
    (registry, ended)
}

/// Returns the global pool: the default runtime, which is started if it has not been.
pub(crate) fn global() -> Arc<Registry> {
    let (registry, ended) = {
        let mut global = locked(&GLOBAL);
        // A forked child has none of its parent's threads.
        if let Some(registry) = global.as_ref().filter(|registry| !registry.handle().has_ended()) {
            return registry.clone();
        }
        let (registry, mut ended) = match ThreadPoolBuilder::new().start_default_runtime() {
            Ok(registry) => {
                locked(&KNOWN).push(registry.clone());
                (registry, Vec::new())
            }
            // The program has started it already; if it cannot be started, this says why.
            Err(_) => known(Handle::default_runtime()),
        };
        ended.extend(global.replace(registry.clone()));
        (registry, ended)
    };
    drop(ended);
    registry
}

/// Makes the pool that `start` returns the global one.
pub(crate) fn install_global(
    start: impl FnOnce() -> Result<Arc<Registry>, ThreadPoolBuildError>,
) -> Result<(), ThreadPoolBuildError> {
    let mut global = locked(&GLOBAL);
    let registry = start()?;
    locked(&KNOWN).push(registry.clone());
    let ended = global.replace(registry);
    drop(global);
    drop(ended);
    Ok(())
}

/// Runs `op` in the global pool, of which the calling thread is no part.
#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn in_global_pool<R: Send>(op: impl FnOnce() -> R + Send) -> R {
    global().install(op)
}
