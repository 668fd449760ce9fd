//! The default runtime: that of those who spawn or divide loops outside any. The first of them starts it, unless the program
//! has installed one of its own choice before. It is never shut down.

use super::{Builder, Runtime, failed};
use crate::sched::OnDeadlock;
use crate::sched::default::{self, started_default_runtime};
use crate::sched::shared::Shared;
use crate::shim::sync::{Arc, OnceLock};
use std::fmt;
use std::io;

static DEFAULT: OnceLock<Runtime> = OnceLock::new();

/// The default runtime, started if need be and possible.
pub fn try_default_runtime() -> Option<&'static Arc<Shared>> {
    started_default_runtime().or_else(|| {
        let runtime = default_builder().start().ok()?;
        // Another thread may have been faster; then this one goes again.
        Some(default::set(&DEFAULT.get_or_init(|| runtime).shared))
    })
}

/// How it is started unless the program says so.
fn default_builder() -> Builder {
    Builder::default().staying()
}

/// That runtime, started if need be.
pub fn default_runtime() -> &'static Arc<Shared> {
    started_default_runtime().unwrap_or_else(|| {
        let start = || default_builder().start().unwrap_or_else(|error| failed(&error));
        default::set(&DEFAULT.get_or_init(start).shared)
    })
}

/// Why there is no default runtime with the settings that were asked for, see [`Builder::install_default`].
#[derive(Debug)]
#[non_exhaustive]
pub enum InstallDefaultError {
    /// There is one already: it was installed before, or started by a spawn, a join or a loop on a plain thread.
    AlreadyStarted,
    /// The system gives no threads or pollers.
    Start(io::Error),
}

impl fmt::Display for InstallDefaultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InstallDefaultError::AlreadyStarted => f.write_str(
                "the default runtime has been started already; install one before the first spawn, join or loop on a plain \
                 thread",
            ),
            InstallDefaultError::Start(error) => write!(f, "the default runtime could not be started: {error}"),
        }
    }
}

impl std::error::Error for InstallDefaultError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            InstallDefaultError::AlreadyStarted => None,
            InstallDefaultError::Start(error) => Some(error),
        }
    }
}

impl Builder {
    /// Nobody could start the default runtime again if a deadlock had ended it.
    fn staying(self) -> Self {
        match self.on_deadlock {
            OnDeadlock::Panic => self.on_deadlock(OnDeadlock::Report),
            OnDeadlock::Ignore | OnDeadlock::Report => self,
        }
    }

    /// Starts a runtime with these settings as the default one, on which fibers and tasks run that are spawned outside any
    /// runtime, and whose domains help the joins and loops of plain threads.
    ///
    /// To be called early in `main`, by the program and not by a library: what spawns or divides a loop first starts the default
    /// runtime with the default settings, and then it is too late. It is never shut down, so what the settings say of the end
    /// is of no importance. Nor does a deadlock end it: with [`OnDeadlock::Panic`], which is the default, one is reported
    /// as with [`OnDeadlock::Report`].
    ///
    /// # Errors
    ///
    /// If it has been started already, or cannot be.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::InstallDefaultError;
    ///
    /// lisle::Runtime::builder().domains(2).stack_size(8 << 20).install_default()?;
    ///
    /// // A fiber has 8 MiB of stack, of which its array takes 4.
    /// let fiber = lisle::spawn(|| [1_u8; 4 << 20].iter().map(|&n| u64::from(n)).sum::<u64>());
    /// assert_eq!(fiber.join().unwrap(), 4 << 20);
    ///
    /// let again = lisle::Runtime::builder().install_default();
    /// assert!(matches!(again, Err(InstallDefaultError::AlreadyStarted)));
    /// # Ok::<(), InstallDefaultError>(())
    /// ```
    pub fn install_default(self) -> Result<(), InstallDefaultError> {
        if DEFAULT.get().is_some() {
            return Err(InstallDefaultError::AlreadyStarted);
        }
        let runtime = self.staying().start().map_err(InstallDefaultError::Start)?;
        // If somebody else was faster, this one goes again.
        let shared = runtime.shared.clone();
        DEFAULT.set(runtime).map_err(|_| InstallDefaultError::AlreadyStarted)?;
        default::set(&shared);
        Ok(())
    }
}
