//! The registrations of a descriptor: one in each process that has waited for it.
//!
//! A forked child has another reactor than its parent. The registration of the parent stays, since
//! performers may hold references to it, and the child adds its own.

use crate::reactor::Registration;
use crate::shim::sync::{Mutex, OnceLock};
use std::io;

#[derive(Default)]
pub(super) struct Registrations {
    first: OnceLock<Link>,
    /// Held during registration, so only one thread registers the descriptor.
    registering: Mutex<()>,
}

struct Link {
    registration: Registration,
    /// The registration of a process that was forked from the process of this one.
    next: OnceLock<Box<Link>>,
}

impl Link {
    fn new(registration: Registration) -> Self {
        Link { registration, next: OnceLock::new() }
    }

    /// Returns the last registration of the list.
    #[cold]
    fn last(&self) -> &Link {
        let mut last = self;
        while let Some(next) = last.next.get() {
            last = next;
        }
        last
    }
}

impl Registrations {
    /// Returns the registration of this process.
    #[inline]
    pub(super) fn get(&self) -> Option<&Registration> {
        let first = &self.first.get()?.registration;
        if first.is_inherited() { self.after_fork() } else { Some(first) }
    }

    #[cold]
    fn after_fork(&self) -> Option<&Registration> {
        let last = &self.first.get()?.last().registration;
        (!last.is_inherited()).then_some(last)
    }

    /// Returns the registration of this process, and makes one if there is none.
    pub(super) fn get_or_make(
        &self,
        make: impl FnOnce() -> io::Result<Registration>,
    ) -> io::Result<&Registration> {
        if let Some(registration) = self.get() {
            return Ok(registration);
        }
        let _alone = self.registering.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(registration) = self.get() {
            return Ok(registration);
        }
        let made = Link::new(make()?);
        let link = match self.first.get() {
            None => self.first.get_or_init(|| made),
            Some(first) => first.last().next.get_or_init(|| Box::new(made)),
        };
        Ok(&link.registration)
    }
}
