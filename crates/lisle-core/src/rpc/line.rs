//! The queue of requests between callers and servers.
//!
//! A caller's event puts its request into the queue while it is being prepared, and then waits for
//! the answer on a channel of its own. Whether the caller is still there is known only from its
//! negative acknowledgement. A request whose caller has gone is skipped. Such requests are swept
//! out when the queue has become twice as long as it was after the last sweep, so callers that come
//! and go before they are served do not accumulate.
//!
//! Requests contain values of the user, which must not be dropped under a lock, so they leave the
//! queue before they are dropped.

use crate::channel::observe::{Observed, Sign, Watchers};
use crate::channel::{ClosedEvt, OwnedRecvEvt, RecvError, Sender, bounded};
use crate::drops;
use crate::event::protocol::queue::WaitQueue;
use crate::event::telling::awaited::{Awaited, Awaits};
use crate::event::{
    Attempt, Description, Event, Label, Nack, Source, Step, Waiters, Waiting, WithNack, awaitable, forwarded,
    single, with_nack,
};
use crate::shim::model::Touch;
use crate::shim::sync::Arc;
use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;

/// The smallest queue that is worth a sweep.
const FEW: usize = 16;

/// A request, the sender for its answer, and the event that tells whether the caller has given up.
#[derive(Debug)]
pub(crate) struct Pending<A, T> {
    pub(crate) arg: A,
    pub(crate) reply: Sender<T>,
    pub(crate) client: Nack,
}

pub(crate) struct Line<A, T> {
    /// Grants a request, or `None` if there will be none any more.
    source: Source<Queue<A, T>, Option<Delivery<A, T>>>,
    /// How many answers a caller's channel buffers: 1 if they are left there, 0 if they are handed
    /// over.
    room: usize,
}

struct Queue<A, T> {
    waiting: VecDeque<Pending<A, T>>,
    /// The length at which the requests of callers that have gone are swept out.
    sweep_at: usize,
    callers: usize,
    served: bool,
    watchers: Watchers,
}

/// A request on its way to a server. If it does not arrive, because the server's future was
/// dropped, it goes back to the head of the queue.
struct Delivery<A, T> {
    pending: Option<Pending<A, T>>,
    line: Arc<Line<A, T>>,
}

impl<A, T> Drop for Delivery<A, T> {
    fn drop(&mut self) {
        if let Some(pending) = self.pending.take() {
            drop(self.line.put_back(pending));
        }
    }
}

impl<A, T> Queue<A, T> {
    fn next(&mut self, line: &Arc<Line<A, T>>) -> Option<Option<Delivery<A, T>>> {
        match self.waiting.pop_front() {
            Some(pending) => Some(Some(Delivery { pending: Some(pending), line: line.clone() })),
            None => (self.callers == 0).then_some(None),
        }
    }

    /// Takes out the requests whose callers have gone, if the queue is long enough for a sweep.
    fn sweep(&mut self) -> Vec<Pending<A, T>> {
        if self.waiting.len() < self.sweep_at {
            return Vec::new();
        }
        let (gone, waiting) = self.waiting.drain(..).partition(|pending| pending.client.has_lost());
        self.waiting = waiting;
        self.sweep_at = (2 * self.waiting.len()).max(FEW);
        Vec::from(gone)
    }
}

/// The reports to a model. Requests are a queue: its ends commute.
impl<A, T> Queue<A, T> {
    fn touch_of_submitting(&self, nobody_waits: bool) -> Touch {
        let is_plain = nobody_waits && self.served && self.waiting.len() + 1 < self.sweep_at;
        if is_plain { Touch::Put(usize::MAX) } else { Touch::Write }
    }

    fn touch_of_next(&self, nobody_waits: bool) -> Touch {
        match self.waiting.len() {
            _ if !nobody_waits => Touch::Write,
            0 if self.callers == 0 => Touch::TakeEnd,
            0 => Touch::Write,
            waiting => Touch::Take(waiting),
        }
    }
}

