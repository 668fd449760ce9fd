//! What performers contest for, and how one of them has its turn: it has a mutex; or it reads
//! or writes under a readers-writer lock.

use super::performer::Performer;
use crate::{
    job::Job,
    peers::{AsyncMutex, AsyncRwLock, BlockingMutex, BlockingRwLock},
};
use std::future::Future;

/// What performers contest for that wait in place.
pub(crate) trait BlockingTurns: Send + Sync + 'static {
    fn new(job: &Job) -> Self;

    /// Has the performer have one turn. Returns `false` if the contest is over.
    fn turn<const TIMED: bool>(&self, performer: &mut Performer<TIMED>) -> bool;

    /// Returns how many turns have changed the number.
    fn changes(&self) -> u64;
}

/// What performers contest for that await it.
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
