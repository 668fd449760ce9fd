//! The settings of a pool, and how it is started.

use crate::error::{ErrorKind, ThreadPoolBuildError};
use crate::handlers::{Handler, Handlers};
use crate::queue::End;
use crate::registry::{PanicHandler, Registry};
use crate::thread::{CustomSpawn, DefaultSpawn, ThreadBuilder, ThreadSpawn};
use lisle_runtime::{Builder, DomainThread, InstallDefaultError, OnDeadlock, Runtime, fiber};
use std::any::Any;
use std::env;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::thread;

/// The size of a stack that is not set otherwise: that of a thread of the standard library.
const STACK_SIZE: usize = 2 << 20;

/// A builder that sets up a pool, and starts it.
///
/// # Examples
///
/// ```
/// # use rayon_core as rayon;
/// let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;
/// assert_eq!(pool.current_num_threads(), 2);
/// # Ok::<(), rayon::ThreadPoolBuildError>(())
/// ```
pub struct ThreadPoolBuilder<S = DefaultSpawn> {
    num_threads: usize,
    use_current_thread: bool,
    get_thread_name: Option<Box<dyn FnMut(usize) -> String>>,
    panic_handler: Option<Box<PanicHandler>>,
    stack_size: Option<usize>,
    start_handler: Option<Box<Handler>>,
    exit_handler: Option<Box<Handler>>,
    spawn_handler: S,
    breadth_first: bool,
}

impl Default for ThreadPoolBuilder {
    fn default() -> Self {
        ThreadPoolBuilder {
            num_threads: 0,
            use_current_thread: false,
            get_thread_name: None,
            panic_handler: None,
            stack_size: None,
            start_handler: None,
            exit_handler: None,
            spawn_handler: DefaultSpawn,
            breadth_first: false,
        }
    }
}

impl ThreadPoolBuilder {
    /// Creates a builder with the default settings.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<S> ThreadPoolBuilder<S>
where
    S: ThreadSpawn,
{
    pub(crate) fn start_pool(self) -> Result<Arc<Registry>, ThreadPoolBuildError> {
        let (registry, runtime) =
            self.start(|builder, spawn| builder.start_on(spawn).map_err(ErrorKind::IOError))?;
        registry.own(runtime);
        Ok(registry)
    }

    pub(crate) fn start_default_runtime(self) -> Result<Arc<Registry>, ThreadPoolBuildError> {
        let (registry, ()) = self.start(|builder, spawn| {
            builder.install_default_on(spawn).map_err(|error| match error {
                InstallDefaultError::Start(error) => ErrorKind::IOError(error),
                _ => ErrorKind::GlobalPoolAlreadyInitialized,
            })
        })?;
        Ok(registry)
    }

    /// Starts a runtime by `start`, which has the threads spawned.
    fn start<T>(
        mut self,
        start: impl FnOnce(Builder, &mut dyn FnMut(DomainThread) -> io::Result<()>) -> Result<T, ErrorKind>,
    ) -> Result<(Arc<Registry>, T), ThreadPoolBuildError> {
        if self.use_current_thread {
            let is_in_pool = fiber::domain().is_some();
            let text = "a runtime of Lisle cannot take over a thread that goes on with other code";
            let unsupported = || ErrorKind::IOError(io::Error::new(io::ErrorKind::Unsupported, text));
            let kind = if is_in_pool { ErrorKind::CurrentThreadAlreadyInPool } else { unsupported() };
            return Err(kind.into());
        }
        let builder = Runtime::builder()
            .domains(self.threads())
            .stack_size(self.stack_size.unwrap_or_else(default_stack_size))
            .thread_name("rayon")
            // A pool computes, and may be idle for good.
            .stall_report(None)
            .on_deadlock(OnDeadlock::Report);
        let handlers = Handlers { start: self.start_handler.take(), exit: self.exit_handler.take() };
        let handlers = Arc::new(handlers);
        let first = if self.breadth_first { End::Oldest } else { End::Newest };
        let mut registry = None;
        let started = start(builder, &mut |domain| {
            let panic_handler = &mut self.panic_handler;
            let registry = registry
                .get_or_insert_with(|| Arc::new(Registry::new(domain.handle(), first, panic_handler.take())));
            self.spawn_handler.spawn(ThreadBuilder {
                name: self.get_thread_name.as_mut().map(|name| name(domain.index())),
                stack_size: self.stack_size,
                domain,
                registry: registry.clone(),
                handlers: handlers.clone(),
            })
        })?;
        Ok((registry.expect("there is at least one domain"), started))
    }
}

fn default_stack_size() -> usize {
    from_environment("RUST_MIN_STACK").unwrap_or(STACK_SIZE)
}

/// Returns the number in a variable of the environment, unless it is 0.
fn from_environment(name: &str) -> Option<usize> {
    env::var(name).ok()?.parse().ok().filter(|&number| number > 0)
}

impl<S> ThreadPoolBuilder<S> {
    /// Has `spawn` start the threads of the pool. It is called for each thread, in their order, and has
    /// another thread call [`ThreadBuilder::run`].
    ///
    /// The threads end when the pool has been dropped and its jobs have ended. The drop does not wait for them.
    ///
    /// # Examples
    ///
    /// ```
    /// # use rayon_core as rayon;
    /// use std::thread;
    ///
    /// let pool = rayon::ThreadPoolBuilder::new()
    ///     .num_threads(2)
    ///     .spawn_handler(|thread| {
    ///         let name = format!("number {}", thread.index());
    ///         thread::Builder::new().name(name).spawn(|| thread.run()).map(drop)
    ///     })
    ///     .build()?;
    /// let names = pool.broadcast(|_| thread::current().name().map(str::to_owned).unwrap());
    /// assert_eq!(names, ["number 0", "number 1"]);
    /// # Ok::<(), rayon::ThreadPoolBuildError>(())
    /// ```
    pub fn spawn_handler<F>(self, spawn: F) -> ThreadPoolBuilder<CustomSpawn<F>>
    where
        F: FnMut(ThreadBuilder) -> io::Result<()>,
    {
        ThreadPoolBuilder {
            num_threads: self.num_threads,
            use_current_thread: self.use_current_thread,
            get_thread_name: self.get_thread_name,
            panic_handler: self.panic_handler,
            stack_size: self.stack_size,
            start_handler: self.start_handler,
            exit_handler: self.exit_handler,
            spawn_handler: CustomSpawn(spawn),
            breadth_first: self.breadth_first,
        }
    }

