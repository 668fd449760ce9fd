//! Who owns what, and how it is removed.

use super::Core;
use super::flags;
use super::group::Group;
use super::slot::{Head, Phase, State};
use super::waits::Living;
use crate::current::Entered;
use std::ptr::NonNull;
use std::rc::Rc;

impl Core {
    pub(crate) fn own(&self, owner: Option<Living>, child: Living) {
        let running = self.current.get().filter(|_| self.in_frame.get());
        // SAFETY: what runs lives in a piece of this world.
        let owner = owner.or_else(|| running.map(|head| unsafe { Living::new(head) }));
        if let Some(owner) = owner {
            if owner.get().is_none() {
                return self.remove(child);
            }
            self.has_owners.set(true);
            let mut owned = self.owned.borrow_mut();
            let children = owned.entry(owner.head).or_default();
            if children.len() == children.capacity() {
                // Those that were removed one by one are forgotten, before the list grows.
                children.retain(|child| child.get().is_some());
                children.reserve(children.len() + 1);
            }
            children.push(child);
        }
    }

    /// Removes what a stream has made, and what that has made.
    #[inline(always)]
    pub(crate) fn remove_owned(&self, owner: NonNull<Head>) {
        if self.has_owners.get() {
            self.remove_all_owned(owner);
        }
    }

    /// It does not recurse, since chains of owners may be long.
    #[cold]
    fn remove_all_owned(&self, owner: NonNull<Head>) {
        let mut owned = self.owned.borrow_mut();
        let mut children = owned.remove(&owner).unwrap_or_default();
        while let Some(child) = children.pop() {
            if self.remove_alone(child) {
                children.extend(owned.remove(&child.head).into_iter().flatten());
            }
        }
        self.has_owners.set(!owned.is_empty());
    }

    /// Removes a stream and what it has made. Futures and values are dropped as soon as no stream is
    /// being polled and no function of the user's looks at a value.
    pub(crate) fn remove(&self, stream: Living) {
        if self.remove_alone(stream) {
            self.remove_owned(stream.head);
            self.bury_at_rest();
        }
    }

    /// Drops what has been removed, unless a stream may be being polled, or a value looked at.
    pub(crate) fn bury_at_rest(&self) {
        if !self.in_frame.get() && self.looking.get() == 0 && !self.burying.get() {
            self.bury();
        }
    }

    /// Removes a stream, and not what it has made. Returns `true` if it was there.
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
                head.state.set(State::new(phase, 0).with_value(state));
                // So that its poll ends in `settle`.
                self.flag(flags::QUEUED);
            } else {
                self.waiting.set(self.waiting.get() - 1);
            }
            self.wake_readers(list);
        }
        true
    }

    /// Notes that a removed stream is to be buried.
    pub(super) fn becomes_vacant(&self, pointer: NonNull<Head>, state: State) {
        let has_future = match state.phase() {
            Phase::Ended => false,
            Phase::Failed => state.number() != 0,
            _ => true,
        };
        // SAFETY: slots live as long as the world.
        let head = unsafe { pointer.as_ref() };
        head.state.set(State::new(Phase::Vacant, u32::from(has_future)).with_value(state));
        self.graves.borrow_mut().push(pointer);
        self.flag(flags::QUEUED);
    }

    /// Drops what has been removed. No stream is being polled, and no value is being looked at.
    pub(super) fn bury(&self) {
        let outer = self.burying.replace(true);
        loop {
            let Some(pointer) = self.graves.borrow_mut().pop() else { break };
            // SAFETY: slots live as long as the world.
            let (group, head) = unsafe { (Group::of(pointer), pointer.as_ref()) };
            let state = head.state.get();
            if state.number() == 1 {
                // SAFETY: it has a future, which is not being polled.
                self.guarded(|| unsafe { group.drop_future(pointer) });
            }
            if state.has_value() {
                // SAFETY: it has a value, which nobody looks at.
                self.guarded(|| unsafe { group.drop_value(pointer) });
            }
            self.errors.borrow_mut().remove(&pointer);
            self.restless.borrow_mut().remove(&pointer);
            self.remove_owned(pointer);
            group.give_slot(pointer);
        }
        self.burying.set(outer);
    }

    /// Removes all streams. Nothing can be made any more.
    pub(crate) fn close(self: &Rc<Core>) {
        self.closed.set(true);
        let _entered = Entered::new(self.clone());
        let mut all = Vec::new();
        // SAFETY: slots live as long as the world.
        self.each_stream(|_, pointer, _| all.push(unsafe { Living::new(pointer) }));
        self.current.set(None);
        all.into_iter().for_each(|stream| self.remove(stream));
        self.bury();
        self.forget_followers();
        let wakers = self.wakers.take();
        self.guarded(|| drop(wakers));
    }
}
