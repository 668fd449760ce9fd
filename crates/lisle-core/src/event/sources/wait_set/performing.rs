//! Performing a wait set: looking at the sources that may be ready, opening the set, taking a
//! source.

use super::super::wait_set::{Elsewhere, Key, Member, WaitSet};
use crate::event::protocol::record::{Attempt, Record, misuse};
use crate::event::protocol::standing::{Seat, Standing};
use crate::event::{Description, Event, Step, awaitable, depth};
use crate::shim::Backoff;
use crate::shim::atomic::Ordering;
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::ptr::NonNull;

/// The event of the next source of a set that can happen, see [`WaitSet::evt`].
#[must_use = "events do nothing unless performed"]
pub struct WaitSetEvt<'s, 'a, T> {
    set: &'s WaitSet<'a, T>,
    /// Excludes other performances and changes of the set.
    _exclusive: PhantomData<&'s mut WaitSet<'a, T>>,
}

impl<'s, 'a, T> WaitSetEvt<'s, 'a, T> {
    pub(super) fn new(set: &'s mut WaitSet<'a, T>) -> Self {
        WaitSetEvt { set, _exclusive: PhantomData }
    }
}

// SAFETY: a performer of the event takes the set for itself first, see `force`.
unsafe impl<T> Sync for WaitSetEvt<'_, '_, T> {}
// SAFETY: as for the set.
unsafe impl<T> Send for WaitSetEvt<'_, '_, T> {}

/// The branch of a [`WaitSetEvt`].
pub struct Taking<'e, 'a, T> {
    set: &'e WaitSet<'a, T>,
    /// Whether this performance holds the set.
    holds: bool,
    /// The record of the attempt that has opened the set; null if it is closed.
    published: *const Record,
    /// The source whose performance has begun last. The next look puts it at the end of the noticed
    /// ones.
    begun: Option<&'e Member<'a, T>>,
    won: Option<&'e Member<'a, T>>,
}

// SAFETY: as for the set: in the branch the one performance keeps its findings.
unsafe impl<T> Send for Taking<'_, '_, T> {}

impl<'e, 'a, T> Taking<'e, 'a, T> {
    fn this(self: Pin<&mut Self>) -> &mut Self {
        // SAFETY: nothing in it is structurally pinned.
        unsafe { self.get_unchecked_mut() }
    }

    /// Looks at the sources that may be ready, until one commits. If none does and `open` is set,
    /// opens the set. While there have been fewer looks than sources, the set is opened together
    /// with the search for the next source, which saves taking the lock once more. After that, some
    /// sources are looked at again.
    fn look(&mut self, attempt: &Attempt<'_>, open: bool) -> Step {
        assert!(self.holds, "a wait set is performed by a combinator that does not forward `force`");
        assert!(self.won.is_none(), "a wait set was tried again after a source had committed");
        let (standing, record) = (self.set.standing(), attempt.record());
        let mut backoff = Backoff::new();
        let mut looks = 0;
        loop {
            let begun = self.begun.take().map(|member| &member.seat);
            let first_round = looks < self.set.len();
            let next = if open && first_round {
                standing.next_or_open(begun, record, || attempt.published())
            } else {
                standing.next(begun).inspect_err(|&n| attempt.evidence().unready(standing, n)).ok()
            };
            let Some(seat) = next else {
                if open && !first_round && !standing.open(record, || attempt.published()) {
                    // Two sets that notice each other's looks would continue doing so in step.
                    backoff.wait();
                    continue;
                }
                if open {
                    self.published = record;
                }
                return Step::Waiting;
            };
            looks += 1;
            // SAFETY: seats in the set's list are parts of its members.
            let member = unsafe { Member::around(seat) };
            // Looked at again unless it commits or waits; also if a user's function panics.
            let again = Notice { standing, seat: &member.seat };
            if self.try_member(member, attempt) == Step::Committed {
                std::mem::forget(again);
                member.won.set(true);
                self.won = Some(member);
                return Step::Committed;
            }
            if attempt.is_decided() {
                return Step::Waiting;
            }
            std::mem::forget(again);
        }
    }

    fn try_member(&self, member: &Member<'a, T>, attempt: &Attempt<'_>) -> Step {
        if member.won.get() {
            return attempt.at_once();
        }
        let record = &member.seat.record;
        let seated = Attempt::seated(record, &Elsewhere, Some(attempt));
        let made = member.parts();
        made.event.withdraw(made.branch, &seated);
        record.reset();
        let made = member.parts();
        seated.may_publish(true);
        let step = made.event.publish(made.branch, &seated);
        seated.may_publish(false);
        if step == Step::Committed {
            let made = member.parts();
            made.event.withdraw(made.branch, &seated);
        }
        step
    }
}

/// A guard that puts a seat on the list of noticed seats, when dropped.
struct Notice<'a> {
    standing: &'a Standing,
    seat: &'a Seat,
}

