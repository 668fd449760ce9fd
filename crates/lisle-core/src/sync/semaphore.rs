//! A counting semaphore whose waits are events, and which is fair also to performers that want many
//! tokens.

use crate::event::lock::Lock;
use crate::event::protocol::queue::{WaitQueue, Waiter};
use crate::event::protocol::record::{Meeting, Outsider, Record};
use crate::event::protocol::woken::Woken;
use crate::event::{
    Attempt, Description, Event, Label, Step, awaitable, declare_made, single, visible_doing,
};
use crate::sync::contended::take_on_thread;
use std::fmt;
use std::pin::Pin;
use std::ptr::NonNull;

/// A number of tokens that can be taken and put back. Taking waits until there are enough.
///
/// Tokens have no owner: any code may [`post`](Semaphore::post) one. [`wait`](Semaphore::wait)
/// takes one permanently. [`acquire`](Semaphore::acquire) takes one and returns it when its
/// [`Permit`] is dropped.
///
/// # Fairness
///
/// First come, first served, for any number of requested tokens. A performer that wants many tokens is
/// served as soon as there are enough. Until then the performers behind it wait as well, even if there
/// are enough for them, so no performer is starved. Requests of one and the same choice do not wait
/// for each other. A plain thread that wants one token first looks for half a millisecond whether
/// there is a token and no waiter, and only then takes its place in the queue.
///
/// # Cancel safety
///
/// A performer that loses a choice or gives up, and a future that is dropped, have taken nothing:
/// tokens that were granted at the very moment at which a future was dropped are put back. When a
/// performer gives up, the performers behind it move forward.
///
/// # Cost
///
/// Nothing is allocated. Posting and taking cost a short lock. Posting wakes exactly the performers
/// that are served.
///
/// Racket's semaphores are the model for `post`, `wait` and `peek`, Go's weighted semaphore for
/// many tokens.
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::sync::Semaphore;
/// use lisle::{Event, choose, time::after};
/// use std::time::Duration;
///
/// // At most two at a time.
/// let seats = Semaphore::new(2);
/// let first = seats.acquire();
/// let second = seats.acquire();
/// let in_time = choose((
///     seats.acquire_evt().wrap(Some),
///     after(Duration::from_millis(1)).wrap(|()| None),
/// ));
/// assert!(in_time.sync().is_none());
/// drop(first);
/// assert!(in_time.sync().is_some());
/// # drop(second);
/// ```
pub struct Semaphore {
    inner: Lock<Inner>,
    label: Label,
}

/// While no transition is in progress, the first request in the queue needs more tokens than there
/// are.
struct Inner {
    tokens: usize,
    queue: WaitQueue<Request>,
}

#[derive(Debug, Clone, Copy)]
struct Request {
    /// The number of tokens that must be there.
    needs: usize,
    /// The number of tokens that are taken: all that are needed or, by a peek, none.
    takes: usize,
    /// `true` if the tokens were taken for a performer that has not seen it yet.
    granted: bool,
}

impl Semaphore {
    /// Creates a semaphore with `tokens` tokens.
    #[track_caller]
    pub fn new(tokens: usize) -> Self {
        let inner = Inner { tokens, queue: WaitQueue::new() };
        Semaphore { inner: Lock::new(inner), label: Label::new("semaphore") }
    }

