//! The turns that performers contest for. A performer has a mutex; it reads or writes under a
//! readers-writer lock; or it waits for its condition, and hands over.

use super::{order::Order, performer::Performer, wait::is_over};
use crate::{
    job::Job,
    peers::{AsyncCondvar, AsyncMutex, AsyncRwLock, BlockingCondvar, BlockingMutex, BlockingRwLock},
};
use std::future::Future;

/// Turns of performers that wait in place.
pub(crate) trait BlockingTurns: Send + Sync + 'static {
    fn new(job: &Job) -> Self;

    /// Has the performer have one turn. Returns `false` if the contest is over.
    fn turn<const TIMED: bool>(&self, performer: &mut Performer<TIMED>) -> bool;

    /// Returns how many turns have changed the number.
    fn changes(&self) -> u64;
}

/// Turns of performers that await them.
pub(crate) trait AsyncTurns: Send + Sync + 'static {
    fn new(job: &Job) -> Self;

    /// As [`BlockingTurns::turn`].
    fn turn<const TIMED: bool>(&self, performer: &mut Performer<TIMED>) -> impl Future<Output = bool> + Send;

    /// As [`BlockingTurns::changes`].
    fn changes(&self) -> impl Future<Output = u64> + Send;
}

/// A turn is to have the mutex.
pub(crate) struct Locking<M>(M);

impl<M: BlockingMutex> BlockingTurns for Locking<M> {
    fn new(_: &Job) -> Self {
        Locking(M::new())
    }

    #[inline]
    fn turn<const TIMED: bool>(&self, performer: &mut Performer<TIMED>) -> bool {
        self.0.with(|value| performer.hold(value))
    }

    fn changes(&self) -> u64 {
        self.0.with(|value| *value)
    }
}

impl<M: AsyncMutex> AsyncTurns for Locking<M> {
    fn new(_: &Job) -> Self {
        Locking(M::new())
    }

    async fn turn<const TIMED: bool>(&self, performer: &mut Performer<TIMED>) -> bool {
        self.0.with(|value| performer.hold(value)).await
    }

    async fn changes(&self) -> u64 {
        self.0.with(|value| *value).await
    }
}

/// A turn is to read or to write, as is the performer's part.
pub(crate) struct ReadingOrWriting<L>(L);

impl<L: BlockingRwLock> BlockingTurns for ReadingOrWriting<L> {
    fn new(_: &Job) -> Self {
        ReadingOrWriting(L::new())
    }

    #[inline]
    fn turn<const TIMED: bool>(&self, performer: &mut Performer<TIMED>) -> bool {
        if performer.is_to_read() {
            self.0.read(|value| performer.look(value))
        } else {
            self.0.write(|value| performer.hold(value))
        }
    }

    fn changes(&self) -> u64 {
        self.0.read(|value| *value)
    }
}

impl<L: AsyncRwLock> AsyncTurns for ReadingOrWriting<L> {
    fn new(_: &Job) -> Self {
        ReadingOrWriting(L::new())
    }

    async fn turn<const TIMED: bool>(&self, performer: &mut Performer<TIMED>) -> bool {
        if performer.is_to_read() {
            self.0.read(|value| performer.look(value)).await
        } else {
            self.0.write(|value| performer.hold(value)).await
        }
    }

    async fn changes(&self) -> u64 {
        self.0.read(|value| *value).await
    }
}

/// A turn is to wait until the number is such that it is the performer's turn, to change it, and to
/// notify whose turn is next.
///
/// When the contest is over all have a turn, in no order, and each that ends notifies all. So
/// nobody is left waiting for one that has ended.
pub(crate) struct HandingOver<C, M> {
    order: Order,
    mutex: M,
    condvars: Vec<C>,
}

impl<C, M> HandingOver<C, M> {
    fn of(job: &Job, mutex: M, condvar: fn() -> C) -> Self {
        let order = Order::of(job);
        HandingOver { order, mutex, condvars: (0..order.condvars()).map(|_| condvar()).collect() }
    }

    /// The condition variable of the performer of that number.
    fn condvar(&self, number: usize) -> &C {
        &self.condvars[self.order.condvar(number)]
    }

    /// Returns `true` if the performer of that number may go on where the number under the mutex is
    /// `value`.
    fn is_time(&self, number: usize, value: u64) -> bool {
        self.order.is_turn(number, value) || is_over()
    }

    /// After the turn of the performer of that number, which goes on or has ended.
    fn notify(&self, number: usize, goes_on: bool, one: fn(&C), all: fn(&C)) {
        if !goes_on {
            self.condvars.iter().for_each(all);
        } else if self.order.is_herd() {
            all(self.condvar(number + 1));
        } else {
            one(self.condvar(number + 1));
        }
    }
}

impl<C: BlockingCondvar> BlockingTurns for HandingOver<C, C::Mutex> {
    fn new(job: &Job) -> Self {
        HandingOver::of(job, C::Mutex::new(), C::new)
    }

    #[inline]
    fn turn<const TIMED: bool>(&self, performer: &mut Performer<TIMED>) -> bool {
        let number = performer.number();
        let goes_on = self.condvar(number).when(
            &self.mutex,
            |value| self.is_time(number, *value),
            |value| performer.hold(value),
        );
        self.notify(number, goes_on, C::notify_one, C::notify_all);
        goes_on
    }

    fn changes(&self) -> u64 {
        self.mutex.with(|value| *value)
    }
}

impl<C: AsyncCondvar> AsyncTurns for HandingOver<C, C::Mutex> {
    fn new(job: &Job) -> Self {
        HandingOver::of(job, C::Mutex::new(), C::new)
    }

    async fn turn<const TIMED: bool>(&self, performer: &mut Performer<TIMED>) -> bool {
        let number = performer.number();
        let when = self.condvar(number).when(
            &self.mutex,
            |value| self.is_time(number, *value),
            |value| performer.hold(value),
        );
        let goes_on = when.await;
        self.notify(number, goes_on, C::notify_one, C::notify_all);
        goes_on
    }

    async fn changes(&self) -> u64 {
        self.mutex.with(|value| *value).await
    }
}
