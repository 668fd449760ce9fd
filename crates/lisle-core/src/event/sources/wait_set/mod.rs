//! Wait sets: a standing choice between many events.

mod performing;

pub use performing::{Taking, WaitSetEvt};

use crate::drops::Drops;
use crate::event::ends::Unparked;
use crate::event::interface::inline_event::InlineEvent;
use crate::event::protocol::context::PerformerContext;
use crate::event::protocol::record::Attempt;
use crate::event::protocol::standing::{Seat, Standing};
use crate::event::protocol::timer::Timer;
use crate::event::waiting::nowhere::no_waker;
use crate::event::waker::PerformerWaker;
use crate::event::{BoxEvent, Event, Label};
use crate::shim::atomic::AtomicBool;
use std::cell::{Cell, UnsafeCell};
use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::ptr::NonNull;

/// A choice between many events that is performed again and again.
///
/// [`choose`](crate::event::choose) enters every queue and leaves it again each time it has to wait, which
/// is linear in the number of alternatives. A wait set stays in the queues. Each performance
/// commits exactly one of its sources and returns its value, with the key of the source; the others
/// have taken nothing. The source that was taken begins anew. Use it for a server with thousands of
/// clients, or for a loop around a `choose` that never changes.
///
/// A source is any event, with its guards, wraps and negative acknowledgements. One performance of
/// a source lasts until it is taken or removed, over any number of performances of the set.
/// Therefore the guard of a source runs when the set is first performed with it, and again after it
/// was taken; an `after` counts from then on.
///
/// A set is performed by one performer at a time; each time it may be another one.
/// [`evt`](WaitSet::evt) makes it an event that can be chosen with others, or be a source of
/// another set.
///
/// # Fairness
///
/// Ready sources are served in turn. A source that is always ready is taken once a round.
///
/// # Complexity
///
/// A performance takes time proportional to the number of sources that have become ready since the
/// last one, not to their total: an answer costs the same from ten and from a hundred thousand. A
/// source costs two allocations; performing does not allocate once warm.
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::{Event, event::WaitSet};
///
/// let channels: Vec<_> = (0..1_000).map(|_| lisle::channel::bounded::<u32>(1)).collect();
/// let mut set = WaitSet::new();
/// for (number, (_, rx)) in channels.iter().enumerate() {
///     set.insert(rx.recv_evt().wrap(move |message| (number, message)));
/// }
/// channels[123].0.send(7).unwrap();
/// let (key, (number, message)) = set.sync();
/// assert_eq!((number, message), (123, Ok(7)));
/// assert!(set.poll().is_none());
/// set.remove(key);
/// assert_eq!(set.len(), 999);
/// ```
///
/// # Notes
///
/// The thread that keeps the deadlines of plain threads also keeps the deadlines of the sources,
/// since the set may be performed elsewhere next time. A set that is forgotten
/// ([`std::mem::forget`]) stays in the queues.
pub struct WaitSet<'a, T> {
    standing: NonNull<Standing>,
    slots: Vec<Slot<'a, T>>,
    free: Vec<u32>,
    /// Sources whose next performance has not begun. Some may have been removed.
    fresh: UnsafeCell<VecDeque<Key>>,
    /// One more source whose next performance has not begun, which is not in `fresh` and has not
    /// been removed: the source that was taken last. Finding it by its key would need `slots`,
    /// which are not in the cache if there are many.
    taken: Cell<Option<NonNull<Member<'a, T>>>>,
    /// Whether a performance of the set is in progress.
    busy: AtomicBool,
    /// The largest depth that a source, boxed as it is, has had.
    depth: usize,
    label: Label,
}

struct Slot<'a, T> {
    generation: u32,
    member: Option<NonNull<Member<'a, T>>>,
}

/// Identifies a source of a [`WaitSet`]. The key of a removed source does not identify any source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    index: u32,
    generation: u32,
}

