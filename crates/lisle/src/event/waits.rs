//! Who waits for what: the words in which an event tells it.
//!
//! Nothing here is called while all goes well. Somebody who asks who waits has the event of each parked
//! performer describe itself ([`Event::describe`](super::Event::describe)).

use std::fmt;
use std::panic::Location;

/// What an object that is waited for is, where it was made, and what it is called.
#[derive(Clone)]
pub struct Label {
    kind: &'static str,
    site: &'static Location<'static>,
    // Thin, since most objects have none.
    name: Option<Box<Box<str>>>,
}

impl Label {
    /// The label of an object of this kind ("channel", "mutex"), made by the caller.
    #[track_caller]
    #[inline]
    pub const fn new(kind: &'static str) -> Self {
        Label { kind, site: Location::caller(), name: None }
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

    /// Where it was made.
    pub fn site(&self) -> &'static Location<'static> {
        self.site
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{} '{name}' (made at {})", self.kind, self.site),
            None => write!(f, "a {} (made at {})", self.kind, self.site),
        }
    }
}

impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Label({self})")
    }
}

/// One thing that a performer waits for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Wait {
    /// What it wants to do: "receive", "lock", "join".
    pub operation: &'static str,
    /// What it wants that of.
    pub object: Label,
    /// Tells objects apart that look the same: an address.
    pub id: usize,
}

/// Collects what a performer waits for.
#[derive(Debug, Default)]
pub struct Waits {
    pub(crate) all: Vec<Wait>,
}

impl Waits {
    /// The performer waits to do `operation` with the object at `id`.
    pub fn on(&mut self, operation: &'static str, object: &Label, id: usize) {
        self.all.push(Wait { operation, object: object.clone(), id });
    }
}
