//! Streams of last values. They look at their sources before a frame changes any value.

use super::Core;
use super::waits::Living;
use std::any::Any;
use std::collections::HashMap;
use std::rc::Rc;

/// The connection of a stream of last values to its source.
pub(crate) trait Follows {
    /// Keeps the value that the source has now, for the next frame of `stream`.
    fn look(&self, core: &Core, stream: Living);

    /// Returns a copy of the value that is kept for the next frame.
    fn looked(&self) -> Box<dyn Any>;

    /// Keeps a copy of the value that `looked` has returned.
    fn look_as_then(&self, looked: &dyn Any);
}

impl Core {
    /// Adds a stream of last values.
    pub(crate) fn add_follower(&self, stream: Living, follows: Rc<dyn Follows>) {
        self.follows.borrow_mut().push((stream, follows));
    }

    /// Has the streams of last values look at their sources, once between two frames: before a frame
    /// begins, or an input is set. All of them look before the first takes a new value, because they
    /// may follow each other.
    pub(crate) fn look_at_sources(&self) {
        if self.has_looked.replace(true) {
            return;
        }
        let mut at = 0;
        loop {
            let Some((stream, follows)) = self.follows.borrow().get(at).cloned() else { return };
            if stream.get().is_some() {
                follows.look(self, stream);
                at += 1;
            } else if self.is_saved(stream) {
                // The stream may come back.
                at += 1;
            } else {
                self.follows.borrow_mut().swap_remove(at);
            }
        }
    }

    /// Returns the values that the streams of last values have seen, if they have looked at their
    /// sources since the last frame.
    pub(super) fn what_was_looked_at(&self) -> Option<Vec<(Living, Box<dyn Any>)>> {
        if !self.has_looked.get() {
            return None;
        }
        // `clone` is the user's code.
        let all = self.follows.borrow().clone();
        Some(all.into_iter().map(|(stream, follows)| (stream, follows.looked())).collect())
    }

    /// Gives the streams of last values the values that they had seen at the time of the snapshot.
    pub(super) fn look_as_then(&self, looked: &[(Living, Box<dyn Any>)]) {
        self.has_looked.set(true);
        let all = self.follows.borrow().clone();
        let all = all.into_iter().map(|(stream, follows)| (stream.head, follows)).collect::<HashMap<_, _>>();
        for (stream, looked) in looked {
            if let Some(follows) = all.get(&stream.head) {
                follows.look_as_then(&**looked);
            }
        }
    }

    /// Notes that the sources have other values than at the last look.
    pub(crate) fn look_again(&self) {
        self.has_looked.set(false);
    }

    /// Forgets all streams of last values, at the end of the world.
    pub(super) fn forget_followers(&self) {
        let follows = self.follows.take();
        self.guarded(|| drop(follows));
    }
}
