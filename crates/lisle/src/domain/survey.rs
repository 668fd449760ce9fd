//! Asking all domains of a runtime who waits there.
//!
//! What a host waits for lies on its stack, and only its own domain's thread may look there, while the host is
//! parked. So whoever wants to know leaves a question for all domains and wakes them, and each answers between two
//! turns. The running of hosts costs nothing but a look, where a worker visits its inbox anyway, at the number of
//! questions that have been asked.

use super::Domain;
use super::runtime::Shared;
use super::waiting::{Performer, RunningHost, WaitGraph, Waiter};
use super::worker::{self, Worker};
use crate::event::{Waits, parker, sleepers};
use crate::fiber::host::Host;
use crate::parasite;
use crate::shim::{
    atomic::{AtomicU64, Ordering},
    clock,
    sync::{Arc, Mutex, MutexGuard},
};
use std::time::Duration;

/// How long a domain has to answer. One that does not has a host that runs for as long.
const PATIENCE: Duration = Duration::from_millis(100);

/// The questions that a runtime's domains are to answer.
#[derive(Default)]
pub(super) struct Survey {
    /// How many have been asked, ever.
    asked: AtomicU64,
    open: Mutex<Vec<Arc<Question>>>,
}

/// One question, and the answers so far, by domain.
struct Question(Mutex<Vec<Option<Census>>>);

/// What one domain says.
pub(super) struct Census {
    hosts: Vec<Waiter>,
    /// The hosts that belong to a scope: the numbers of both.
    members: Vec<(usize, usize)>,
    running: Option<RunningHost>,
    ready: usize,
    /// Nothing but parked hosts is here: none that could run, no timer that could wake one.
    is_still: bool,
}

/// What came of asking.
pub(super) struct Surveyed {
    pub(super) graph: WaitGraph,
    /// All domains have answered, and nothing but parked hosts is on any.
    pub(super) is_still: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Shared {
    /// Asks who waits. Blocks the thread until all domains have answered, or for [`PATIENCE`].
    pub(super) fn survey(&self) -> Surveyed {
        let question = Arc::new(Question(Mutex::new(self.domains.iter().map(|_| None).collect())));
        lock(&self.survey.open).push(question.clone());
        // Before the wakes, so that a domain that has not seen it is woken after it could.
        self.survey.asked.fetch_add(1, Ordering::SeqCst);
        self.wake_all();
        let end = clock::now().saturating_add(clock::saturating_nanos(PATIENCE));
        let mut pause = Duration::from_micros(20);
        loop {
            // A host that asks keeps its own domain from answering, and perhaps another's host waits for that.
            worker::with_current(|worker| worker.into_iter().for_each(Worker::answer));
            let is_answered = |(domain, answer): (&Arc<Domain>, &Option<Census>)| {
                answer.is_some() || domain.has_left.load(Ordering::Acquire)
            };
            if self.domains.iter().zip(&*lock(&question.0)).all(is_answered) || clock::now() >= end {
                break;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(1));
        }
        lock(&self.survey.open).retain(|open| !Arc::ptr_eq(open, &question));
        let answers = std::mem::take(&mut *lock(&question.0));
        self.put_together(answers)
    }

    fn put_together(&self, answers: Vec<Option<Census>>) -> Surveyed {
        let mut graph = WaitGraph::default();
        let mut is_still = true;
        let mut members = Vec::new();
        for (domain, answer) in self.domains.iter().zip(answers) {
            match answer {
                Some(census) => {
                    is_still &= census.is_still;
                    graph.hosts.extend(census.hosts);
                    graph.running.extend(census.running);
                    graph.ready += census.ready;
                    members.extend(census.members);
                }
                None if domain.has_left.load(Ordering::Acquire) => is_still = false,
                None => {
                    is_still = false;
                    graph.silent.push(domain.index);
                    graph.stuck.push(domain.stall(self, false));
                    graph.running.extend(domain.running_now());
                }
            }
        }
        // What an event says of itself is a user's code, which must not park here.
        let told = {
            let _between = Between::new();
            parasite::waiting(self)
        };
        members.extend(told.iter().filter_map(|told| Some((told.scope?, told.id))));
        graph.parasites = told
            .into_iter()
            .map(|told| Waiter {
                kind: Performer::Parasite,
                id: told.id,
                name: None,
                site: Some(told.site),
                domain: None,
                waits: told.waits.all,
            })
            .collect();
        graph.unbegun = if graph.silent.is_empty() {
            let begun = graph.parasites.len() + graph.hosts.len() + graph.running.len() + graph.ready;
            usize::try_from(self.live()).unwrap_or(usize::MAX).saturating_sub(begun)
        } else {
            self.waiting_to_begin()
        };
        graph.threads = threads();
        graph.link_scopes(&members);
        Surveyed { graph, is_still }
    }
}

/// The plain threads that wait.
pub(super) fn threads() -> Vec<Waiter> {
    let told = sleepers::ask(PATIENCE).into_iter();
    told.map(|told| Waiter {
        kind: Performer::Thread,
        id: told.id,
        name: told.name,
        site: None,
        domain: None,
        waits: told.waits,
    })
    .collect()
}

/// Keeps what a worker does in the turn of a host from being taken for the host's doing: it must not park.
pub(super) struct Between {
    running: *const parker::Parker,
    /// Of the thread's own stack, on which this is not if a host runs.
    limit: usize,
}

impl Between {
    pub(super) fn new() -> Self {
        let running = parker::running().map_or(std::ptr::null(), std::ptr::from_ref);
        parker::set_running(std::ptr::null());
        let thread = &parker::bearing().limit;
        let limit = thread.get();
        if !running.is_null() {
            // How much is left of the host's stack is not known here, so no parasite is to begin on it.
            thread.set(usize::MAX);
        }
        Between { running, limit }
    }
}

impl Drop for Between {
    fn drop(&mut self) {
        parker::bearing().limit.set(self.limit);
        parker::set_running(self.running);
    }
}

impl Worker {
    /// Is there a question that this domain has not answered?
    #[inline]
    pub(super) fn is_asked(&self) -> bool {
        self.shared.survey.asked.load(Ordering::SeqCst) != self.answered.get()
    }

