//! What a closure knows that runs on each thread of a pool.

use crate::registry::Registry;
use std::fmt;
use std::marker::PhantomData;

/// The context that a closure is called in on each thread of a pool.
pub struct BroadcastContext<'a> {
    index: usize,
    num_threads: usize,
    pool: usize,
    /// As rayon's, which is tied to its call.
    marker: PhantomData<&'a mut dyn Fn()>,
}

impl BroadcastContext<'_> {
    pub(crate) fn new(index: usize, registry: &Registry) -> Self {
        BroadcastContext {
            index,
            num_threads: registry.num_threads(),
            pool: registry.id(),
            marker: PhantomData,
        }
    }

    /// Returns the index of the thread, from 0.
    #[inline]
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the number of threads of the pool.
    #[inline]
    pub fn num_threads(&self) -> usize {
        self.num_threads
    }
}

impl fmt::Debug for BroadcastContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BroadcastContext")
            .field("index", &self.index)
            .field("num_threads", &self.num_threads)
            .field("pool_id", &self.pool)
            .finish()
    }
}
