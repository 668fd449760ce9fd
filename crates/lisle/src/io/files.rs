//! Changes of files and directories as events.

use crate::event::{Event, Label, Source, SourceEvent};
use crate::shim::sync::Arc;
use notify::event::{AccessKind, AccessMode, EventKind, ModifyKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// How many changes wait to be taken.
const MOST: usize = 1024;

/// What has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// In what way.
    pub kind: ChangeKind,
    /// Which files: usually one, two when a renaming is seen as a whole, none of [`ChangeKind::Missed`].
    pub paths: Vec<PathBuf>,
}

/// In what way something has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChangeKind {
    /// It was made.
    Created,
    /// Its contents or properties have changed, maybe not for the last time.
    Modified,
    /// Who has written to it has closed it. (Linux only.)
    Written,
    /// It has another name, or has moved in or out.
    Renamed,
    /// It is gone.
    Removed,
    /// Changes have been lost, here or in the system. Look for yourself.
    Missed,
}

/// Changes of files, see [`watch_files`]. Dropped, it watches no more.
pub struct Changes {
    queue: Arc<Source<Queue, io::Result<Change>>>,
    _watcher: RecommendedWatcher,
}

type Queue = VecDeque<io::Result<Change>>;

/// The event of a change, see [`Changes::next_evt`].
pub type ChangeEvt<'a> =
    SourceEvent<'a, Queue, io::Result<Change>, fn(&mut Queue) -> Option<io::Result<Change>>>;

/// Watches a file, or a directory and what lies directly in it.
///
/// Watch the directory rather than the file if the file may be replaced by another, as many editors do.
///
/// **Overflow**: up to 1,024 changes wait to be taken. Those that come when so many wait are dropped, and in their place
/// there is one of the kind [`Missed`](ChangeKind::Missed). Memory is bounded thereby, and nothing is lost
/// silently.
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
/// There is nothing at `path`, or the system is out of watches, descriptors or threads.
#[track_caller]
pub fn watch_files(path: impl AsRef<Path>) -> io::Result<Changes> {
    Changes::new(path.as_ref(), RecursiveMode::NonRecursive, MOST)
}

/// Watches a directory and all below it. As [`watch_files`].
///
/// On Linux each directory takes a watch of its own, of which there is a limited number
/// (`fs.inotify.max_user_watches`), and in one that is new what is made at once may be missed.
///
/// # Errors
///
/// As [`watch_files`].
#[track_caller]
pub fn watch_tree(path: impl AsRef<Path>) -> io::Result<Changes> {
    Changes::new(path.as_ref(), RecursiveMode::Recursive, MOST)
}

impl Changes {
    #[track_caller]
    fn new(path: &Path, mode: RecursiveMode, most: usize) -> io::Result<Changes> {
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

    /// The event of the next change. Several may wait; each change goes to one of them, in order.
    ///
    /// # Errors
    ///
    /// The event gives an error if watching goes wrong in part: a new directory cannot be watched, say.
    ///
    /// # Cancel safety
    ///
    /// A loser of a choice, a poll that fails and a future that is dropped before it is given its change have taken
    /// none.
    pub fn next_evt(&self) -> ChangeEvt<'_> {
        self.queue.event(Queue::pop_front)
    }

    /// Waits for the next change, as [`Event::sync`] does.
    ///
    /// # Errors
    ///
    /// As [`next_evt`](Changes::next_evt).
    pub fn next_change(&self) -> io::Result<Change> {
        self.next_evt().sync()
    }
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waiting = self.queue.with(|queue| queue.len());
        f.debug_struct("Changes").field("waiting", &waiting).finish_non_exhaustive()
    }
}

/// Gives a change to who waits longest, or has it wait; says so if it cannot.
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

/// `None`: somebody has only looked at a file.
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
