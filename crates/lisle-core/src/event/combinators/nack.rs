//! Negative acknowledgements: an event that becomes ready when a performance of another event is
//! certain to end without taking it.

use crate::event::depth;
use crate::event::interface::inline_event::InlineEvent;
use crate::event::waiting::turn;
use crate::event::{Attempt, Description, Event, Label, Source, Step, awaitable, debug_by_name, waits_at};
use crate::shim::sync::Arc;
use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::pin::Pin;

/// An event with a negative acknowledgement, see [`with_nack`].
#[must_use = "events do nothing unless performed"]
pub struct WithNack<F, E> {
    make: F,
    site: &'static Location<'static>,
    _event: PhantomData<fn() -> E>,
}

/// Returns the event that `make` makes, where `make` is given an event of its own, the *negative
/// acknowledgement*.
///
/// As with [`guard`](crate::event::guard()), `make` runs for each performance. Its [`Nack`] becomes ready,
/// for good, as soon as it is certain that this performance will not take the event: another
/// alternative has won, a poll found nothing, a guard or a function panicked, the performer was
/// cancelled, or its future was dropped. If the event is taken the nack is never ready.
///
/// Therefore a server to which `make` has sent a request can wait for either of two things: that
/// its client takes the answer, or that the client has gone. A server may keep the nack for as long
/// as it likes.
///
/// The idea is from Concurrent ML.
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::event::with_nack;
/// use lisle::{Event, always, channel, choose, never};
///
/// let (gone, client) = lisle::channel::bounded(1);
/// let request = with_nack(|nack| {
///     gone.send(nack).unwrap();
///     never()
/// });
/// assert_eq!(choose((request, always(1))).sync(), 1);
/// client.recv().unwrap().sync(); // the client has chosen something else
/// ```
#[track_caller]
pub fn with_nack<F: Fn(Nack) -> E, E: Event + Send>(make: F) -> WithNack<F, E> {
    WithNack { make, site: Location::caller(), _event: PhantomData }
}

/// The fate of the event of a performance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interest {
    /// It is not decided whether the performance takes the event.
    Open,
    /// The performance has taken the event.
    Taken,
    /// The performance will not take the event; the nack is ready.
    Lost,
}

type State = Source<Interest, ()>;

/// The largest number of unused states that a thread keeps for the next performances.
const MOST_SPARE: usize = 64;

thread_local! {
    /// States that no nack refers to, with the interest `Open`.
    static SPARE: RefCell<Vec<Arc<State>>> = const { RefCell::new(Vec::new()) };
}

/// The event that a performance has lost, see [`with_nack`]. Clones are the same event.
pub struct Nack {
    /// `Some` until dropped.
    state: Option<Arc<State>>,
}

impl Nack {
    /// Creates the nack of an event made at `site`.
    fn new(site: &'static Location<'static>) -> Self {
        let spare = if cfg!(lisle_loom) {
            None
        } else {
            SPARE.try_with(|spare| spare.borrow_mut().pop()).ok().flatten()
        };
        let label = Label::anywhere("nack").made_at(site);
        let state = match spare {
            Some(mut state) => {
                Arc::get_mut(&mut state).expect("it is not shared yet").relabel(label);
                state
            }
            None => Arc::new(Source::labelled(label, Interest::Open)),
        };
        Nack { state: Some(state) }
    }

    fn state(&self) -> &State {
        self.state.as_ref().expect("there until dropped")
    }

    /// Sets the interest, unless it is decided already, and wakes all waiters if the event is lost.
    fn settle(&self, interest: Interest) {
        self.state().update(|state, waiters| {
            if *state == Interest::Open {
                *state = interest;
                while interest == Interest::Lost && waiters.grant(()).is_ok() {}
            }
        });
    }

    /// Returns `true` if the performance has lost.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, always, channel::bounded, event::choose_biased, event::with_nack};
    ///
    /// let (nacks, clients) = bounded(1);
    /// let request = with_nack(|nack| {
    ///     nacks.send(nack).unwrap();
    ///     always(1)
    /// });
    /// assert_eq!(choose_biased((always(0), request)).sync(), 0);
    /// assert!(clients.recv().unwrap().is_lost()); // the choice became the other alternative
    /// ```
    pub fn is_lost(&self) -> bool {
        turn::asked_whether(self.has_lost())
    }

    /// Returns `true` if the performance has lost. Unlike [`is_lost`](Nack::is_lost), this does not
    /// count as an unsuccessful poll, so it never lets other fibers pass.
    pub(crate) fn has_lost(&self) -> bool {
        self.state().with(|interest| *interest == Interest::Lost)
    }

    /// Returns `true` if the performance has taken the event. Then the nack is never ready.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, always, channel::bounded, event::with_nack};
    ///
    /// let (nacks, clients) = bounded(1);
    /// let request = with_nack(|nack| {
    ///     nacks.send(nack).unwrap();
    ///     always(1)
    /// });
    /// assert_eq!(request.sync(), 1);
    /// let client = clients.recv().unwrap();
    /// assert!(client.is_taken());
    /// assert!(!client.is_lost() && client.poll().is_none()); // nor will it ever be
    /// ```
    pub fn is_taken(&self) -> bool {
        turn::asked_whether(self.state().with(|interest| *interest == Interest::Taken))
    }
}