impl<A, T> Line<A, T> {
    /// Creates the two ends of a line. For `room` see the field.
    pub(crate) fn ends(label: Label, room: usize) -> (Callers<A, T>, Server<A, T>) {
        let queue = Queue {
            waiting: VecDeque::new(),
            sweep_at: FEW,
            callers: 1,
            served: true,
            watchers: Watchers::new(),
        };
        let line = Arc::new(Line { source: Source::labelled(label, queue), room });
        (Callers { line: line.clone() }, Server { line })
    }

    /// Puts a request into the queue. Returns it if the server's end was dropped.
    fn submit(self: &Arc<Self>, pending: Pending<A, T>) -> Option<Pending<A, T>> {
        let submit = |queue: &mut Queue<A, T>, waiters: &mut Waiters<'_, _>| {
            if !queue.served {
                return (Some(pending), Vec::new());
            }
            let delivery = Delivery { pending: Some(pending), line: self.clone() };
            if let Err(delivery) = waiters.grant(Some(delivery)) {
                queue.waiting.extend(delivery.and_then(|mut delivery| delivery.pending.take()));
            }
            (None, queue.sweep())
        };
        let (refused, gone) = self.source.update_as(Queue::touch_of_submitting, submit);
        drops::each(gone);
        refused
    }

    /// Puts a request back at the head of the queue. Returns it if the server's end was dropped.
    fn put_back(self: &Arc<Self>, pending: Pending<A, T>) -> Option<Pending<A, T>> {
        self.source.update(|queue, waiters| {
            if !queue.served {
                return Some(pending);
            }
            let delivery = Delivery { pending: Some(pending), line: self.clone() };
            if let Err(Some(mut delivery)) = waiters.grant(Some(delivery)) {
                queue.waiting.push_front(delivery.pending.take().expect("it has just been put in"));
            }
            None
        })
    }
}

/// Only the closing of a line can be observed.
impl<A, T> Observed for Line<A, T> {
    fn observe(&self, sign: Sign, _: &Attempt<'_>, look: &mut dyn FnMut(&mut WaitQueue<()>, bool)) {
        self.source.update(|queue, _| look(queue.watchers.of(sign), !queue.served));
    }

    fn describe(&self, operation: &'static str, waits: &mut Description) {
        self.source.describe(operation, waits);
    }
}

/// The callers' end. When the last clone is dropped, the server gets `None` after the remaining
/// requests.
pub(crate) struct Callers<A, T> {
    line: Arc<Line<A, T>>,
}

impl<A: Send, T: Send> Callers<A, T> {
    /// Returns the event of a request being answered, which gives the value of the answer's
    /// channel. `arg` is called once for each performance.
    pub(crate) fn call_evt<'a, F: Fn() -> A + 'a>(
        &'a self,
        arg: F,
    ) -> WithNack<impl Fn(Nack) -> Answer<'a, A, T> + use<'a, A, T, F>, Answer<'a, A, T>> {
        with_nack(move |client| {
            let (reply, answers) = bounded(self.line.room);
            // If the server's end was dropped, the request is dropped here, and the answer's
            // channel gives an error.
            drop(self.line.submit(Pending { arg: arg(), reply, client }));
            Answer { event: answers.into_recv_evt(), line: &self.line }
        })
    }

    /// Returns `true` if the server's end was dropped.
    pub(crate) fn is_closed(&self) -> bool {
        self.line.source.with(|queue| !queue.served)
    }

    /// Returns the event of the server's end being dropped.
    pub(crate) fn closed_evt(&self) -> ClosedEvt<'_> {
        ClosedEvt::new(&*self.line)
    }
}

impl<A, T> Clone for Callers<A, T> {
    fn clone(&self) -> Self {
        self.line.source.update_count(|queue| queue.callers, |queue, _| queue.callers += 1);
        Callers { line: self.line.clone() }
    }
}

impl<A, T> Drop for Callers<A, T> {
    fn drop(&mut self) {
        self.line.source.update_count(
            |queue| queue.callers - 1,
            |queue, waiters| {
                queue.callers -= 1;
                while queue.callers == 0 && waiters.grant(None).is_ok() {}
            },
        );
    }
}

/// The server's end. When it is dropped, the waiting requests are dropped, and their callers get an
/// error.
pub(crate) struct Server<A, T> {
    line: Arc<Line<A, T>>,
}

