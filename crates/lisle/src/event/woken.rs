//! Wakes that wait for a lock to be let go.

use super::record::Task;
use std::mem::MaybeUninit;

/// How many tasks are kept without allocating.
const FEW: usize = 4;

/// Tasks to be woken once the lock is free. The first few need no allocation; an update that grants to
/// many at once keeps the rest in a vector.
pub(crate) struct Woken {
    /// The first `count` of these are there.
    few: [MaybeUninit<Task>; FEW],
    count: usize,
    more: Vec<Task>,
}

impl Default for Woken {
    #[inline(always)]
    fn default() -> Self {
        Woken { few: [MaybeUninit::uninit(); FEW], count: 0, more: Vec::new() }
    }
}

impl Woken {
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn wake_all(&mut self) {
        for task in &self.few[..self.count] {
            // SAFETY: the first `count` have been written.
            unsafe { task.assume_init() }.wake();
        }
        self.more.drain(..).for_each(Task::wake);
    }

    #[inline]
    pub(crate) fn push(&mut self, task: Task) {
        match self.few.get_mut(self.count) {
            Some(place) => {
                place.write(task);
                self.count += 1;
            }
            None => self.more.push(task),
        }
    }
}

impl Drop for Woken {
    #[inline(always)]
    fn drop(&mut self) {
        if self.count > 0 {
            self.wake_all();
        }
    }
}
