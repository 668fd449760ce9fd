//! Changes to files and directories as events.

use crate::event::{Label, Source, SourceEvent, cannot_be_checked};
use crate::net::waiting;
use crate::shim::sync::Arc;
use notify::event::{AccessKind, AccessMode, EventKind, ModifyKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::path::{Path, PathBuf};

/// The largest number of changes in the queue.
const MOST: usize = 1024;

/// A change to a file or directory.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The kind of the change.
    pub kind: ChangeKind,
    /// The files that have changed: usually one, two if a rename is seen as a whole, and none for
    /// [`ChangeKind::Missed`].
    pub paths: Vec<PathBuf>,
}

/// The kind of a [`Change`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChangeKind {
    /// The file was created.
    Created,
    /// The contents or properties of the file have changed. More changes may follow.
    Modified,
    /// A program that had the file open for writing has closed it. (Linux only.)
    Written,
    /// The file was renamed, or has moved in or out.
    Renamed,
    /// The file was removed.
    Removed,
    /// Changes have been lost, in the queue or in the system. The caller has to look at the files.
    Missed,
}

/// A watch of files, returned by [`watch_files`]. Dropping it ends the watch.
pub struct Changes {
    queue: Arc<Source<Queue, io::Result<Change>>>,
    _watcher: RecommendedWatcher,
}

type Queue = VecDeque<io::Result<Change>>;

/// The event of a change, returned by [`Changes::next_evt`].
pub type ChangeEvt<'a> =
    SourceEvent<'a, Queue, io::Result<Change>, fn(&mut Queue) -> Option<io::Result<Change>>>;

/// Watches a file, or a directory and its direct entries.
///
/// If the file may be replaced by another, as many editors do, watch its directory instead.
///
/// **Overflow**: the queue holds up to 1,024 changes. Changes that come while it is full are
/// dropped, and one change of the kind [`Missed`](ChangeKind::Missed) takes their place. Memory is
/// therefore bounded, and no loss is silent.
///
/// ```
/// use lisle::io::{ChangeKind, watch_files};
/// use lisle::{Event, choose, time::after};
/// use std::time::Duration;
///
/// # fn main() -> std::io::Result<()> {
/// # let folder = std::env::temp_dir().join(format!("lisle-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let changes = watch_files(&folder)?;
/// std::fs::write(folder.join("new"), "text")?;
/// let change = choose((
///     changes.next_evt().wrap(Some),
///     after(Duration::from_secs(60)).wrap(|()| None),
/// ));
/// assert_eq!(change.sync().unwrap()?.kind, ChangeKind::Created);
/// # std::fs::remove_dir_all(&folder)
/// # }
/// ```
///
/// # Errors
///
/// Returns an error if nothing exists at `path`, or if the system is out of watches, descriptors or
/// threads.
#[track_caller]
pub fn watch_files(path: impl AsRef<Path>) -> io::Result<Changes> {
    Changes::new(path.as_ref(), RecursiveMode::NonRecursive, MOST)
}

/// Watches a directory and everything below it, as [`watch_files`] does.
///
/// On Linux each directory takes one watch, and their number is limited
/// (`fs.inotify.max_user_watches`). Files that are created in a new directory at once may be
/// missed.
///
/// # Errors
///
/// Returns the errors of [`watch_files`].
///
/// # Examples
///
/// ```
/// use lisle::io::{ChangeKind, watch_tree};
///
/// # let folder = std::env::temp_dir().join(format!("lisle-{}-tree", std::process::id()));
/// std::fs::create_dir_all(folder.join("inner"))?;
/// let changes = watch_tree(&folder)?;
/// std::fs::write(folder.join("inner").join("new"), "text")?;
/// let change = changes.next_change()?;
/// assert_eq!(change.kind, ChangeKind::Created);
/// assert!(change.paths[0].ends_with("inner/new"));
/// assert!(watch_tree(folder.join("missing")).is_err());
/// # std::fs::remove_dir_all(&folder)?;
/// # std::io::Result::Ok(())
/// ```
#[track_caller]
pub fn watch_tree(path: impl AsRef<Path>) -> io::Result<Changes> {
    Changes::new(path.as_ref(), RecursiveMode::Recursive, MOST)
}

// A change goes in or out as a whole, and no code of the user runs meanwhile.
impl UnwindSafe for Changes {}
impl RefUnwindSafe for Changes {}

