//! The queue of streams that go on, and streams that run because they are read.

use super::Core;
use super::flags;
use super::group::Group;
use super::slot::{Head, Phase, StateWord};
use super::waits::Living;
use crate::current::unsuspended;
use crate::foreign::{Ended, Streams};
use std::ptr::NonNull;

/// How deep streams that read each other may be polled within each other, in bytes of the stack.
/// Deeper streams are polled from the queue.
const DEEPEST: usize = 24 << 10;

impl Core {
    pub(super) fn wake_readers(&self, mut list: u32) {
        while let Some((reader, rest)) = self.waits.pop(list) {
            list = rest;
            if let Some(head) = reader.get()
                && head.phase() == Phase::Waiting
            {
                head.state.set(head.state.get().in_phase(Phase::Queued));
                self.enqueue(reader);
            }
        }
    }

    fn enqueue(&self, stream: Living) {
        self.queue.borrow_mut().push_back(stream);
        self.flag(flags::QUEUED);
    }

    /// Notes that the stream that is being polled waits for another one.
    pub(crate) fn block_on(&self, target: NonNull<Head>) {
        self.flag(flags::WITHIN);
        let Some(reader) = self.current.get() else { return };
        // SAFETY: slots live as long as the world.
        let (reader, target) = unsafe { (Living::new(reader), Living::new(target)) };
        let Some(head) = target.get() else { return };
        let state = head.state.get();
        let list = self.waits.add(state.number(), reader, target);
        head.state.set(StateWord::new(state.phase(), list).with_value(state));
    }

    /// Runs a stream because it is read, unless that is too deep in the stack: then it is queued.
    /// Returns `true` if it has run.
    pub(crate) fn demand(&self, pointer: NonNull<Head>) -> bool {
        let here = 0u8;
        if (&raw const here).addr().abs_diff(self.stack.get()) > DEEPEST {
            return false;
        }
        let (current, flags) = (self.current.get(), self.flags.replace(0));
        let failure = self.failure.borrow_mut().take();
        self.count_evaluated(1);
        // SAFETY: a stream that is due has a future and is not running.
        let poll = || unsafe { Group::of(pointer).poll(self, pointer) };
        self.in_another_body(|| self.caught(poll));
        self.current.set(current);
        self.flag(flags);
        *self.failure.borrow_mut() = failure;
        true
    }

    /// Runs a stream that was just made, as if it were read.
    pub(crate) fn start(&self, pointer: NonNull<Head>) {
        if !self.demand(pointer) {
            self.demand_later(pointer);
        }
    }

    /// Queues a stream that is due, and that is read from too deep in the stack.
    pub(crate) fn demand_later(&self, pointer: NonNull<Head>) {
        // SAFETY: slots live as long as the world.
        let (stream, head) = unsafe { (Living::new(pointer), pointer.as_ref()) };
        self.count_evaluated(1);
        self.waiting.set(self.waiting.get() + 1);
        head.state.set(StateWord::new(Phase::Queued, 0).with_value(head.state.get()));
        self.enqueue(stream);
    }

    /// Returns `true` if the stream can be run, and has not run in this frame.
    pub(crate) fn is_runnable(&self, state: StateWord) -> bool {
        state.phase() == Phase::Fresh || self.is_due(state)
    }

    /// Polls a stream that was queued.
    fn poll(&self, stream: Living) {
        if stream.get().is_some_and(|head| self.is_resumed(stream.head, head)) {
            // SAFETY: alive and waiting, and hence with a future and not running.
            unsafe { Group::of(stream.head).poll(self, stream.head) };
        }
    }

    /// Returns `true` if a stream has waited, and is polled next. It does not count as waiting
    /// then.
    #[inline(always)]
    pub(super) fn is_resumed(&self, pointer: NonNull<Head>, head: &Head) -> bool {
        if !head.waits() {
            return false;
        }
        if self.has_executors() {
            self.wake_executors(pointer);
            // A waker may have removed it.
            if !head.waits() {
                return false;
            }
        }
        self.waiting.set(self.waiting.get() - 1);
        true
    }

    /// Polls the streams in the queue, and buries removed streams. No stream is being polled.
    pub(crate) fn drain(&self) {
        while self.has_queued() {
            self.flags.set(self.flags.get() & !flags::QUEUED);
            let all = || {
                loop {
                    let Some(next) = self.queue.borrow_mut().pop_front() else { return };
                    self.poll(next);
                }
            };
            if self.caught(|| unsuspended(all)) {
                self.flag(flags::QUEUED);
            }
            if self.looking.get() == 0 {
                self.bury();
            }
        }
    }
}

impl Streams for Core {
    #[inline]
    fn deliver(&self, ended: &Ended<'_>) {
        if let Some(owner) = ended.owner() {
            // SAFETY: slots live as long as the world, and only its streams make its calls.
            unsafe { Group::of(owner.cast()).deliver(self, ended) };
        }
    }

    #[inline(always)]
    fn caught(&self, f: impl FnOnce()) -> bool {
        Core::caught(self, f)
    }

    #[inline(always)]
    fn has_queued(&self) -> bool {
        Core::has_queued(self)
    }

    fn drain(&self) {
        Core::drain(self);
    }
}
