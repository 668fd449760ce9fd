//! The owners of streams, and the removal of streams.

use super::Core;
use super::flags;
use super::group::Group;
use super::slot::{Head, Phase, StateWord, vacant};
use super::waits::Living;
use crate::current::enter;
use crate::error::{Failure, StreamError};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;
use std::rc::Rc;

impl Core {
    pub(crate) fn own(&self, owner: Option<Living>, child: Living) {
        let running = self.current.get().filter(|_| self.in_frame.get());
        if owner.is_none()
            && let Some((list, made)) = &mut *self.for_member.borrow_mut()
            && running == Some(*list)
        {
            return made.push(child);
        }
        // SAFETY: a stream that runs lives in a piece of this world.
        let owner = owner.or_else(|| running.map(|head| unsafe { Living::new(head) }));
        if let Some(owner) = owner {
            if owner.get().is_none() {
                return self.remove(child);
            }
            self.has_owners.set(true);
            let mut owned = self.owned.borrow_mut();
            let children = owned.entry(owner.head).or_default();
            if children.len() == children.capacity() {
                // Streams that were removed one by one are forgotten before the list grows.
                children.retain(|child| child.get().is_some() || self.is_saved(*child));
                children.reserve(children.len() + 1);
            }
            children.push(child);
        }
    }

    /// Calls a function that makes the parts of a list's member. The streams that the function
    /// makes have no owner yet, and are returned for [`keep`](Core::keep). If the function panics,
    /// they are removed.
    pub(crate) fn make_for_member<R>(&self, make: impl FnOnce() -> R) -> (R, Vec<Living>) {
        let list = self.current.get();
        let outer = self.for_member.replace(list.map(|list| (list, Vec::new())));
        let result = catch_unwind(AssertUnwindSafe(make));
        let made = self.for_member.replace(outer).map(|(_, made)| made).unwrap_or_default();
        match result {
            Ok(result) => (result, made),
            Err(panic) => {
                made.into_iter().for_each(|stream| self.remove(stream));
                resume_unwind(panic)
            }
        }
    }

    /// Makes streams live as long as another one, even if the other's body is run anew.
    pub(crate) fn keep(&self, owner: Living, made: Vec<Living>) {
        if !made.is_empty() {
            self.has_owners.set(true);
            self.kept.borrow_mut().insert(owner.head, made);
        }
    }

    /// Removes the streams that a stream has made in its last run, with the streams that these have
    /// made.
    #[inline(always)]
    pub(crate) fn remove_made(&self, owner: NonNull<Head>) {
        if self.has_owners.get() {
            self.remove_made_by_run(owner);
        }
    }

    #[cold]
    fn remove_made_by_run(&self, owner: NonNull<Head>) {
        let mut made = self.owned.borrow_mut().remove(&owner).unwrap_or_default();
        let mut owned = Vec::new();
        for stream in &made {
            if self.remove_alone(*stream) {
                self.note_why(stream.head);
                owned.extend(self.take_owned(*stream));
            }
        }
        // They belong to the body again after `restore`.
        made.retain(|stream| self.is_saved(*stream));
        if !made.is_empty() {
            self.owned.borrow_mut().insert(owner, made);
        }
        self.remove_each(owned);
    }

    /// Notes that a stream was removed because the body that made it has run again, unless the
    /// stream is running.
    fn note_why(&self, pointer: NonNull<Head>) {
        // SAFETY: slots live as long as the world.
        let head = unsafe { pointer.as_ref() };
        let state = head.state.get();
        if state.phase() == Phase::Vacant {
            let number = state.number() | vacant::MAKER_RAN_AGAIN;
            head.state.set(StateWord::new(Phase::Vacant, number).with_value(state));
        }
    }

    /// Returns the error of reading a stream that has been removed.
    #[cold]
    pub(crate) fn removed(&self, stream: Living) -> StreamError {
        // SAFETY: slots live as long as the world.
        let head = unsafe { stream.head.as_ref() };
        let state = head.state.get();
        let is_vacant = state.phase() == Phase::Vacant && head.generation.get() == stream.generation + 1;
        let maker_ran_again = is_vacant && state.number() & vacant::MAKER_RAN_AGAIN != 0;
        StreamError::new(Failure::Removed { stream: self.origin(stream.head), maker_ran_again })
    }

    /// Removes all streams that live as long as a stream.
    fn remove_owned(&self, owner: Living) {
        if self.has_owners.get() {
            self.remove_each(self.take_owned(owner));
        }
    }