    /// Returns how many threads the pool gets.
    fn threads(&self) -> usize {
        let set = Some(self.num_threads).filter(|&number| number > 0);
        // The second name is the older one.
        let threads = set
            .or_else(|| match env::var("RAYON_NUM_THREADS").ok()?.parse() {
                Ok(0) => Some(processors()),
                Ok(number) => Some(number),
                Err(_) => None,
            })
            .or_else(|| from_environment("RAYON_RS_NUM_CPUS"))
            .unwrap_or_else(processors);
        threads.min(max_num_threads())
    }

    /// Sets the names of the threads: `closure` returns that of the thread with an index.
    ///
    /// # Examples
    ///
    /// ```
    /// # use rayon_core as rayon;
    /// let builder = rayon::ThreadPoolBuilder::new().num_threads(2).thread_name(|index| format!("loops {index}"));
    /// let names = builder.build()?.broadcast(|_| std::thread::current().name().map(str::to_owned).unwrap());
    /// assert_eq!(names, ["loops 0", "loops 1"]);
    /// # Ok::<(), rayon::ThreadPoolBuildError>(())
    /// ```
    #[must_use]
    pub fn thread_name<F>(mut self, closure: F) -> Self
    where
        F: FnMut(usize) -> String + 'static,
    {
        self.get_thread_name = Some(Box::new(closure));
        self
    }

    /// Sets the number of threads. With 0, which is the default, it is that of the variable
    /// `RAYON_NUM_THREADS` of the environment, or else that of the processors that the process may use.
    #[must_use]
    pub fn num_threads(mut self, num_threads: usize) -> Self {
        self.num_threads = num_threads;
        self
    }

    /// Has the calling thread be one of the pool. That is not possible here: a thread that runs a domain runs
    /// nothing else, and so building the pool fails.
    ///
    /// # Examples
    ///
    /// ```
    /// # use rayon_core as rayon;
    /// let error = rayon::ThreadPoolBuilder::new().use_current_thread().build().unwrap_err();
    /// assert!(error.to_string().contains("cannot take over a thread"));
    /// ```
    #[must_use]
    pub fn use_current_thread(mut self) -> Self {
        self.use_current_thread = true;
        self
    }