/// A source: its seat, which partners know, and its event and branch, which they do not.
#[repr(C)]
struct Member<'a, T> {
    /// The first field; then the seat's address is the member's.
    seat: Seat,
    // Next to the end of the seat, which is used together with it.
    key: Key,
    /// It has been committed, and its value has not been taken yet.
    won: Cell<bool>,
    made: UnsafeCell<InlineEvent<'a, BoxEvent<'a, T>>>,
}

// SAFETY: the set owns its members, whose events and branches are `Send`. The rest of them, and
// everything that partners share, is atomic or under the set's lock.
unsafe impl<T> Send for WaitSet<'_, T> {}
// SAFETY: a shared reference gives access to keys and counts only; performing takes an exclusive
// one.
unsafe impl<T> Sync for WaitSet<'_, T> {}

impl<'a, T> WaitSet<'a, T> {
    /// Creates a set without sources, which is never ready.
    #[track_caller]
    pub fn new() -> Self {
        WaitSet {
            standing: NonNull::from(Box::leak(Box::new(Standing::new()))),
            slots: Vec::new(),
            free: Vec::new(),
            fresh: UnsafeCell::default(),
            taken: Cell::new(None),
            busy: AtomicBool::new(false),
            depth: 0,
            label: Label::new("wait set"),
        }
    }

