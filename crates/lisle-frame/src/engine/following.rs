//! Streams of last values: they look at their sources before anything of a frame changes.

use super::Core;
use super::waits::Living;
use std::rc::Rc;

/// What a stream of last values knows of its source.
pub(crate) trait Follows {
    /// Keeps the value that the source has now, for the next frame.
    fn look(&self, core: &Core);
}

impl Core {
    /// Adds a stream of last values.
    pub(crate) fn add_follower(&self, stream: Living, follows: Rc<dyn Follows>) {
        self.follows.borrow_mut().push((stream, follows));
    }

    /// Lets the streams of last values look at their sources, once between two frames: before a
    /// frame begins, or an input is set. All look before the first of them takes a new value, since
    /// they may follow each other.
    pub(crate) fn look_at_sources(&self) {
        if self.has_looked.replace(true) {
            return;
        }
        let mut at = 0;
        loop {
            let Some((stream, follows)) = self.follows.borrow().get(at).cloned() else { return };
            if stream.get().is_some() {
                follows.look(self);
                at += 1;
            } else {
                self.follows.borrow_mut().swap_remove(at);
            }
        }
    }

    /// Notes that what the sources have is not what was looked at.
    pub(crate) fn look_again(&self) {
        self.has_looked.set(false);
    }

    /// Forgets all streams of last values, at the end of the world.
    pub(super) fn forget_followers(&self) {
        let follows = self.follows.take();
        self.guarded(|| drop(follows));
    }
}
