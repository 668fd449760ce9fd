//! The file component: each domain has one fiber that owns the cache and answers the questions of
//! that domain's connections.
//!
//! A question and its answer are two messages that do not leave the domain. If the cache cannot
//! answer, the component starts a loader, a fiber for that one lookup on disk. The component itself
//! therefore waits only for messages: a slow disk delays only the requests that need it. Ten
//! connections that ask for the same missing file wait for the same loader.
//!
//! The first question after a cached file's `recheck` time compares the file with the disk. A file
//! that is too large for memory is kept open, and the kernel sends it. Such a file may be written
//! to at any time, so each question checks whether the open file has changed. That check does not
//! wait.

pub(crate) mod cache;
pub(crate) mod entry;
pub(crate) mod load;
pub(crate) mod path;
pub(crate) mod root;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lisle::channel::{Receiver, Sender};
use lisle::time::at;
use lisle::{Event, choose};

use cache::Cache;
use entry::Entry;
use load::{Loaded, load};
use root::{Failure, Root};

/// The page for missing files, if the site has one.
const MISSING_PAGE: &[u8] = b"404.html";

/// An unused open file is closed after this time, or after up to twice as long.
const CLOSE_UNUSED: Duration = Duration::from_secs(10);

/// A question for the file under `key`, which [`path::decode`] creates.
#[derive(Debug)]
pub(crate) struct Ask {
    /// The name. The answer returns the buffer for the next question.
    pub(crate) key: Vec<u8>,
    /// The time of the question, so the component need not read the clock.
    pub(crate) now: Instant,
    /// The channel for the answer. It must have room for one answer, because the component does not
    /// wait.
    pub(crate) reply: Sender<Answer>,
}

/// The answer to an [`Ask`].
#[derive(Debug)]
pub(crate) struct Answer {
    /// The name that was asked for.
    pub(crate) key: Vec<u8>,
    /// The result.
    pub(crate) outcome: Outcome,
}

/// The result of looking up a name.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// A file.
    File(Arc<Entry>),
    /// A directory. The client should request it with a slash at the end.
    Directory,
    /// Nothing. The page is shown instead, if the site has one.
    Missing(Option<Arc<Entry>>),
    /// A file that cannot be read.
    Failed(Failure),
}

/// The settings of the component of one domain.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) root: Arc<Root>,
    /// Memory for the cache of this domain.
    pub(crate) budget: u64,
    /// The largest file to keep in memory.
    pub(crate) in_memory: u64,
    /// The number of concurrent lookups on disk. Further ones are queued.
    pub(crate) loaders: usize,
    /// The number of larger files to keep open.
    pub(crate) open: usize,
    /// How long a file is served before it is compared with the disk.
    pub(crate) recheck: Duration,
    /// `true` if names that begin with a dot are served.
    pub(crate) dotfiles: bool,
}

/// Runs the component of the current domain until all senders of questions are gone.
pub(crate) fn run(settings: Settings, asks: &Receiver<Ask>) {
    let (finished, loads) = lisle::channel::named("loads", settings.loaders);
    let cache = Cache::new(settings.budget, settings.open);
    let mut files =
        Files { settings, cache, pending: HashMap::new(), queue: VecDeque::new(), loaders: 0, finished };
    // The time to look for unused open files. Without open files there is no timer.
    let mut sweep = None;
    loop {
        let ask = asks.recv_evt().wrap(Next::Ask);
        let load = loads.recv_evt().wrap(Next::Load);
        let next = match sweep {
            None => choose((ask, load)).sync(),
            Some(time) => choose((ask, load, at(time).wrap(|()| Next::Sweep))).sync(),
        };
        match next {
            Next::Sweep => {
                files.cache.close_unused();
                sweep = None;
            }
            Next::Ask(Ok(Ask { key, now, reply })) => {
                // A hidden file is answered as a missing one, without a lookup on disk.
                let missing = !files.settings.dotfiles && path::is_hidden(&key);
                let waiter = Waiter { key, reply, missing };
                files.find(waiter, now);
            }
            Next::Load(Ok(load)) => files.loaded(load),
            Next::Ask(Err(_)) | Next::Load(Err(_)) => break,
        }
        if sweep.is_none() && files.cache.has_open() {
            sweep = Some(Instant::now() + CLOSE_UNUSED);
        }
    }
}

/// The causes for which the component wakes up.
enum Next {
    Ask(Result<Ask, lisle::channel::RecvError>),
    Load(Result<Load, lisle::channel::RecvError>),
    Sweep,
}

/// The result of a loader.
struct Load {
    key: Arc<[u8]>,
    loaded: Loaded,
}

impl Load {
    /// Returns the report of a loader that could not run because the system gave no thread for it.
    fn failed(key: Arc<[u8]>) -> Load {
        Load { key, loaded: Loaded::Failed(Failure::Exhausted) }
    }
}

