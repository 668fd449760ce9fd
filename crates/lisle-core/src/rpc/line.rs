//! The line of requests between callers and who serves them.
//!
//! A caller's event puts its request into the line while it is being prepared, and then waits for the answer on a
//! channel of its own. Nobody takes a caller's word for it that it is still there: its negative acknowledgement tells. A
//! request whose caller has gone is passed over, and swept out when the line has become twice as long as it was after the
//! last sweep, so that callers that come and go before anybody serves them do not pile up.
//!
//! Requests hold what is the users', which must not be dropped under a lock; so they leave the line first.

use crate::channel::observe::{Observed, Sign, Watchers};
use crate::channel::{ClosedEvt, OwnedRecvEvt, RecvError, Sender, bounded};
use crate::drops;
use crate::event::queue::WaitQueue;
use crate::event::{
    Attempt, Description, Event, Label, Nack, Source, Step, Waiting, WithNack, awaitable, forwarded,
    with_nack,
};
use crate::shim::sync::Arc;
use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;

/// The fewest requests that are worth a sweep.
const FEW: usize = 16;

/// A request, the way for its answer, and whether anybody waits for that.
#[derive(Debug)]
pub(crate) struct Pending<A, T> {
    pub(crate) arg: A,
    pub(crate) reply: Sender<T>,
    pub(crate) client: Nack,
}

pub(crate) struct Line<A, T> {
    /// Grants a request, or nothing if there will be none any more.
    source: Source<Queue<A, T>, Option<Delivery<A, T>>>,
    /// How many answers a caller's channel buffers: 1 if they are left there, 0 if they are handed over.
    room: usize,
}

struct Queue<A, T> {
    waiting: VecDeque<Pending<A, T>>,
    /// How many may wait before those are swept out that have gone.
    sweep_at: usize,
    callers: usize,
    served: bool,
    watchers: Watchers,
}

/// A request on its way to a server. If it does not arrive, since the server's future was dropped, it goes back to
/// the head of the line.
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

    /// Takes out the requests that have gone, if it is time to.
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

impl<A, T> Line<A, T> {
    /// Makes a line. `room`: see the field.
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

    /// Puts a request into the line. Gives it back if nobody will serve it.
    fn submit(self: &Arc<Self>, pending: Pending<A, T>) -> Option<Pending<A, T>> {
        let (refused, gone) = self.source.update(|queue, waiters| {
            if !queue.served {
                return (Some(pending), Vec::new());
            }
            let delivery = Delivery { pending: Some(pending), line: self.clone() };
            if let Err(delivery) = waiters.grant(Some(delivery)) {
                queue.waiting.extend(delivery.and_then(|mut delivery| delivery.pending.take()));
            }
            (None, queue.sweep())
        });
        drops::each(gone);
        refused
    }

    /// Puts a request back to where it was taken from. Gives it back if nobody will serve it.
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

/// Of a line only its closing is seen.
impl<A, T> Observed for Line<A, T> {
    fn observe(&self, sign: Sign, _: &Attempt<'_>, look: &mut dyn FnMut(&mut WaitQueue<()>, bool)) {
        self.source.update(|queue, _| look(queue.watchers.of(sign), !queue.served));
    }

    fn describe(&self, operation: &'static str, waits: &mut Description) {
        self.source.describe(operation, waits);
    }
}

/// The callers' end. When the last clone goes, the server is told, once it has taken what is in the line.
pub(crate) struct Callers<A, T> {
    line: Arc<Line<A, T>>,
}

impl<A: Send, T: Send> Callers<A, T> {
    /// The event of a request being answered; it gives what the answer's channel gives. `arg` is called once for
    /// each performance.
    pub(crate) fn call_evt<'a, F: Fn() -> A + 'a>(
        &'a self,
        arg: F,
    ) -> WithNack<impl Fn(Nack) -> Answer<'a, A, T> + use<'a, A, T, F>, Answer<'a, A, T>> {
        with_nack(move |client| {
            let (reply, answers) = bounded(self.line.room);
            // If nobody will serve it, the request is dropped here, and the answer is that there is none.
            drop(self.line.submit(Pending { arg: arg(), reply, client }));
            Answer { event: answers.into_recv_evt(), line: &self.line }
        })
    }

    /// Has the server's end gone?
    pub(crate) fn is_closed(&self) -> bool {
        self.line.source.with(|queue| !queue.served)
    }

    /// The event of that.
    pub(crate) fn closed_evt(&self) -> ClosedEvt<'_> {
        ClosedEvt::new(&*self.line)
    }
}

impl<A, T> Clone for Callers<A, T> {
    fn clone(&self) -> Self {
        self.line.source.update(|queue, _| queue.callers += 1);
        Callers { line: self.line.clone() }
    }
}

impl<A, T> Drop for Callers<A, T> {
    fn drop(&mut self) {
        self.line.source.update(|queue, waiters| {
            queue.callers -= 1;
            while queue.callers == 0 && waiters.grant(None).is_ok() {}
        });
    }
}

/// The server's end. When it goes, requests that wait are dropped, and with them their callers' hopes.
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

/// The event of the next request whose caller is still there; nothing once all callers have gone.
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
    fn taken(self: Pin<&mut Self>) -> &mut Option<Pending<A, T>> {
        // SAFETY: `taken` is not structurally pinned; nothing else is touched.
        unsafe { &mut self.get_unchecked_mut().taken }
    }
}

impl<A: Send, T: Send> Event for NextEvt<'_, A, T> {
    type Output = Option<Pending<A, T>>;
    type Branch<'e>
        = Next<'e, A, T>
    where
        Self: 'e;

    const STAGED: bool = true;

    fn is_single(&self) -> bool {
        true
    }
    fn branch(&self) -> Self::Branch<'_> {
        Next { waiting: self.line.source.waiting(), taken: None }
    }
    fn try_commit<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        branch.waiting().try_commit(attempt, |queue| queue.next(self.line))
    }
    fn publish<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        branch.waiting().publish(attempt, |queue| queue.next(self.line))
    }
    fn withdraw<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
        branch.waiting().withdraw(attempt)
    }
    /// A request whose caller has gone was none. (To ask for that in `next` would be to take another lock in a
    /// claimed attempt.)
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
}

awaitable!(['a, A: Send, T: Send] NextEvt<'a, A, T>);

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
