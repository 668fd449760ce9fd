//! The words in which an event describes its performer's wait, for the wait graph.
//!
//! Nothing here is called in normal operation. A caller that asks for the waiting performers makes
//! the event of each parked performer describe itself
//! ([`Event::describe`](crate::event::Event::describe)).

use std::fmt;
use std::panic::Location;

/// A description of an object that is waited for: its kind, the place where it was made, and its
/// name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Label {
    kind: &'static str,
    // A thin pointer, since most objects have no name.
    name: Option<Box<Box<str>>>,
    site: Option<&'static Location<'static>>,
}

impl Label {
    /// Creates the label of an object of this kind ("channel", "mutex"), made by the caller.
    #[track_caller]
    #[inline]
    pub const fn new(kind: &'static str) -> Self {
        Label { kind, site: Some(Location::caller()), name: None }
    }

    /// Creates the label of an object for which the place of its making is of no interest: a time,
    /// a descriptor.
    #[doc(hidden)]
    pub const fn anywhere(kind: &'static str) -> Self {
        Label { kind, site: None, name: None }
    }

    /// Returns the same label with another place of making.
    #[doc(hidden)]
    pub fn made_at(mut self, site: &'static Location<'static>) -> Self {
        self.site = Some(site);
        self
    }

    /// Returns the same label with a name.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::event::Label;
    ///
    /// let door = Label::new("door").named("front");
    /// assert_eq!((door.kind(), door.name()), ("door", Some("front")));
    /// assert!(door.to_string().starts_with("door 'front' (made at "));
    /// ```
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(Box::new(name.into()));
        self
    }

    /// Returns the kind of the object.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Returns the name of the object, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_ref().map(|name| &***name)
    }

    /// Returns the place where the object was made. `None` where that says nothing: for points in
    /// time and descriptors.
    pub fn site(&self) -> Option<&'static Location<'static>> {
        self.site
    }
}

impl Label {
    /// Returns where the object was made, for a model that tells objects apart by that. A performer
    /// is told apart otherwise.
    pub(crate) fn made(&self) -> Option<&'static Location<'static>> {
        self.site.filter(|_| !PERFORMERS.contains(&self.kind))
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

/// The kinds that are not objects but perform events themselves.
const PERFORMERS: [&str; 3] = ["fiber", "task", "thread"];

/// One thing that a performer waits for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BlockedOn {
    /// The operation that it waits to do: "receive from", "lock", "join".
    pub operation: &'static str,
    /// The object of the operation.
    pub object: Label,
    /// An address that distinguishes objects with equal labels.
    pub id: usize,
    /// The state of the object, for example which performers could still send, or how long it
    /// takes.
    pub note: Option<String>,
    /// The addresses of the connection, if it is a socket: `tcp 127.0.0.1:80 -> 127.0.0.1:40000`.
    pub address: Option<String>,
    /// The performers that hold the object, as far as they are known: the owner of a lock, a fiber
    /// to be joined. The numbers are values of `Blocked::id`.
    pub held_by: Vec<usize>,
    /// Whether something outside of this program may make it happen: time, a descriptor, a foreign
    /// call.
    pub external: bool,
}

impl fmt::Display for BlockedOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", self.operation, self.object, Said(self))
    }
}

/// Displays the note and the address of an object.
#[derive(Debug)]
#[doc(hidden)]
pub struct Said<'a>(pub &'a BlockedOn);

impl fmt::Display for Said<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.note.as_ref().map_or(Ok(()), |note| write!(f, "; {note}"))?;
        self.0.address.as_ref().map_or(Ok(()), |address| write!(f, ", {address}"))
    }
}

/// A collection of a performer's waits.
#[derive(Debug, Default)]
pub struct Description {
    #[doc(hidden)]
    /// The collected entries.
    pub all: Vec<BlockedOn>,
}

impl Description {
    /// Adds that the performer waits to do `operation` with the object at `id`.
    ///
    /// The operation is a verb that the object is appended to: "receive from", "lock", "wait for".
    pub fn on(&mut self, operation: &'static str, object: &Label, id: usize) {
        self.on_held(operation, object, id, []);
    }

    /// Adds an entry like [`on`](Description::on), where only the performers `holders` can release
    /// the object.
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

    /// Adds an entry like [`on`](Description::on), which something outside may make happen: time, a
    /// descriptor, a foreign call.
    #[doc(hidden)]
    pub fn on_the_world(&mut self, operation: &'static str, object: &Label, id: usize) {
        self.on(operation, object, id);
        #[cfg(not(lisle_loom))]
        self.mark_external();
    }

    /// Notes that something outside of this program may make the last entry happen.
    #[cfg(not(lisle_loom))]
    #[doc(hidden)]
    pub fn mark_external(&mut self) {
        if let Some(last) = self.all.last_mut() {
            last.external = true;
        }
    }

    /// Adds the address of the descriptor of the last entry.
    #[cfg(not(lisle_loom))]
    #[doc(hidden)]
    pub fn address(&mut self, address: Option<String>) {
        if let Some(last) = self.all.last_mut() {
            last.address = address;
        }
    }

    /// Adds a note about the object of the last entry.
    pub fn note(&mut self, note: impl Into<String>) {
        if let Some(last) = self.all.last_mut() {
            last.note = Some(note.into());
        }
    }
}
