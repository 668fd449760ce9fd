//! A thread of a pool, and how it is started.

use crate::handlers::Handlers;
use crate::registry::Registry;
use lisle_core::internal::threads;
use lisle_runtime::DomainThread;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::thread;

/// A thread of a pool that is about to start, see
/// [`spawn_handler`](crate::ThreadPoolBuilder::spawn_handler).
pub struct ThreadBuilder {
    pub(crate) name: Option<String>,
    pub(crate) stack_size: Option<usize>,
    pub(crate) domain: DomainThread,
    pub(crate) registry: Arc<Registry>,
    pub(crate) handlers: Arc<Handlers>,
}

impl ThreadBuilder {
    /// Returns the index of the thread in the pool, from 0.
    pub fn index(&self) -> usize {
        self.domain.index()
    }

    /// Returns the name that [`thread_name`](crate::ThreadPoolBuilder::thread_name) gives to the thread.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the size that was set by [`stack_size`](crate::ThreadPoolBuilder::stack_size). It is that of
    /// the stacks on which the jobs run. The thread's own stack may be smaller.
    pub fn stack_size(&self) -> Option<usize> {
        self.stack_size
    }

    /// Runs the jobs of the pool on this thread, and returns when the pool has been dropped and its jobs have
    /// ended.
    pub fn run(self) {
        let index = self.index();
        Registry::is_here(Some(self.registry.clone()));
        self.handlers.start(index, &self.registry);
        self.domain.run();
        self.handlers.exit(index, &self.registry);
        Registry::is_here(None);
    }
}

impl fmt::Debug for ThreadBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadBuilder")
            .field("pool", &self.registry.id())
            .field("index", &self.index())
            .field("name", &self.name)
            .field("stack_size", &self.stack_size)
            .finish()
    }
}

/// How the threads of a pool are started.
pub trait ThreadSpawn: sealed::Sealed {
    /// Has a thread call [`ThreadBuilder::run`].
    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::DefaultSpawn {}
    impl<F> Sealed for super::CustomSpawn<F> {}
}

/// Starts threads of the standard library.
#[derive(Debug, Default)]
pub struct DefaultSpawn;

impl ThreadSpawn for DefaultSpawn {
    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()> {
        let mut builder = thread::Builder::new();
        if let Some(name) = thread.name() {
            builder = builder.name(name.to_owned());
        }
        threads::start_as(builder, "a pool", || thread.run()).map(drop)
    }
}

/// Starts threads by a function of the user's.
#[derive(Debug)]
pub struct CustomSpawn<F>(pub(crate) F);

impl<F> ThreadSpawn for CustomSpawn<F>
where
    F: FnMut(ThreadBuilder) -> io::Result<()>,
{
    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()> {
        (self.0)(thread)
    }
}
