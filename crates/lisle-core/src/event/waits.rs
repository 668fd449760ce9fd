//! Who waits for what: the words in which an event tells it.
//!
//! Nothing here is called while all goes well. Somebody who asks who waits has the event of each parked
//! performer describe itself ([`Event::describe`](super::Event::describe)).

use super::Event;
use std::fmt;
use std::panic::Location;
use std::pin::Pin;

/// What an object that is waited for is, where it was made, and what it is called.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Label {
    kind: &'static str,
    // Thin, since most objects have none.
    name: Option<Box<Box<str>>>,
    site: Option<&'static Location<'static>>,
}

impl Label {
    /// The label of an object of this kind ("channel", "mutex"), made by the caller.
    #[track_caller]
    #[inline]
    pub const fn new(kind: &'static str) -> Self {
        Label { kind, site: Some(Location::caller()), name: None }
    }

    /// The label of an object whose making is of no interest: a time, a descriptor.
    #[doc(hidden)]
    pub const fn anywhere(kind: &'static str) -> Self {
        Label { kind, site: None, name: None }
    }

    /// The same label, made elsewhere.
    #[doc(hidden)]
    pub fn made_at(mut self, site: &'static Location<'static>) -> Self {
        self.site = Some(site);
        self
    }

    /// The same label, with a name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(Box::new(name.into()));
        self
    }

    /// What the object is.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// What it is called, if it was given a name.
    pub fn name(&self) -> Option<&str> {
        self.name.as_ref().map(|name| &***name)
    }

    /// Where it was made. `None` where that says nothing: for points in time and descriptors.
    pub fn site(&self) -> Option<&'static Location<'static>> {
        self.site
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{} '{name}'", self.kind)?,
            None if self.kind.starts_with(['a', 'e', 'i', 'o', 'u', 'I'])
                || ["MVar", "rpc"].contains(&self.kind) =>
            {
                write!(f, "an {}", self.kind)?;
            }
            None => write!(f, "a {}", self.kind)?,
        }
        let made = if PERFORMERS.contains(&self.kind) { "spawned" } else { "made" };
        self.site.map_or(Ok(()), |site| write!(f, " ({made} at {site})"))
    }
}

impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Label({self})")
    }
}

/// The kinds that are no objects, but perform events themselves.
const PERFORMERS: [&str; 3] = ["fiber", "task", "thread"];

/// One thing that a performer waits for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BlockedOn {
    /// What it wants to do: "receive from", "lock", "join".
    pub operation: &'static str,
    /// What it wants that of.
    pub object: Label,
    /// Tells objects apart that look the same: an address.
    pub id: usize,
    /// How it stands with the object: who could still send, how long it takes.
    pub note: Option<String>,
    /// Where it leads, if it is a socket: `tcp 127.0.0.1:80 -> 127.0.0.1:40000`.
    pub address: Option<String>,
    /// The performers that have the object in their hands, as far as it is known: the owner of a lock, a fiber
    /// that is to be joined. The numbers are those of `Blocked::id`.
    pub held_by: Vec<usize>,
    /// The world may make it happen, without anybody in this program: time, a descriptor, a foreign call.
    pub external: bool,
}

impl fmt::Display for BlockedOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", self.operation, self.object, Said(self))
    }
}

/// What is said of the object besides what it is.
#[derive(Debug)]
#[doc(hidden)]
pub struct Said<'a>(pub &'a BlockedOn);

impl fmt::Display for Said<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.note.as_ref().map_or(Ok(()), |note| write!(f, "; {note}"))?;
        self.0.address.as_ref().map_or(Ok(()), |address| write!(f, ", {address}"))
    }
}

/// Collects what a performer waits for.
#[derive(Debug, Default)]
pub struct Description {
    #[doc(hidden)]
    /// What has been collected.
    pub all: Vec<BlockedOn>,
}

impl Description {
    /// The performer waits to do `operation` with the object at `id`.
    ///
    /// The operation is a verb to which the object is added: "receive from", "lock", "wait for".
    pub fn on(&mut self, operation: &'static str, object: &Label, id: usize) {
        self.on_held(operation, object, id, []);
    }