    /// Adds a source. Its performance begins at the next performance of the set.
    ///
    /// # Panics
    ///
    /// Panics if there are 2^32 sources, or if the event is nested too deep, see [`Event::boxed`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, channel::bounded, event::WaitSet};
    ///
    /// let ((numbers, number), (words, word)) = (bounded(1), bounded(1));
    /// let mut set = WaitSet::new();
    /// let one = set.insert(number.recv_evt().wrap(|n| n.map_or(0, |n: usize| n)));
    /// let other = set.insert(word.recv_evt().wrap(|word| word.map_or(0, str::len)));
    /// words.send("four").unwrap();
    /// assert_eq!(set.sync(), (other, 4));
    /// numbers.send(7).unwrap();
    /// assert_eq!(set.sync(), (one, 7));
    /// ```
    #[track_caller]
    pub fn insert<E: Event<Output = T> + Send + Sync + 'a>(&mut self, event: E) -> Key {
        let event = event.boxed();
        self.depth = self.depth.max(event.depth());
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: 0, member: None });
            u32::try_from(self.slots.len() - 1).expect("a wait set has room for 2^32 sources")
        });
        let slot = &mut self.slots[index as usize];
        let key = Key { index, generation: slot.generation };
        let member = Box::new(Member {
            seat: Seat::new(self.standing, no_waker()),
            made: UnsafeCell::new(InlineEvent::of(event)),
            key,
            won: Cell::new(false),
        });
        let member = NonNull::from(Box::leak(member));
        // SAFETY: just made, and not shared yet.
        unsafe { member.as_ref() }.seat.sit(member.cast());
        slot.member = Some(member);
        self.fresh.get_mut().push_back(key);
        key
    }

    /// Removes a source and sends its negative acknowledgements. Returns `false` if there is no
    /// source with this key.
    ///
    /// The source has then taken nothing since the last value it returned, with one exception: if a
    /// future of the set was dropped just after a partner had committed this source, the value that
    /// it was given is dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{channel::bounded, event::WaitSet};
    ///
    /// let (tx, rx) = bounded(1);
    /// let mut set = WaitSet::new();
    /// let key = set.insert(rx.recv_evt());
    /// assert!(set.poll().is_none()); // the source has begun to wait
    /// assert!(set.remove(key));
    /// assert!(!set.remove(key)); // there is no such source any more
    /// tx.send(7).unwrap();
    /// assert_eq!(rx.recv(), Ok(7)); // the source has taken nothing
    /// ```
    pub fn remove(&mut self, key: Key) -> bool {
        let Some(member) = self.member(key) else { return false };
        if self.taken.get() == Some(member) {
            self.taken.set(None);
        }
        self.free.push(key.index);
        let slot = &mut self.slots[key.index as usize];
        slot.member = None;
        slot.generation = slot.generation.wrapping_add(1);
        // SAFETY: it is in no slot any more.
        unsafe { self.discard(member) };
        true
    }

    /// Removes all sources.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{channel::bounded, event::WaitSet};
    ///
    /// let (tx, rx) = bounded(1);
    /// let mut set = WaitSet::new();
    /// let key = set.insert(rx.recv_evt());
    /// tx.send(7).unwrap();
    /// set.clear();
    /// assert!(set.is_empty() && !set.contains(key));
    /// assert_eq!(rx.recv(), Ok(7)); // the source has taken nothing
    /// ```
    pub fn clear(&mut self) {
        let mut drops = Drops::new();
        for index in 0..self.slots.len() {
            let key = Key { index: index as u32, generation: self.slots[index].generation };
            // A panic is kept in `drops`.
            let _ = drops.run(|| {
                self.remove(key);
            });
        }
        drops.resume_first();
    }

    /// Returns `true` if there is a source with this key.
    pub fn contains(&self, key: Key) -> bool {
        self.member(key).is_some()
    }

    /// Returns the number of sources.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Returns `true` if the set has no sources.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the event of the next source that can happen. Its value is the source's key and
    /// value.
    ///
    /// # Panics
    ///
    /// Performing it panics if the set is already being performed, as in a choice with itself.
    ///
    /// # Cancel safety
    ///
    /// If it loses a choice, is polled without success, or its future is dropped, no source has
    /// taken anything. If that happens just after a source was committed, the next performance
    /// returns that source's value.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, channel::bounded, choose, event::WaitSet, time::after};
    /// use std::time::Duration;
    ///
    /// let (tx, rx) = bounded(1);
    /// let mut set = WaitSet::new();
    /// set.insert(rx.recv_evt());
    /// let mut next = |limit| {
    ///     let message = set.evt().wrap(|(_key, message)| message.ok());
    ///     choose((message, after(limit).wrap(|()| None))).sync()
    /// };
    /// assert_eq!(next(Duration::from_millis(1)), None); // no source has taken anything
    /// tx.send(7).unwrap();
    /// assert_eq!(next(Duration::MAX), Some(7));
    /// ```
    pub fn evt(&mut self) -> WaitSetEvt<'_, 'a, T> {
        WaitSetEvt::new(self)
    }

    /// Waits for the next source that can happen, like [`Event::sync`], and returns its key and
    /// value.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{channel::bounded, event::WaitSet};
    ///
    /// let (tx, rx) = bounded(1);
    /// let mut set = WaitSet::new();
    /// let key = set.insert(rx.recv_evt());
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| tx.send(7).unwrap());
    ///     assert_eq!(set.sync(), (key, Ok(7))); // waits for the other thread
    /// });
    /// ```
    pub fn sync(&mut self) -> (Key, T) {
        self.evt().sync()
    }

    /// Takes a source that can happen at once, if there is one, and returns its key and value.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{channel::bounded, event::WaitSet};
    ///
    /// let (tx, rx) = bounded(1);
    /// let mut set = WaitSet::new();
    /// let key = set.insert(rx.recv_evt());
    /// assert_eq!(set.poll(), None);
    /// tx.send(7).unwrap();
    /// assert_eq!(set.poll(), Some((key, Ok(7))));
    /// assert_eq!(set.poll(), None); // the source waits for the next message
    /// ```
    pub fn poll(&mut self) -> Option<(Key, T)> {
        self.evt().poll()
    }

    fn standing(&self) -> &Standing {
        // SAFETY: freed only when the set is dropped.
        let standing = unsafe { self.standing.as_ref() };
        crate::event::declare(standing);
        standing
    }

    fn member(&self, key: Key) -> Option<NonNull<Member<'a, T>>> {
        let slot = self.slots.get(key.index as usize)?;
        slot.member.filter(|_| slot.generation == key.generation)
    }

    /// Takes out a source whose next performance has not begun. Called only by the set's one
    /// performance.
    fn next_fresh(&self) -> Option<&Member<'a, T>> {
        loop {
            // SAFETY: the performance has exclusive access to the set, and the borrow ends here.
            let member = match unsafe { &mut *self.fresh.get() }.pop_front() {
                Some(key) => self.member(key),
                None => Some(self.taken.take()?),
            };
            if let Some(member) = member {
                // SAFETY: members in the slots are alive, and so is the one taken last.
                return Some(unsafe { member.as_ref() });
            }
        }
    }

    /// Takes a source out of all queues and drops it.
    ///
    /// # Safety
    ///
    /// The member belongs to this set and is not used again; the set is not being performed.
    unsafe fn discard(&self, member: NonNull<Member<'a, T>>) {
        // SAFETY: alive, by the caller's promise.
        let this = unsafe { member.as_ref() };
        if let Some(made) = this.performance() {
            made.event.withdraw(made.branch, &Attempt::seated(&this.seat.record, &Elsewhere, None));
        }
        self.standing().strike(&this.seat);
        // SAFETY: it came from a box, and no queue or list refers to it any more.
        drop(unsafe { Box::from_raw(member.as_ptr()) });
    }
}