impl Drop for Notice<'_> {
    fn drop(&mut self) {
        self.standing.notice(self.seat);
    }
}

/// A guard that makes a source begin anew, when dropped.
struct Renew<'m, 'a, T> {
    set: &'m WaitSet<'a, T>,
    member: &'m Member<'a, T>,
}

impl<T> Drop for Renew<'_, '_, T> {
    fn drop(&mut self) {
        self.member.made().end();
        self.member.seat.record.reset();
        self.member.seat.record.began.set(0);
        if let Some(before) = self.set.taken.replace(Some(NonNull::from(self.member))) {
            // SAFETY: alive, since it has not been removed.
            let key = unsafe { before.as_ref() }.key;
            // SAFETY: used by the set's one performance, or by its owner in between.
            unsafe { &mut *self.set.fresh.get() }.push_back(key);
        }
    }
}

impl<T> Drop for Taking<'_, '_, T> {
    fn drop(&mut self) {
        if !self.published.is_null() {
            misuse("it drops a branch that it has published and not withdrawn");
        }
        // A value that was not taken belongs to the next performance, and so does a source that was
        // not looked at.
        for member in [self.won, self.begun].into_iter().flatten() {
            self.set.standing().notice(&member.seat);
        }
        if self.holds {
            self.set.busy.store(false, Ordering::Release);
        }
    }
}

impl<'a, T> Event for WaitSetEvt<'_, 'a, T> {
    type Output = (Key, T);
    type Branch<'e>
        = Taking<'e, 'a, T>
    where
        Self: 'e;

    const STAGED: bool = true;

    fn is_single(&self) -> bool {
        true
    }
    fn depth(&self) -> usize {
        self.set.depth
    }
    fn branch(&self) -> Self::Branch<'_> {
        Taking { set: self.set, holds: false, published: std::ptr::null(), begun: None, won: None }
    }
    fn force<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) {
        let this = branch.this();
        assert!(!this.set.busy.swap(true, Ordering::Acquire), "a wait set is performed twice at a time");
        this.holds = true;
        while let Some(member) = this.set.next_fresh() {
            // If a guard panics, the source begins anew next time.
            let renew = Renew { set: this.set, member };
            member.made().begin();
            std::mem::forget(renew);
            if let Some(before) = this.begun.replace(member) {
                this.set.standing().notice(&before.seat);
            }
        }
    }
    fn try_commit<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        branch.this().look(attempt, false)
    }
    fn publish<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        let this = branch.this();
        if !this.published.is_null() {
            misuse("it tries or publishes a branch again that it has not withdrawn");
        }
        if attempt.is_decided() { Step::Waiting } else { this.look(attempt, true) }
    }
    fn withdraw<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
        let this = branch.this();
        if !this.published.is_null() {
            if !std::ptr::eq(this.published, attempt.record()) {
                misuse("it withdraws a branch in another performance than it has published it in");
            }
            let standing = this.set.standing();
            if let Some(seat) = standing.close() {
                // SAFETY: it is a seat of this set.
                let member = unsafe { Member::around(seat) };
                let seated = Attempt::seated(&member.seat.record, &Elsewhere, Some(attempt));
                let made = member.parts();
                if made.event.withdraw(made.branch, &seated) {
                    member.won.set(true);
                    this.won = Some(member);
                } else {
                    standing.notice(&member.seat);
                }
            }
            this.published = std::ptr::null();
            attempt.record().unlink();
        }
        this.won.is_some()
    }
    fn advance<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> bool {
        let this = branch.this();
        let member = this.won.expect("a source has won");
        member.won.set(false);
        let renew = Renew { set: this.set, member };
        let made = member.parts();
        let done = depth::deeper(made.event.depth(), || made.event.advance(made.branch));
        std::mem::forget(renew);
        if done {
            member.won.set(true);
        } else {
            member.seat.record.reset();
            this.won = None;
            // Its next stage continues its turn.
            this.set.standing().notice_first(&member.seat);
        }
        done
    }
    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> (Key, T) {
        let this = branch.this();
        let member = this.won.take().expect("a source has won");
        member.won.set(false);
        let _renew = Renew { set: this.set, member };
        let made = member.parts();
        (member.key, made.event.complete(made.branch))
    }
    fn describe<'e>(&'e self, _: &Self::Branch<'e>, waits: &mut Description) {
        waits.on("wait for the next of", &self.set.label, self.set.standing().id());
        waits.note(format!("it has {} sources", self.set.len()));
    }
}

impl<T> fmt::Debug for WaitSetEvt<'_, '_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WaitSetEvt").field(self.set).finish()
    }
}

impl<T> fmt::Debug for Taking<'_, '_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Taking").field("published", &!self.published.is_null()).finish_non_exhaustive()
    }
}

awaitable!(['s, 'a, T] WaitSetEvt<'s, 'a, T>);