    /// Answers all questions that are open, between turns or in the turn of a host that asks.
    #[cold]
    pub(super) fn answer(&self) {
        // Read first: what is asked later is seen to have been.
        self.answered.set(self.shared.survey.asked.load(Ordering::SeqCst));
        let open = lock(&self.shared.survey.open).clone();
        for question in open {
            let index = self.domain.index;
            if lock(&question.0).get(index).is_some_and(Option::is_none) {
                let census = self.census();
                if let Some(answer) = lock(&question.0).get_mut(index) {
                    *answer = Some(census);
                }
            }
        }
    }

    fn census(&self) -> Census {
        let _between = Between::new();
        let mut census = Census {
            hosts: Vec::new(),
            members: Vec::new(),
            running: None,
            ready: 0,
            is_still: !self.has_ready() && self.wheel.borrow().is_empty(),
        };
        let running = self.current_host();
        self.for_each_begun(|host| {
            let id = host.performer_id();
            if let Some(scope) = host.scope {
                census.members.push((scope.addr().get(), id));
            }
            if running.is_some_and(|running| std::ptr::eq(running.as_ptr(), host)) {
                census.running = self.domain.running_now();
            } else if host.parker.state.get() == parker::State::Resting {
                // A bearer that bears nothing.
            } else if host.parker.is_parked() {
                census.hosts.push(self.waiter(host, id));
            } else {
                census.ready += 1;
            }
        });
        census.is_still &= census.running.is_none() && census.ready == 0;
        census
    }

    fn waiter(&self, host: &Host, id: usize) -> Waiter {
        let Waits { all: waits } = host.parker.describe();
        let name = host.name.as_deref().map(str::to_owned);
        let (kind, site, id) = match host.borne() {
            Some(parasite) => (Performer::Parasite, parasite.site(), parasite.id()),
            None => (Performer::Host, host.code_site(), id),
        };
        Waiter { kind, id, name, site: Some(site), domain: Some(self.domain.index), waits }
    }
}