    /// Returns the streams that live as long as a removed stream. If the stream may come back, they
    /// belong to it then.
    fn take_owned(&self, owner: Living) -> Vec<Living> {
        let (mut made, mut kept) = (self.owned.borrow_mut(), self.kept.borrow_mut());
        if self.is_saved(owner) {
            let all = [made.get(&owner.head), kept.get(&owner.head)];
            return all.into_iter().flatten().flatten().copied().collect();
        }
        let all = [made.remove(&owner.head), kept.remove(&owner.head)];
        all.into_iter().flatten().flatten().collect()
    }

    /// This does not recurse, because chains of owners may be long.
    fn remove_each(&self, mut streams: Vec<Living>) {
        while let Some(stream) = streams.pop() {
            if self.remove_alone(stream) {
                streams.extend(self.take_owned(stream));
            }
        }
        self.has_owners.set(!self.owned.borrow().is_empty() || !self.kept.borrow().is_empty());
    }

    /// Removes a stream and the streams that it has made. Futures and values are dropped as soon as
    /// no stream is being polled and no function of the user looks at a value.
    pub(crate) fn remove(&self, stream: Living) {
        if self.remove_alone(stream) {
            self.remove_owned(stream);
            self.bury_at_rest();
        }
    }

    /// Buries removed streams, unless a stream may be being polled, or a value may be looked at.
    pub(crate) fn bury_at_rest(&self) {
        if !self.in_frame.get() && self.looking.get() == 0 && !self.burying.get() {
            self.bury();
        }
    }

    /// Removes a stream, but not the streams that it has made. Returns `true` if the stream was
    /// there.
    fn remove_alone(&self, stream: Living) -> bool {
        let Some(head) = stream.get() else { return false };
        head.generation.set(head.generation.get() + 1);
        let state = head.state.get();
        let (phase, list) = (state.phase(), state.number());
        if phase != Phase::Running {
            self.becomes_vacant(stream.head, state);
        }
        if matches!(phase, Phase::Running | Phase::Waiting | Phase::Queued) {
            if phase == Phase::Running {
                head.state.set(StateWord::new(phase, 0).with_value(state));
                // Its poll then ends in `settle`.
                self.flag(flags::QUEUED);
            } else {
                self.waiting.set(self.waiting.get() - 1);
            }
            self.wake_readers(list);
        }
        true
    }

    /// Notes that a removed stream has to be buried.
    pub(super) fn becomes_vacant(&self, pointer: NonNull<Head>, state: StateWord) {
        let what = match state.phase() {
            Phase::Ended => 0,
            Phase::Failed if state.number() == 0 => vacant::HAS_FAILED,
            _ => vacant::HAS_FUTURE,
        };
        // SAFETY: slots live as long as the world.
        let head = unsafe { pointer.as_ref() };
        head.state.set(StateWord::new(Phase::Vacant, what).with_value(state));
        self.graves.borrow_mut().push(pointer);
        self.flag(flags::QUEUED);
    }

    /// Drops the futures and values of removed streams. No stream is being polled, and no value is
    /// being looked at.
    pub(super) fn bury(&self) {
        let outer = self.burying.replace(true);
        loop {
            let Some(pointer) = self.graves.borrow_mut().pop() else { break };
            // SAFETY: slots live as long as the world.
            let (group, head) = unsafe { (Group::of(pointer), pointer.as_ref()) };
            let state = head.state.get();
            let stream = Living { head: pointer, generation: head.generation.get() - 1 };
            self.forget_error(pointer);
            if self.has_loose_ends.get() {
                self.end_loosely(pointer);
            }
            if self.lay_aside(stream) {
                self.remove_owned(stream);
                continue;
            }
            if state.number() & vacant::HAS_FUTURE != 0 {
                // SAFETY: it has a future, which is not being polled.
                self.guarded(|| unsafe { group.drop_future(pointer) });
            }
            if state.has_value() {
                // SAFETY: it has a value, which no code looks at.
                self.guarded(|| unsafe { group.drop_value(pointer) });
            }
            self.remove_owned(stream);
            group.give_slot(pointer);
        }
        self.burying.set(outer);
    }

    /// Removes all streams. No stream can be made any more.
    pub(crate) fn close(self: &Rc<Core>) {
        self.closed.set(true);
        enter(self.clone(), || self.remove_all());
    }

    fn remove_all(&self) {
        let mut all = Vec::new();
        // SAFETY: slots live as long as the world.
        self.each_stream(|_, pointer, _| all.push(unsafe { Living::new(pointer) }));
        self.current.set(None);
        self.forget_all_saved();
        all.into_iter().for_each(|stream| self.remove(stream));
        self.bury();
        self.forget_followers();
        self.forget_wakers();
    }
}