impl<T> Default for WaitSet<'_, T> {
    #[track_caller]
    fn default() -> Self {
        WaitSet::new()
    }
}

impl<T> Drop for WaitSet<'_, T> {
    fn drop(&mut self) {
        let mut drops = Drops::new();
        // A panic is kept in `drops`.
        let _ = drops.run(|| self.clear());
        // SAFETY: it came from a box, and no seat refers to it any more.
        drop(unsafe { Box::from_raw(self.standing.as_ptr()) });
        drops.resume_first();
    }
}

impl<T> fmt::Debug for WaitSet<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitSet").field("len", &self.len()).finish_non_exhaustive()
    }
}

type Performance<'a, 'b, T> = crate::event::interface::inline_event::Parts<'a, 'b, BoxEvent<'a, T>>;

impl<'a, T> Member<'a, T> {
    /// Returns the member around a seat of its set.
    ///
    /// # Safety
    ///
    /// The seat is part of such a member, which is alive.
    unsafe fn around<'m>(seat: NonNull<Seat>) -> &'m Member<'a, T> {
        // SAFETY: the seat is the first field; the rest is the caller's promise.
        unsafe { seat.cast::<Member<'a, T>>().as_ref() }
    }

    /// Returns event and branch. The caller has exclusive access to the set and uses them for one
    /// step.
    #[expect(clippy::mut_from_ref, reason = "a cell, whose one user at a time the set sees to")]
    fn made(&self) -> Pin<&mut InlineEvent<'a, BoxEvent<'a, T>>> {
        // SAFETY: members are used by the set's one performance, or by its owner in between, one
        // step at a time.
        let made = unsafe { &mut *self.made.get() };
        // SAFETY: a member stays where it is until it is dropped.
        unsafe { Pin::new_unchecked(made) }
    }

    /// Returns event and branch, if a performance of the source is in progress.
    fn performance(&self) -> Option<Performance<'a, '_, T>> {
        let made = self.made();
        made.is_made().then(|| made.parts())
    }

    fn parts(&self) -> Performance<'a, '_, T> {
        self.made().parts()
    }
}

/// The context of a source. A source outlasts the performances of the set and therefore belongs to
/// none of their contexts.
struct Elsewhere;

// SAFETY: it never parks; timers go to the clock thread, which keeps the promises of `arm`.
unsafe impl PerformerContext for Elsewhere {
    fn waker(&self) -> PerformerWaker {
        no_waker()
    }
    fn park(&self, _: bool) -> Unparked {
        unreachable!("a source of a wait set does not park")
    }
    fn unwind(&self) -> ! {
        unreachable!("a source of a wait set is not interrupted")
    }
    unsafe fn arm(&self, timer: NonNull<Timer>, deadline: u64) {
        // SAFETY: passed on to the caller.
        unsafe { crate::time::outside::arm(timer, deadline) }
    }
    unsafe fn disarm(&self, timer: NonNull<Timer>) {
        // SAFETY: passed on to the caller.
        unsafe { crate::time::outside::disarm(timer) }
    }
}
