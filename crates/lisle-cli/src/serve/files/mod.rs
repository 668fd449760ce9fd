//! The file component: for each domain one fiber that owns the cache and answers what the connections of that domain ask.
//!
//! A question and its answer are two messages that do not leave the domain. What the cache cannot answer goes to a loader,
//! a fiber started for that one look at the disk, so that the component itself never waits for anything but messages: a
//! slow disk delays those who need it and nobody else. Ten connections that ask for the same missing file wait for the
//! same loader.
//!
//! A file in the cache is compared with the disk once its `recheck` time is over, by the first question after that.
//! What is too large to be kept in memory is kept open, and sent by the kernel. Such a file may be written to at any time,
//! so each question asks the open file whether it is still what it was, which waits for nothing.

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

/// The page for what is not there, if the site has one.
const MISSING_PAGE: &[u8] = b"404.html";

/// An open file that nobody has asked for is closed after this time, or up to twice as long.
const CLOSE_UNUSED: Duration = Duration::from_secs(10);

/// A question: what is there under `key`, as made by [`path::decode`]?
#[derive(Debug)]
pub(crate) struct Ask {
    /// The name. The buffer comes back with the answer, to be used for the next question.
    pub(crate) key: Vec<u8>,
    /// When the question was asked, which spares the component a look at the clock.
    pub(crate) now: Instant,
    /// Where the answer goes. It must have room for one, for the component does not wait.
    pub(crate) reply: Sender<Answer>,
}

/// The answer to an [`Ask`].
#[derive(Debug)]
pub(crate) struct Answer {
    /// The name that was asked for.
    pub(crate) key: Vec<u8>,
    /// What there is.
    pub(crate) outcome: Outcome,
}

/// What there is under a name.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// A file.
    File(Arc<Entry>),
    /// A directory, which should be asked for with a slash at the end.
    Directory,
    /// Nothing; the page is what the site shows instead, if it has one.
    Missing(Option<Arc<Entry>>),
    /// Something that cannot be had.
    Failed(Failure),
}

/// How the component of one domain is set up.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) root: Arc<Root>,
    /// Memory for the cache of this domain.
    pub(crate) budget: u64,
    /// The largest file to keep in memory.
    pub(crate) in_memory: u64,
    /// How many looks at the disk are under way at once; the others wait their turn.
    pub(crate) loaders: usize,
    /// How many larger ones to keep open.
    pub(crate) open: usize,
    /// How long a file is served before it is compared with the disk.
    pub(crate) recheck: Duration,
    /// Whether names that begin with a dot are served.
    pub(crate) dotfiles: bool,
}

/// Runs the component of the domain it is called on, until nobody can ask any more.
pub(crate) fn run(settings: Settings, asks: &Receiver<Ask>) {
    let (finished, loads) = lisle::channel::named("loads", settings.loaders);
    let cache = Cache::new(settings.budget, settings.open);
    let mut files =
        Files { settings, cache, pending: HashMap::new(), queue: VecDeque::new(), loaders: 0, finished };
    // When to look for open files that nobody asks for; without any there is no timer.
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
                // What is hidden is answered as what is not there, without a look at the disk.
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

/// What the component wakes up for.
enum Next {
    Ask(Result<Ask, lisle::channel::RecvError>),
    Load(Result<Load, lisle::channel::RecvError>),
    Sweep,
}

/// What a loader found.
struct Load {
    key: Arc<[u8]>,
    loaded: Loaded,
}

impl Load {
    /// What is reported of a loader that could not look: the system gave no thread for it.
    fn failed(key: Arc<[u8]>) -> Load {
        Load { key, loaded: Loaded::Failed(Failure::Exhausted) }
    }
}

/// Sends what a loader found when its fiber ends, in whichever way, so that nobody waits for it in vain.
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
            // There is room for one message from each loader; only a component that has ended does not take it.
            let _ = self.finished.try_send(load);
        }
    }
}

/// One who waits for an answer.
struct Waiter {
    key: Vec<u8>,
    reply: Sender<Answer>,
    /// What it asked for is not there, and now it waits for the page that says so.
    missing: bool,
}

impl Waiter {
    fn answer(self, outcome: Outcome) {
        let outcome = match outcome {
            Outcome::File(page) if self.missing => Outcome::Missing(Some(page)),
            _ if self.missing => Outcome::Missing(None),
            other => other,
        };
        // Whoever asked may be gone meanwhile; then nobody misses the answer.
        let _ = self.reply.try_send(Answer { key: self.key, outcome });
    }

    /// What to look for on behalf of this one.
    fn wanted(&self) -> &[u8] {
        if self.missing { MISSING_PAGE } else { &self.key }
    }
}

struct Files {
    settings: Settings,
    cache: Cache,
    /// Who waits for which look at the disk.
    pending: HashMap<Arc<[u8]>, Vec<Waiter>>,
    /// Looks that wait for a loader.
    queue: VecDeque<Arc<[u8]>>,
    loaders: usize,
    finished: Sender<Load>,
}

impl Files {
    /// Answers at once from the cache, or has the disk asked.
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

    /// Whether what is known under this name can be served without a look at its name.
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
            // For want of a descriptor nobody could look. What is in memory needs none.
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
                // It was unchanged when the loader looked, but has been pushed out of the cache meanwhile.
                (None, Loaded::Entry(_) | Loaded::Unchanged) => self.find(waiter, now),
            }
        }
        self.start_loaders();
    }
}