    /// As [`on`](Waits::on), and only these performers can let it have the object.
    #[doc(hidden)]
    pub fn on_held(
        &mut self,
        operation: &'static str,
        object: &Label,
        id: usize,
        holders: impl IntoIterator<Item = usize>,
    ) {
        let held_by = holders.into_iter().collect();
        self.all.push(BlockedOn {
            operation,
            object: object.clone(),
            id,
            note: None,
            address: None,
            held_by,
            external: false,
        });
    }

    /// As [`on`](Waits::on), and the world may make it happen: time, a descriptor, a foreign call.
    #[doc(hidden)]
    pub fn on_the_world(&mut self, operation: &'static str, object: &Label, id: usize) {
        self.on(operation, object, id);
        #[cfg(not(lisle_loom))]
        self.mark_external();
    }

    /// The world may make happen what was named last.
    #[cfg(not(lisle_loom))]
    #[doc(hidden)]
    pub fn mark_external(&mut self) {
        if let Some(last) = self.all.last_mut() {
            last.external = true;
        }
    }

    /// Adds where the descriptor leads that was named last.
    #[cfg(not(lisle_loom))]
    #[doc(hidden)]
    pub fn address(&mut self, address: Option<String>) {
        if let Some(last) = self.all.last_mut() {
            last.address = address;
        }
    }

    /// Adds how it stands with the object named last.
    pub fn note(&mut self, note: impl Into<String>) {
        if let Some(last) = self.all.last_mut() {
            last.note = Some(note.into());
        }
    }
}

/// What a performer that parks waits for: its event and its branch, and the function that knows their types.
///
/// It may be asked until the park returns, by the thread on which the performer is parked; that of a task, by whoever
/// has claimed it.
#[derive(Debug, Clone, Copy)]
pub struct ParkedEvent {
    event: *const (),
    branch: *const (),
    describe: unsafe fn(*const (), *const (), &mut Description),
}

impl ParkedEvent {
    #[inline(always)]
    pub(super) fn new<'e, E: Event>(event: &'e E, branch: Pin<&E::Branch<'e>>) -> Self {
        /// # Safety
        ///
        /// The pointers are those of a live event and branch of these types, which nobody changes meanwhile.
        unsafe fn describe<'e, E: Event + 'e>(event: *const (), branch: *const (), waits: &mut Description) {
            // SAFETY: by the caller's promise.
            let event: &'e E = unsafe { &*event.cast() };
            // SAFETY: by the caller's promise.
            let branch: &E::Branch<'e> = unsafe { &*branch.cast() };
            event.describe(branch, waits);
        }
        ParkedEvent {
            event: std::ptr::from_ref(event).cast(),
            branch: std::ptr::from_ref(branch.get_ref()).cast(),
            describe: describe::<E>,
        }
    }

    /// Has the event describe itself. Runs [`Event::describe`], which may be a user's.
    ///
    /// # Safety
    ///
    /// The performer is parked, in the park that this was made for, and this is the thread on which it is; or the performer
    /// may go from thread to thread, and the caller has it for itself.
    pub unsafe fn describe(&self, waits: &mut Description) {
        // SAFETY: a performer that is parked keeps its event and branch, and touches neither; both are of the types
        // that the function was made for. No other thread is in it: it runs on the performer's own, or where that could.
        unsafe { (self.describe)(self.event, self.branch, waits) }
    }
}

/// A number for whoever runs this: the task or the fiber, or else the thread. It is used again when that one has
/// ended.
///
/// For what has an owner, so that who waits for it is seen to wait for that one. A future of a foreign executor has no
/// number of its own: it has that of whoever polls it.
#[cfg(not(lisle_loom))]
#[inline(always)]
#[doc(hidden)]
pub fn performer_id() -> usize {
    thread_local! { static HERE: u8 = const { 0 }; }
    let task = super::parker::top_task().get();
    match super::parker::running() {
        _ if !task.is_null() => task.addr(),
        Some(parker) => std::ptr::from_ref(parker).addr(),
        None => HERE.with(|here| std::ptr::from_ref(here).addr()),
    }
}

/// Models do not ask.
#[cfg(lisle_loom)]
#[doc(hidden)]
pub fn performer_id() -> usize {
    1
}