    /// Gives the semaphore a name, which appears in reports of waiting performers.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.label = self.label.named(name);
        self
    }

    /// Adds a token.
    ///
    /// # Panics
    ///
    /// Panics if there would be more than `usize::MAX` tokens.
    pub fn post(&self) {
        self.post_many(1);
    }

    /// Adds `count` tokens at once.
    ///
    /// # Panics
    ///
    /// Panics if there would be more than `usize::MAX` tokens.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, sync::Semaphore};
    ///
    /// let semaphore = Semaphore::new(0);
    /// semaphore.post_many(3);
    /// semaphore.wait_many_evt(2).sync();
    /// assert_eq!(semaphore.tokens(), 1);
    /// ```
    pub fn post_many(&self, count: usize) {
        self.put(count);
    }

    fn put(&self, count: usize) {
        visible_doing("post to", &self.label, self);
        // Declared before the guard, so it is dropped after it: the wakes come when the lock is
        // free.
        let mut woken = Woken::default();
        declare_made(&self.label, self);
        let mut inner = self.inner.lock();
        inner.tokens = inner.tokens.checked_add(count).expect("a semaphore has too many tokens");
        inner.serve(&mut woken);
    }

    /// Takes a token permanently, and waits for it as [`Event::sync`] does.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::Semaphore;
    ///
    /// let done = Semaphore::new(0);
    /// std::thread::scope(|scope| {
    ///     for _ in 0..3 {
    ///         scope.spawn(|| done.post());
    ///     }
    ///     (0..3).for_each(|_| done.wait());
    /// });
    /// assert_eq!(done.tokens(), 0); // the awaited tokens are not put back
    /// ```
    pub fn wait(&self) {
        if take_on_thread(|| self.try_wait().then_some(())).is_none() {
            self.wait_evt().sync();
        }
    }

    /// Takes a token permanently if there is one and no other performer waits for it. Returns
    /// `true` if it did.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::Semaphore;
    ///
    /// let semaphore = Semaphore::new(1);
    /// assert!(semaphore.try_wait());
    /// assert!(!semaphore.try_wait()); // none is left
    /// semaphore.post();
    /// assert!(semaphore.try_wait());
    /// ```
    pub fn try_wait(&self) -> bool {
        self.wait_evt().poll().is_some()
    }

    /// Returns the event of taking a token permanently.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, choose, sync::Semaphore, time::after};
    /// use std::time::Duration;
    ///
    /// let tokens = Semaphore::new(0);
    /// let in_time = choose((
    ///     tokens.wait_evt().wrap(|()| true),
    ///     after(Duration::from_millis(1)).wrap(|()| false),
    /// ));
    /// assert!(!in_time.sync()); // has taken none
    /// tokens.post();
    /// assert!(in_time.sync());
    /// ```
    pub fn wait_evt(&self) -> TokenEvt<'_, ()> {
        self.wait_many_evt(1)
    }

    /// Returns the event of taking `count` tokens at once, permanently.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, sync::Semaphore};
    ///
    /// let semaphore = Semaphore::new(2);
    /// let three = semaphore.wait_many_evt(3);
    /// assert!(three.poll().is_none());
    /// assert_eq!(semaphore.tokens(), 2); // it takes all or none
    /// semaphore.post();
    /// three.sync();
    /// assert_eq!(semaphore.tokens(), 0);
    /// ```
    pub fn wait_many_evt(&self, count: usize) -> TokenEvt<'_, ()> {
        self.event("wait for", count, count, |_, _| ())
    }

    /// Returns the event that a token could be taken at once. It takes none.
    ///
    /// It is ready when [`wait_evt`](Semaphore::wait_evt) would be, and waits in the same queue: a
    /// performer that waits for a token and came earlier gets it first. Another performer may have
    /// taken the token before this one continues.
    ///
    /// The idea is from Racket's `semaphore-peek-evt`.
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, sync::Semaphore};
    ///
    /// let semaphore = Semaphore::new(1);
    /// semaphore.peek_evt().sync();
    /// semaphore.peek_evt().sync(); // it is still there
    /// semaphore.wait();
    /// assert!(semaphore.peek_evt().poll().is_none());
    /// ```
    pub fn peek_evt(&self) -> TokenEvt<'_, ()> {
        self.event("peek at", 1, 0, |_, _| ())
    }

    /// Takes a token until the permit is dropped, and waits for it as [`Event::sync`] does.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::Semaphore;
    ///
    /// let seats = Semaphore::new(1);
    /// let _ = seats.acquire(); // dropped at once: the token is back
    /// let seat = seats.acquire();
    /// assert_eq!(seats.tokens(), 0);
    /// drop(seat);
    /// assert_eq!(seats.tokens(), 1);
    /// ```
    pub fn acquire(&self) -> Permit<'_> {
        take_on_thread(|| self.try_acquire()).unwrap_or_else(|| self.acquire_evt().sync())
    }

    /// Takes `count` tokens at once until the permit is dropped, and waits for them as
    /// [`Event::sync`] does.
    pub fn acquire_many(&self, count: usize) -> Permit<'_> {
        self.acquire_many_evt(count).sync()
    }

    /// Takes a token until the permit is dropped, if there is one and no other performer waits for
    /// it. Returns `None` otherwise.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::Semaphore;
    ///
    /// let seats = Semaphore::new(1);
    /// let seat = seats.try_acquire();
    /// assert!(seat.is_some());
    /// assert!(seats.try_acquire().is_none());
    /// drop(seat);
    /// assert!(seats.try_acquire().is_some());
    /// ```
    pub fn try_acquire(&self) -> Option<Permit<'_>> {
        self.acquire_evt().poll()
    }

    /// Takes `count` tokens until the permit is dropped, if they are there and no other performer
    /// waits for them. Returns `None` otherwise.
    pub fn try_acquire_many(&self, count: usize) -> Option<Permit<'_>> {
        self.acquire_many_evt(count).poll()
    }

    /// Returns the event of taking a token until the permit is dropped.
    pub fn acquire_evt(&self) -> TokenEvt<'_, Permit<'_>> {
        self.acquire_many_evt(1)
    }

    /// Returns the event of taking `count` tokens at once, until the permit is dropped.
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::Semaphore;
    ///
    /// let memory = Semaphore::new(100);
    /// let large = memory.acquire_many(90);
    /// assert!(memory.try_acquire_many(20).is_none());
    /// drop(large);
    /// assert!(memory.try_acquire_many(20).is_some());
    /// ```
    pub fn acquire_many_evt(&self, count: usize) -> TokenEvt<'_, Permit<'_>> {
        self.event("acquire", count, count, |semaphore, count| Permit { semaphore, count })
    }

    fn event<'a, T>(
        &'a self,
        operation: &'static str,
        needs: usize,
        takes: usize,
        give: fn(&'a Semaphore, usize) -> T,
    ) -> TokenEvt<'a, T> {
        TokenEvt { semaphore: self, operation, request: Request { needs, takes, granted: false }, give }
    }

    /// Returns how many tokens there are now.
    pub fn tokens(&self) -> usize {
        visible_doing("look at", &self.label, self);
        self.inner.lock().tokens
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore").field("tokens", &self.tokens()).finish_non_exhaustive()
    }
}