/// Sends the result of a loader when its fiber ends, also if it panics or is unwound, so no
/// connection waits for it in vain.
struct Report {
    finished: Sender<Load>,
    load: Option<Load>,
}

impl Report {
    fn found(mut self, load: Load) {
        self.load = Some(load);
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        if let Some(load) = self.load.take() {
            // The channel has room for one message from each loader. The send fails only if the
            // component has ended.
            let _ = self.finished.try_send(load);
        }
    }
}

/// A connection that waits for an answer.
struct Waiter {
    key: Vec<u8>,
    reply: Sender<Answer>,
    /// The requested file is missing, and the connection now waits for the page for missing files.
    missing: bool,
}

impl Waiter {
    fn answer(self, outcome: Outcome) {
        let outcome = match outcome {
            Outcome::File(page) if self.missing => Outcome::Missing(Some(page)),
            _ if self.missing => Outcome::Missing(None),
            other => other,
        };
        // The connection may be gone in the meantime. Then the answer is not needed.
        let _ = self.reply.try_send(Answer { key: self.key, outcome });
    }

    /// Returns the name to look up for this connection.
    fn wanted(&self) -> &[u8] {
        if self.missing { MISSING_PAGE } else { &self.key }
    }
}

struct Files {
    settings: Settings,
    cache: Cache,
    /// The connections that wait for each lookup on disk.
    pending: HashMap<Arc<[u8]>, Vec<Waiter>>,
    /// Lookups that wait for a loader.
    queue: VecDeque<Arc<[u8]>>,
    loaders: usize,
    finished: Sender<Load>,
}

impl Files {
    /// Answers at once from the cache, or starts a lookup on disk.
    fn find(&mut self, waiter: Waiter, now: Instant) {
        if let Some((entry, checked)) = self.cache.get(waiter.wanted())
            && now.saturating_duration_since(checked) < self.settings.recheck
            && entry.is_current()
        {
            let entry = Arc::clone(entry);
            return waiter.answer(Outcome::File(entry));
        }
        if let Some(waiters) = self.pending.get_mut(waiter.wanted()) {
            return waiters.push(waiter);
        }
        let key: Arc<[u8]> = waiter.wanted().into();
        self.pending.insert(Arc::clone(&key), vec![waiter]);
        self.queue.push_back(key);
        self.start_loaders();
    }

    fn start_loaders(&mut self) {
        while self.loaders < self.settings.loaders {
            let Some(key) = self.queue.pop_front() else { break };
            self.loaders += 1;
            let known = self.cache.get(&key).and_then(|(entry, _)| entry.stamp());
            let (root, in_memory) = (Arc::clone(&self.settings.root), self.settings.in_memory);
            let report =
                Report { finished: self.finished.clone(), load: Some(Load::failed(Arc::clone(&key))) };
            lisle::fiber::Builder::new().name("loader").spawn(move || {
                let name = Arc::clone(&key);
                let loaded = lisle::blocking(move || load(&root, &name, known, in_memory));
                report.found(Load { key, loaded });
            });
        }
    }

    /// Returns `true` if the cached file with this name can be served without a lookup of the name.
    fn holds(&mut self, key: &[u8]) -> bool {
        self.cache.get(key).is_some_and(|(entry, _)| entry.holds())
    }

    fn loaded(&mut self, Load { key, loaded }: Load) {
        self.loaders -= 1;
        let now = Instant::now();
        let entry = match &loaded {
            Loaded::Entry(entry) => {
                self.cache.insert(&key, Arc::clone(entry), now);
                Some(Arc::clone(entry))
            }
            Loaded::Unchanged => {
                self.cache.confirm(&key, now);
                self.cache.get(&key).map(|(entry, _)| Arc::clone(entry))
            }
            // The lookup failed for lack of a descriptor. Content in memory needs none.
            Loaded::Failed(Failure::Exhausted) if self.holds(&key) => {
                self.cache.confirm(&key, now);
                self.cache.get(&key).map(|(entry, _)| Arc::clone(entry))
            }
            Loaded::Directory | Loaded::Failed(_) => {
                self.cache.remove(&key);
                None
            }
        };
        for waiter in self.pending.remove(&key).unwrap_or_default() {
            match (&entry, &loaded) {
                (Some(entry), _) => waiter.answer(Outcome::File(Arc::clone(entry))),
                (None, Loaded::Directory) => waiter.answer(Outcome::Directory),
                (None, Loaded::Failed(Failure::Missing)) if !waiter.missing => {
                    self.find(Waiter { missing: true, ..waiter }, now);
                }
                (None, Loaded::Failed(failure)) => waiter.answer(Outcome::Failed(*failure)),
                // The file was unchanged when the loader looked, but the cache has evicted it in
                // the meantime.
                (None, Loaded::Entry(_) | Loaded::Unchanged) => self.find(waiter, now),
            }
        }
        self.start_loaders();
    }
}