    /// Sets the handler of panics in jobs without a scope, and in the handlers of threads. Without it such a panic ends the process, and so does a panic of the handler.
    ///
    /// # Examples
    ///
    /// ```
    /// # use rayon_core as rayon;
    /// let (tx, rx) = std::sync::mpsc::channel();
    /// let builder = rayon::ThreadPoolBuilder::new().panic_handler(move |panic| tx.send(panic).unwrap());
    /// builder.build()?.spawn(|| panic!("in a job"));
    /// assert_eq!(rx.recv().unwrap().downcast_ref(), Some(&"in a job"));
    /// # Ok::<(), rayon::ThreadPoolBuildError>(())
    /// ```
    #[must_use]
    pub fn panic_handler<H>(mut self, panic_handler: H) -> Self
    where
        H: Fn(Box<dyn Any + Send>) + Send + Sync + 'static,
    {
        self.panic_handler = Some(Box::new(panic_handler));
        self
    }

    /// Sets the size of the stacks on which jobs run. Without it that is the size in the variable
    /// `RUST_MIN_STACK` of the environment, or else 2 MiB.
    #[must_use]
    pub fn stack_size(mut self, stack_size: usize) -> Self {
        self.stack_size = Some(stack_size);
        self
    }

    /// Has each thread run its oldest job first. Use [`scope_fifo`](crate::scope_fifo()) and
    /// [`spawn_fifo`](crate::spawn_fifo()).
    #[deprecated(note = "use `scope_fifo` and `spawn_fifo` for similar effect")]
    #[must_use]
    pub fn breadth_first(mut self) -> Self {
        self.breadth_first = true;
        self
    }

    /// Sets the function that each thread calls, with its index, before it runs anything else. Its panic goes
    /// to the [panic handler](ThreadPoolBuilder::panic_handler).
    ///
    /// # Examples
    ///
    /// ```
    /// # use rayon_core as rayon;
    /// let (tx, rx) = std::sync::mpsc::channel();
    /// let builder = rayon::ThreadPoolBuilder::new().num_threads(2);
    /// let pool = builder.start_handler(move |index| tx.send(index).unwrap()).build()?;
    /// assert_eq!(rx.iter().take(2).sum::<usize>(), 0 + 1);
    /// # Ok::<(), rayon::ThreadPoolBuildError>(())
    /// ```
    #[must_use]
    pub fn start_handler<H>(mut self, start_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.start_handler = Some(Box::new(start_handler));
        self
    }

    /// Sets the function that each thread calls, with its index, when it has run everything else. Its panic
    /// goes to the [panic handler](ThreadPoolBuilder::panic_handler).
    ///
    /// # Examples
    ///
    /// ```
    /// # use rayon_core as rayon;
    /// let (tx, rx) = std::sync::mpsc::channel();
    /// let builder = rayon::ThreadPoolBuilder::new().num_threads(2);
    /// drop(builder.exit_handler(move |index| tx.send(index).unwrap()).build()?);
    /// assert_eq!(rx.iter().sum::<usize>(), 0 + 1);
    /// # Ok::<(), rayon::ThreadPoolBuildError>(())
    /// ```
    #[must_use]
    pub fn exit_handler<H>(mut self, exit_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.exit_handler = Some(Box::new(exit_handler));
        self
    }
}

/// Returns the greatest number of threads that a pool may have. If more are asked for, this many are started.
///
/// # Examples
///
/// ```
/// # use rayon_core as rayon;
/// assert!(rayon::max_num_threads() >= 255);
/// ```
pub fn max_num_threads() -> usize {
    u16::MAX.into()
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, Into::into)
}

impl<S> fmt::Debug for ThreadPoolBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// What stands for a closure.
        struct Closure;
        impl fmt::Debug for Closure {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("<closure>")
            }
        }
        f.debug_struct("ThreadPoolBuilder")
            .field("num_threads", &self.num_threads)
            .field("use_current_thread", &self.use_current_thread)
            .field("get_thread_name", &self.get_thread_name.as_ref().map(|_| Closure))
            .field("panic_handler", &self.panic_handler.as_ref().map(|_| Closure))
            .field("stack_size", &self.stack_size)
            .field("start_handler", &self.start_handler.as_ref().map(|_| Closure))
            .field("exit_handler", &self.exit_handler.as_ref().map(|_| Closure))
            .field("breadth_first", &self.breadth_first)
            .finish()
    }
}