impl Inner {
    /// Serves the waiters, in their order, as far as the tokens go.
    ///
    /// When there are too few tokens for one request, only requests of the same performance may
    /// pass it.
    fn serve(&mut self, woken: &mut Woken) {
        let tokens = &mut self.tokens;
        let mut held_back: *const Record = std::ptr::null();
        loop {
            let served = self.queue.commit_where(|candidate| {
                let record = candidate.record();
                if !held_back.is_null() && !std::ptr::eq(held_back, record) {
                    Meeting::Decided
                } else if candidate.slot(|request| request.needs) <= *tokens {
                    candidate.meet(&Outsider)
                } else if record.may_be_committed() {
                    held_back = record;
                    Meeting::Own
                } else {
                    Meeting::Gone
                }
            });
            let Ok(Some(mut served)) = served else { return };
            held_back = std::ptr::null();
            served.slot(|request| {
                request.granted = true;
                *tokens -= request.takes;
            });
            woken.push(served.finish());
        }
    }

    /// Takes the requested tokens, if they are there and no other performer waits ahead.
    fn take(&mut self, request: Request, own: *const Record) -> Option<()> {
        if self.tokens < request.needs || !self.is_first(own) {
            return None;
        }
        self.tokens -= request.takes;
        Some(())
    }

    /// Returns `true` if only waiters of `own` are in the queue.
    fn is_first(&mut self, own: *const Record) -> bool {
        let others = self.queue.commit_where(|candidate| {
            if std::ptr::eq(own, candidate.record()) {
                Meeting::Own
            } else if candidate.record().may_be_committed() {
                Meeting::Decided
            } else {
                Meeting::Gone
            }
        });
        matches!(others, Ok(None))
    }
}

/// Tokens of a [`Semaphore`], which are put back when this is dropped.
#[must_use = "the tokens go back as soon as the permit is dropped"]
pub struct Permit<'a> {
    semaphore: &'a Semaphore,
    count: usize,
}