impl Changes {
    #[track_caller]
    fn new(path: &Path, mode: RecursiveMode, most: usize) -> io::Result<Changes> {
        let why = "files are changed outside of the program";
        cannot_be_checked("a watch of files", why, "Put a channel in its place");
        let queue = Arc::new(Source::labelled(Label::new("watch of files"), Queue::new()));
        let place = queue.clone();
        let report = move |event| {
            if let Some(change) = translate(event) {
                put(&place, change, most);
            }
        };
        let mut watcher = notify::recommended_watcher(report).map_err(into_io)?;
        watcher.watch(path, mode).map_err(into_io)?;
        Ok(Changes { queue, _watcher: watcher })
    }

    /// Returns the event of the next change. Several performers may wait. Each change goes to one
    /// of them, in order.
    ///
    /// # Errors
    ///
    /// The event gives an error if a part of the watch fails, for example if a new directory cannot
    /// be watched.
    ///
    /// # Cancel safety
    ///
    /// A performance that loses a choice, a poll that fails and a future that is dropped before it
    /// gets its change have taken no change.
    pub fn next_evt(&self) -> ChangeEvt<'_> {
        self.queue.event(Queue::pop_front)
    }

    /// Waits for the next change as [`Event::sync`](crate::Event::sync) does.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`next_evt`](Changes::next_evt).
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::io::{ChangeKind, watch_files};
    ///
    /// # let folder = std::env::temp_dir().join(format!("lisle-{}-next", std::process::id()));
    /// std::fs::create_dir_all(&folder)?;
    /// let changes = watch_files(&folder)?;
    /// std::fs::create_dir(folder.join("new"))?;
    /// std::fs::remove_dir(folder.join("new"))?;
    /// assert_eq!(changes.next_change()?.kind, ChangeKind::Created);
    /// assert_eq!(changes.next_change()?.kind, ChangeKind::Removed);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn next_change(&self) -> io::Result<Change> {
        waiting::wait(self.next_evt())?
    }
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waiting = self.queue.with(|queue| queue.len());
        f.debug_struct("Changes").field("waiting", &waiting).finish_non_exhaustive()
    }
}

/// Grants a change to the waiter that has waited longest, or else puts it into the queue. If the
/// queue is full, records that changes were missed.
fn put(queue: &Source<Queue, io::Result<Change>>, change: io::Result<Change>, most: usize) {
    queue.update(|queue, waiters| {
        let Err(change) = waiters.grant(change) else { return };
        if queue.len() < most {
            queue.push_back(change);
        } else if !matches!(queue.back(), Some(Ok(Change { kind: ChangeKind::Missed, .. }))) {
            queue.push_back(Ok(Change { kind: ChangeKind::Missed, paths: Vec::new() }));
        }
    });
}

/// Returns `None` if a file was only read.
fn translate(event: notify::Result<notify::Event>) -> Option<io::Result<Change>> {
    let event = match event {
        Ok(event) => event,
        Err(error) => return Some(Err(into_io(error))),
    };
    let kind = match event.kind {
        _ if event.need_rescan() => ChangeKind::Missed,
        EventKind::Create(_) => ChangeKind::Created,
        EventKind::Modify(ModifyKind::Name(_)) => ChangeKind::Renamed,
        EventKind::Modify(_) | EventKind::Any | EventKind::Other => ChangeKind::Modified,
        EventKind::Remove(_) => ChangeKind::Removed,
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => ChangeKind::Written,
        EventKind::Access(_) => return None,
    };
    Some(Ok(Change { kind, paths: event.paths }))
}

fn into_io(error: notify::Error) -> io::Error {
    match error.kind {
        notify::ErrorKind::Io(error) => error,
        notify::ErrorKind::PathNotFound => io::ErrorKind::NotFound.into(),
        _ => io::Error::other(error),
    }
}

#[cfg(test)]
mod tests {
    use super::{Change, ChangeKind, Label, Queue, Source, put};

    #[test]
    fn what_does_not_fit_is_said_to_be_missing() {
        let queue = Source::labelled(Label::new("watch of files"), Queue::new());
        let change =
            |number: usize| Change { kind: ChangeKind::Created, paths: vec![number.to_string().into()] };
        for number in 0..10 {
            put(&queue, Ok(change(number)), 3);
        }
        let missed = Change { kind: ChangeKind::Missed, paths: Vec::new() };
        let mut taken = Vec::new();
        for _ in 0..2 {
            taken.extend(queue.update(|queue, _| queue.pop_front()).map(Result::unwrap));
        }
        put(&queue, Ok(change(10)), 3);
        taken.extend(queue.into_inner().into_iter().map(Result::unwrap));
        assert_eq!(taken, [change(0), change(1), change(2), missed, change(10)]);
    }
}