impl<A, T> Server<A, T> {
    pub(crate) fn next_evt(&self) -> NextEvt<'_, A, T> {
        NextEvt { line: &self.line }
    }
}

impl<A, T> Drop for Server<A, T> {
    fn drop(&mut self) {
        let waiting = self.line.source.update(|queue, waiters| {
            queue.served = false;
            waiters.commit_all(queue.watchers.of(Sign::Closed));
            std::mem::take(&mut queue.waiting)
        });
        drops::each(waiting);
    }
}

/// The event of the next request whose caller is still there, or of `None` once all callers were
/// dropped.
pub(crate) struct NextEvt<'a, A, T> {
    line: &'a Arc<Line<A, T>>,
}

type Delivered<'e, A, T> = Waiting<'e, Queue<A, T>, Option<Delivery<A, T>>>;

/// The branch of a [`NextEvt`].
pub(crate) struct Next<'e, A, T> {
    waiting: Delivered<'e, A, T>,
    taken: Option<Pending<A, T>>,
}

impl<'e, A, T> Next<'e, A, T> {
    fn waiting(self: Pin<&mut Self>) -> Pin<&mut Delivered<'e, A, T>> {
        // SAFETY: `waiting` is structurally pinned, `taken` is not.
        unsafe { self.map_unchecked_mut(|this| &mut this.waiting) }
    }
    fn publish(self: Pin<&mut Self>, attempt: &Attempt<'_>, line: &Arc<Line<A, T>>) -> Step {
        self.waiting().publish_as(attempt, Queue::touch_of_next, |queue| queue.next(line))
    }
    fn taken(self: Pin<&mut Self>) -> &mut Option<Pending<A, T>> {
        // SAFETY: `taken` is not structurally pinned, and nothing else is accessed.
        unsafe { &mut self.get_unchecked_mut().taken }
    }
}

impl<A: Send, T: Send> Event for NextEvt<'_, A, T> {
    type Output = Option<Pending<A, T>>;
    const STAGED: bool = true;

    single! { |this, branch: Next<'e, A, T>, attempt|
        branch: Next { waiting: this.line.source.waiting(), taken: None },
        try_commit: branch.waiting().try_commit(attempt, |queue| queue.next(this.line)),
        publish: branch.publish(attempt, this.line),
        withdraw: branch.waiting().withdraw(attempt)
    }

    /// Rejects a request whose caller has gone. Checking this in `next` would take another lock in
    /// a claimed attempt.
    fn advance<'e>(&'e self, mut branch: Pin<&mut Self::Branch<'e>>) -> bool {
        let Some(mut delivery) = branch.as_mut().waiting().take() else { return true };
        let pending = delivery.pending.take().expect("a delivery arrives once");
        if pending.client.has_lost() {
            return false;
        }
        *branch.taken() = Some(pending);
        true
    }
    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> Self::Output {
        branch.taken().take()
    }
    fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut Description) {
        branch.waiting.describe("serve", waits);
    }
    fn awaits<'e>(&'e self, _: &Self::Branch<'e>) -> Option<Awaits> {
        let is_there = self.line.source.peek(|queue, _| !queue.waiting.is_empty() || queue.callers == 0);
        Some(Awaits { what: Awaited::Message, is_there })
    }
}

awaitable!(['a, A: Send, T: Send] NextEvt<'a, A, T>, single);

/// The event of the answer being there.
pub(crate) struct Answer<'a, A, T> {
    event: OwnedRecvEvt<T>,
    line: &'a Line<A, T>,
}

impl<A, T: Send> Event for Answer<'_, A, T> {
    type Output = Result<T, RecvError>;
    forwarded!(event: OwnedRecvEvt<T>);

    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> Self::Output {
        self.event.complete(branch)
    }
    fn describe<'e>(&'e self, _: &Self::Branch<'e>, waits: &mut Description) {
        self.line.source.describe("call", waits);
    }
    forwarded!(awaits event);
}

impl<A, T> fmt::Debug for Line<A, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (waiting, callers, served) =
            self.source.with(|queue| (queue.waiting.len(), queue.callers, queue.served));
        f.debug_struct("Line")
            .field("waiting", &waiting)
            .field("callers", &callers)
            .field("served", &served)
            .finish()
    }
}
