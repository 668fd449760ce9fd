//! The default runtime, for code that spawns or divides loops outside any runtime. The first such
//! code starts it, unless the program has installed one with other settings before. It is never
//! shut down. A forked child starts one of its own, with the settings of its parent's.

use super::{Builder, DomainThread, Handle, Runtime, failed};
use crate::fork::PerProcess;
use crate::report;
use crate::sched::OnDeadlock;
use crate::sched::default::{DEFAULT, started_default_runtime};
use crate::sched::shared::Shared;
use crate::shim::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::shim::clock;
use crate::shim::sync::{Arc, OnceLock};
use std::fmt;
use std::io;

/// After the system has refused to start the default runtime, loops ask for it again after this
/// time, in nanoseconds.
const RETRY: u64 = 1_000_000_000;

/// The failed attempts to start the default runtime.
#[derive(Default)]
struct Refusals {
    /// When loops may ask again; 0 before the first refusal.
    next_try: AtomicU64,
    has_told: AtomicBool,
}

static REFUSALS: PerProcess<Refusals> = PerProcess::new(Refusals::default);

/// The settings that the program has installed, in this process or in the processes from which it
/// was forked.
static SETTINGS: PerProcess<OnceLock<Builder>> = PerProcess::new(OnceLock::new);

/// Returns the default runtime. Starts it if that has not been done, and returns `None` if that
/// fails, or has just failed: a loop asks at each heartbeat. In Miri, which cannot follow a switch of
/// stacks, none is started.
pub(crate) fn try_default_runtime() -> Option<&'static Arc<Shared>> {
    started_default_runtime().or_else(|| {
        let next_try = &REFUSALS.get().next_try;
        let next = next_try.load(Ordering::Relaxed);
        if cfg!(miri) || (next != 0 && clock::now() < next) {
            return None;
        }
        match default_builder().start() {
            // Another thread may have been faster; then the runtime that was started here is dropped.
            Ok(runtime) => Some(DEFAULT.get().get_or_init(|| runtime.stay())),
            Err(error) => {
                next_try.store(clock::now().saturating_add(RETRY), Ordering::Relaxed);
                let meanwhile = "loops and joins of plain threads run without help";
                report::no_thread(&REFUSALS.get().has_told, &error, meanwhile);
                None
            }
        }
    })
}

/// Returns the settings with which the default runtime is started if the program installs none in
/// this process.
fn default_builder() -> Builder {
    let installed = SETTINGS.inherited().find_map(OnceLock::get);
    installed.cloned().unwrap_or_default().staying()
}

/// Returns the default runtime. Starts it if that has not been done, and panics if that fails.
#[track_caller]
pub(crate) fn default_runtime() -> &'static Arc<Shared> {
    started_default_runtime().unwrap_or_else(|| {
        DEFAULT.get().get_or_init(|| default_builder().start().unwrap_or_else(|error| failed(&error)).stay())
    })
}

/// The error of [`Builder::install_default`]: why there is no default runtime with the requested
/// settings.
#[derive(Debug)]
#[non_exhaustive]
pub enum InstallDefaultError {
    /// There is one already: it was installed before, or started by a spawn, a join or a loop on a
    /// plain thread.
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

impl Runtime {
    /// Lets the runtime run until the process ends.
    fn stay(self) -> Arc<Shared> {
        self.is_let_go.store(true, Ordering::Relaxed);
        self.shared.clone()
    }
}

impl Builder {
    /// Replaces a policy by which a deadlock ends the runtime: the default runtime could not be
    /// started again.
    fn staying(self) -> Self {
        match self.on_deadlock {
            OnDeadlock::Panic => self.on_deadlock(OnDeadlock::Report),
            OnDeadlock::Ignore | OnDeadlock::Report => self,
        }
    }

    /// Starts a runtime with these settings as the default one. Fibers and tasks that are spawned
    /// outside any runtime run on it, and its domains help the joins and loops of plain threads.
    ///
    /// The program calls this early in `main`; a library should not call it. The first code that
    /// spawns or divides a loop starts the default runtime with the default settings, and then it
    /// is too late. The default runtime is never shut down, so settings about the end have no
    /// effect. A deadlock does not end it either: with [`OnDeadlock::Panic`], which is the default,
    /// a deadlock is reported as with [`OnDeadlock::Report`].
    ///
    /// A forked child starts a default runtime of its own when it first needs one, with these settings
    /// unless it installs others.
    ///
    /// # Errors
    ///
    /// Returns an error if the default runtime has been started already, or cannot be started.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
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
    #[doc(alias = "build_global")]
    pub fn install_default(self) -> Result<(), InstallDefaultError> {
        self.install_default_by(Builder::start)
    }

    /// Does the same as [`install_default`](Builder::install_default), on threads that the program starts
    /// itself, as with [`start_on`](Builder::start_on).
    ///
    /// The default runtime of a forked child has threads that the library starts.
    ///
    /// # Errors
    ///
    /// As for [`install_default`](Builder::install_default), and the error of `spawn`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use std::thread;
    ///
    /// lisle::Runtime::builder().domains(2).install_default_on(|domain| {
    ///     let thread = thread::Builder::new().name(format!("domain {}", domain.index()));
    ///     thread.spawn(|| domain.run()).map(drop)
    /// })?;
    /// let name = lisle::spawn(|| thread::current().name().map(str::to_owned)).join().unwrap();
    /// assert!(name.unwrap().starts_with("domain "));
    /// # Ok::<(), lisle::InstallDefaultError>(())
    /// ```
    pub fn install_default_on(
        self,
        spawn: impl FnMut(DomainThread) -> io::Result<()>,
    ) -> Result<(), InstallDefaultError> {
        self.install_default_by(|builder| builder.start_on(spawn))
    }

    fn install_default_by(
        self,
        start: impl FnOnce(Self) -> io::Result<Runtime>,
    ) -> Result<(), InstallDefaultError> {
        if started_default_runtime().is_some() {
            return Err(InstallDefaultError::AlreadyStarted);
        }
        let settings = self.clone();
        let runtime = start(self.staying()).map_err(InstallDefaultError::Start)?;
        let mut is_first = false;
        DEFAULT.get().get_or_init(|| {
            is_first = true;
            let _ = SETTINGS.get().set(settings);
            runtime.stay()
        });
        // If another thread was faster, this runtime has been dropped.
        if is_first { Ok(()) } else { Err(InstallDefaultError::AlreadyStarted) }
    }
}

impl Handle {
    /// Returns a handle to the default runtime, which runs the fibers that plain threads spawn. Starts it
    /// if it has not been started.
    ///
    /// # Panics
    ///
    /// Panics if it has to be started and the system provides no threads.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::Handle;
    ///
    /// let current = lisle::spawn(Handle::current).join().unwrap(); // spawned on a plain thread
    /// assert_eq!(current, Handle::default_runtime());
    /// ```
    #[track_caller]
    pub fn default_runtime() -> Handle {
        Handle::new(default_runtime().clone())
    }
}
