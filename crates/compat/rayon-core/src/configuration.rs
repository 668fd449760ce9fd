//! The names of rayon's that are older than `ThreadPoolBuilder`.
#![allow(deprecated)]

use crate::builder::ThreadPoolBuilder;
use crate::pool::ThreadPool;
use std::any::Any;
use std::error::Error;
use std::fmt;

/// The settings of a pool. Use [`ThreadPoolBuilder`].
#[deprecated(note = "Use `ThreadPoolBuilder`")]
#[derive(Default)]
pub struct Configuration {
    builder: ThreadPoolBuilder,
}

impl Configuration {
    /// Creates the default settings.
    pub fn new() -> Configuration {
        Configuration::default()
    }

    /// Builds a pool. Use [`ThreadPoolBuilder::build`].
    ///
    /// # Errors
    ///
    /// As for [`ThreadPoolBuilder::build`].
    pub fn build(self) -> Result<ThreadPool, Box<dyn Error + 'static>> {
        self.builder.build().map_err(Box::from)
    }

    /// Sets the names of the threads. Use [`ThreadPoolBuilder::thread_name`].
    pub fn thread_name<F>(self, closure: F) -> Self
    where
        F: FnMut(usize) -> String + 'static,
    {
        Configuration { builder: self.builder.thread_name(closure) }
    }

    /// Sets the number of threads. Use [`ThreadPoolBuilder::num_threads`].
    pub fn num_threads(self, num_threads: usize) -> Configuration {
        Configuration { builder: self.builder.num_threads(num_threads) }
    }

    /// Sets the panic handler. Use [`ThreadPoolBuilder::panic_handler`].
    pub fn panic_handler<H>(self, panic_handler: H) -> Configuration
    where
        H: Fn(Box<dyn Any + Send>) + Send + Sync + 'static,
    {
        Configuration { builder: self.builder.panic_handler(panic_handler) }
    }

    /// Sets the size of the stacks. Use [`ThreadPoolBuilder::stack_size`].
    pub fn stack_size(self, stack_size: usize) -> Self {
        Configuration { builder: self.builder.stack_size(stack_size) }
    }

    /// Has jobs run in the order of their spawning. Use [`scope_fifo`](crate::scope_fifo()).
    pub fn breadth_first(self) -> Self {
        Configuration { builder: self.builder.breadth_first() }
    }

    /// Sets the handler of the start of threads. Use [`ThreadPoolBuilder::start_handler`].
    pub fn start_handler<H>(self, start_handler: H) -> Configuration
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        Configuration { builder: self.builder.start_handler(start_handler) }
    }

    /// Sets the handler of the exit of threads. Use [`ThreadPoolBuilder::exit_handler`].
    pub fn exit_handler<H>(self, exit_handler: H) -> Configuration
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        Configuration { builder: self.builder.exit_handler(exit_handler) }
    }

    pub(crate) fn into_builder(self) -> ThreadPoolBuilder {
        self.builder
    }
}

impl fmt::Debug for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.builder.fmt(f)
    }
}

impl ThreadPool {
    /// Builds a pool. Use [`ThreadPoolBuilder::build`].
    ///
    /// # Errors
    ///
    /// As for [`ThreadPoolBuilder::build`].
    #[deprecated(note = "Use `ThreadPoolBuilder::build`")]
    pub fn new(configuration: Configuration) -> Result<ThreadPool, Box<dyn Error>> {
        configuration.build()
    }
}

/// Builds the global pool. Use [`ThreadPoolBuilder::build_global`].
///
/// # Errors
///
/// As for [`ThreadPoolBuilder::build_global`].
#[deprecated(note = "use `ThreadPoolBuilder::build_global`")]
pub fn initialize(config: Configuration) -> Result<(), Box<dyn Error>> {
    config.into_builder().build_global().map_err(Box::from)
}