impl Permit<'_> {
    /// Returns how many tokens the permit holds.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Keeps the tokens taken permanently.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::Semaphore;
    ///
    /// let seats = Semaphore::new(2);
    /// seats.acquire().forget();
    /// assert_eq!(seats.tokens(), 1); // one seat less, for good
    /// ```
    pub fn forget(mut self) {
        self.count = 0;
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.semaphore.put(self.count);
    }
}

impl fmt::Debug for Permit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Permit").field(&self.count).finish()
    }
}

/// The event of there being tokens of a [`Semaphore`], and of taking them. See
/// [`Semaphore::wait_evt`], [`Semaphore::acquire_evt`] and [`Semaphore::peek_evt`].
#[must_use = "events do nothing unless performed"]
#[derive(Clone, Copy)]
pub struct TokenEvt<'a, T> {
    semaphore: &'a Semaphore,
    operation: &'static str,
    request: Request,
    give: fn(&'a Semaphore, usize) -> T,
}

/// The branch of a [`TokenEvt`]. When dropped, it puts back tokens that were granted to it and not
/// taken out.
#[derive(Debug)]
pub struct Taking<'e> {
    semaphore: &'e Semaphore,
    waiter: Waiter<Request>,
}

impl Taking<'_> {
    fn attempt(&self, attempt: &Attempt<'_>, wait: bool) -> Step {
        self.waiter.must_not_be_published();
        declare_made(&self.semaphore.label, self.semaphore);
        let mut inner = self.semaphore.inner.lock();
        let own = attempt.record();
        // SAFETY: the waiter is not published, as checked above, so it is free and only the
        // performer accesses its slot.
        let taken = unsafe {
            self.waiter.slot_mut(|request| {
                let taken = attempt.commit_if(|| inner.take(*request, own));
                request.granted = matches!(taken, Ok(Some(())));
                request.granted
            })
        };
        if taken {
            return Step::Committed;
        }
        if wait && !attempt.is_decided() {
            // SAFETY: the waiter is not linked, since it is not published. It is pinned, and it is
            // not freed before `withdraw` has unlinked it. `is_single` guarantees that there is
            // only one branch.
            unsafe { inner.queue.push(&self.waiter, attempt) };
        }
        Step::Waiting
    }

    fn withdraw(&self, attempt: &Attempt<'_>) -> bool {
        if !self.waiter.is_free() {
            let mut woken = Woken::default();
            declare_made(&self.semaphore.label, self.semaphore);
            let mut inner = self.semaphore.inner.lock();
            // SAFETY: the waiter is alive and was linked into this queue or into none.
            unsafe { inner.queue.unlink(NonNull::from(&self.waiter)) };
            // This waiter may have held back the waiters behind it.
            inner.serve(&mut woken);
        }
        self.waiter.taken_back(attempt);
        attempt.record().won_by(self.waiter.id())
    }

    /// Returns the number of tokens that were granted and not yet taken out, and marks them as
    /// taken out.
    fn tell(&self) -> Option<usize> {
        self.waiter.must_not_be_published();
        // SAFETY: the waiter is not published, as checked above, so it is free and only the
        // performer accesses its slot.
        let request =
            unsafe { self.waiter.slot_mut(|r| std::mem::replace(r, Request { granted: false, ..*r })) };
        request.granted.then_some(request.takes)
    }
}

impl Drop for Taking<'_> {
    fn drop(&mut self) {
        if let Some(count) = self.tell() {
            self.semaphore.put(count);
        }
    }
}

impl<T> Event for TokenEvt<'_, T> {
    type Output = T;
    single! { |this, branch: Taking<'e>, attempt|
        branch: Taking { semaphore: this.semaphore, waiter: Waiter::new(this.request) },
        try_commit: branch.attempt(attempt, false),
        publish: branch.attempt(attempt, true),
        withdraw: branch.withdraw(attempt)
    }

    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> T {
        let count = branch.tell().expect("`complete` on a branch that has not won");
        (self.give)(self.semaphore, count)
    }
    fn describe<'e>(&'e self, _: &Self::Branch<'e>, waits: &mut Description) {
        waits.on(self.operation, &self.semaphore.label, std::ptr::from_ref(self.semaphore) as usize);
    }
}

impl<T> fmt::Debug for TokenEvt<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenEvt")
            .field("operation", &self.operation)
            .field("request", &self.request)
            .finish()
    }
}

awaitable!(['a, T] TokenEvt<'a, T>, single);