impl Clone for Nack {
    fn clone(&self) -> Self {
        Nack { state: self.state.clone() }
    }
}

impl Drop for Nack {
    /// The last clone keeps the memory for another performance.
    fn drop(&mut self) {
        let Some(mut state) = self.state.take() else { return };
        if cfg!(lisle_loom) {
            return;
        }
        if let Some(source) = Arc::get_mut(&mut state) {
            *source.get_mut() = Interest::Open;
            // If the thread's storage is gone, the state is freed.
            let _ = SPARE.try_with(|spare| {
                let mut spare = spare.borrow_mut();
                if spare.len() < MOST_SPARE {
                    spare.push(state);
                }
            });
        }
    }
}

fn lost(interest: &mut Interest) -> Option<()> {
    (*interest == Interest::Lost).then_some(())
}

impl Event for Nack {
    type Output = ();
    waits_at!(this: Interest, (); this.state(), lost);
    waits_at!(describe "wait for");

    fn complete<'e>(&'e self, _: Pin<&mut Self::Branch<'e>>) {}
}

awaitable!([] Nack, single);

impl fmt::Debug for Nack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Nack").field(&self.state().with(|interest| *interest)).finish()
    }
}

/// The branch of a [`WithNack`]. If it is dropped before its event was taken, the nack is sent.
pub struct Acknowledging<'e, E: Event + 'e> {
    made: InlineEvent<'e, E>,
    /// `Some` from just before `make` is called until it is decided whether the event is taken. A
    /// panic of `make` therefore sends the nack.
    nack: Option<Nack>,
}

impl<'e, E: Event> Acknowledging<'e, E> {
    fn made(self: Pin<&mut Self>) -> Pin<&mut InlineEvent<'e, E>> {
        // SAFETY: `made` is structurally pinned, `nack` is not.
        unsafe { self.map_unchecked_mut(|this| &mut this.made) }
    }

    fn settle(self: Pin<&mut Self>, interest: Interest) {
        // SAFETY: `nack` is not structurally pinned; nothing else is touched.
        if let Some(nack) = unsafe { self.get_unchecked_mut() }.nack.take() {
            nack.settle(interest);
        }
    }
}

impl<'e, E: Event + 'e> Drop for Acknowledging<'e, E> {
    fn drop(&mut self) {
        if let Some(nack) = self.nack.take() {
            nack.settle(Interest::Lost);
        }
    }
}

impl<F: Fn(Nack) -> E, E: Event + Send> Event for WithNack<F, E> {
    type Output = E::Output;
    type Branch<'e>
        = Acknowledging<'e, E>
    where
        Self: 'e;

    const STAGED: bool = true;

    fn branch(&self) -> Self::Branch<'_> {
        Acknowledging { made: InlineEvent::new(), nack: None }
    }
    fn force<'e>(&'e self, mut branch: Pin<&mut Self::Branch<'e>>) {
        let nack = Nack::new(self.site);
        // Stored before `make` runs: if `make` panics, dropping the branch sends the nack. SAFETY:
        // `nack` is not structurally pinned; nothing else is touched.
        unsafe { branch.as_mut().get_unchecked_mut() }.nack = Some(nack.clone());
        branch.made().put(depth::aside(|| (self.make)(nack)));
    }
    fn try_commit<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        let made = branch.made().parts();
        made.event.try_commit(made.branch, attempt)
    }
    fn publish<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        let made = branch.made().parts();
        made.event.publish(made.branch, attempt)
    }
    fn withdraw<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
        let made = branch.made().parts();
        made.event.withdraw(made.branch, attempt)
    }
    fn advance<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> bool {
        let made = branch.made().parts();
        depth::deeper(made.event.depth(), || made.event.advance(made.branch))
    }
    fn lose<'e>(&'e self, mut branch: Pin<&mut Self::Branch<'e>>) {
        branch.as_mut().settle(Interest::Lost);
        let made = branch.made().parts();
        made.event.lose(made.branch);
    }
    fn complete<'e>(&'e self, mut branch: Pin<&mut Self::Branch<'e>>) -> E::Output {
        branch.as_mut().settle(Interest::Taken);
        let made = branch.made().parts();
        made.event.complete(made.branch)
    }
    fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut Description) {
        if let Some((event, branch)) = branch.made.look() {
            event.describe(branch, waits);
        }
    }
    fn awaits<'e>(&'e self, branch: &Self::Branch<'e>) -> Option<crate::event::telling::awaited::Awaits> {
        branch.made.look().and_then(|(event, branch)| event.awaits(branch))
    }
}

debug_by_name!([F, E] WithNack<F, E>);

impl<'e, E: Event + 'e> fmt::Debug for Acknowledging<'e, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acknowledging").field("made", &self.made).field("nack", &self.nack).finish()
    }
}

awaitable!([F: Fn(Nack) -> E, E: Event + Send] WithNack<F, E>);
