//! The domain that runs the calling code, as a part of its pool.

use crate::fifo::Fifo;
use crate::queue::{Job, Owner};
use crate::registry::{Registry, Which};
use std::marker::PhantomData;
use std::sync::Arc;

/// The domain that runs the calling code. Only this domain may use its end of its queue, and this is the way to it.
#[derive(Clone, Copy)]
pub(crate) struct Home<'a> {
    registry: &'a Arc<Registry>,
    index: usize,
    /// A fiber stays on its domain, and this stays with the fiber.
    not_send: PhantomData<*mut ()>,
}

impl<'a> Home<'a> {
    /// Returns the domain that runs the calling code, if it is one of this pool.
    #[inline]
    pub(crate) fn of(registry: &'a Arc<Registry>) -> Option<Self> {
        Some(Home { index: registry.index()?, registry, not_send: PhantomData })
    }

    pub(crate) fn which(self) -> Which {
        Which::Of(self.index)
    }

    /// Has a job run, on this domain first.
    #[inline]
    pub(crate) fn push(self, job: Job) {
        // SAFETY: this domain runs the caller.
        unsafe { self.registry.domain(self.index).queue.push(job) };
        self.registry.is_pushed(self.which());
    }

    /// Does the same, after the jobs that this domain has put into one of these lists before. There is a list for each
    /// domain.
    pub(crate) fn push_into(self, fifos: &[Fifo], job: Job) {
        self.push(fifos[self.index].push(job));
    }

    /// Does the same, with a list that all jobs without a scope share.
    pub(crate) fn push_in_order(self, job: Job) {
        self.push(self.registry.domain(self.index).fifo.push(job));
    }

    /// Takes a job from the queue of this domain.
    #[inline]
    pub(crate) fn take(self) -> Option<Job> {
        // SAFETY: this domain runs the caller.
        unsafe { self.registry.domain(self.index).queue.take() }
    }

    /// Takes a job of the scope `owner`, if this domain would run it next.
    pub(crate) fn take_own(self, owner: Owner) -> Option<Job> {
        // SAFETY: this domain runs the caller.
        let taken = unsafe { self.registry.domain(self.index).queue.take_own(owner) };
        taken.unwrap_or_else(|of_another| {
            // The server that was to run it may have found none, and have ended.
            self.push(of_another);
            None
        })
    }

    /// Takes a job that waits on this domain.
    pub(crate) fn take_local(self) -> Option<Job> {
        self.take().or_else(|| self.registry.domain(self.index).take_broadcast())
    }

    /// Takes a job that waits anywhere in the pool, on this domain first.
    pub(crate) fn take_any(self) -> Option<Job> {
        let others = (self.index + 1..self.registry.num_threads()).chain(0..self.index).map(Which::Of);
        let elsewhere = || others.chain([Which::Injected]).find_map(|which| self.registry.steal(which));
        self.take_local().or_else(elsewhere)
    }
}
