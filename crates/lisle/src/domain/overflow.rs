//! The two ways in which a host ends the whole process, each with a message that names it.

use super::worker;
use crate::abort;
use crate::event::parker::Parker;
use crate::fiber::stack::overflow::decimal;

/// Describes the overflow of the running host's stack, if `fault` lies in its guard page. Called in a
/// signal handler: it reads plain memory and nothing else.
pub(super) fn describe(fault: usize, out: &mut dyn FnMut(&[u8])) -> bool {
    worker::with_current(|worker| {
        let Some(host) = worker.and_then(|worker| worker.current_host()) else { return false };
        // SAFETY: the running host is alive.
        let host = unsafe { host.as_ref() };
        // SAFETY: a host that runs has its stack, which its worker does not touch meanwhile.
        let stack = unsafe { &*host.stack.get() };
        if !stack.as_ref().is_some_and(|stack| stack.guard().contains(&fault)) {
            return false;
        }
        match &host.name {
            Some(name) => {
                out(b"host '");
                out(name.as_bytes());
                out(b"'");
            }
            None => out(b"a host"),
        }
        let mut digits = [0; 20];
        out(b" (spawned at ");
        out(host.site.file().as_bytes());
        out(b":");
        out(decimal(host.site.line() as usize, &mut digits));
        out(b") overflowed its stack of ");
        let size = worker.map_or(0, |worker| worker.shared().stack_size);
        out(decimal(size / 1024, &mut digits));
        out(b" KiB");
        true
    })
}

/// Ends the process: a host that unwinds from a panic would have to wait. Its neighbours would see
/// `std::thread::panicking()` for as long, and the next panic on this thread would abort without a word.
#[cold]
pub(crate) fn refuse_to_park(_: &Parker) -> ! {
    let who = worker::with_current(|worker| {
        // SAFETY: the running host is alive.
        worker.and_then(|worker| worker.current_host()).map(|host| unsafe { host.as_ref() }.describe())
    });
    abort::process(format_args!(
        "{} blocks in a destructor while it unwinds from a panic, and cannot be suspended there; use a try_ or poll form \
         in destructors",
        who.as_deref().unwrap_or("a host")
    ))
}
