//! The root stack of a session: the words that keep objects alive, and that the collector corrects when
//! it has moved them.
//!
//! The stack is a list of chunks, which never move: a handle is the address of a word in one of them. A
//! chunk that a scope has used stays for later scopes.

use crate::object::Cell;
use crate::raw::{NONE, Raw};
use std::cell::{Cell as Variable, UnsafeCell};
use std::ptr::NonNull;
use std::sync::atomic::Ordering;

/// The number of roots in the first chunk. Each further chunk has twice as many, up to `LARGEST`.
const FIRST: usize = 256;
const LARGEST: usize = 1 << 16;

struct Chunk {
    /// A box that handles point into. `Box` itself would claim that nothing else does.
    cells: NonNull<[Cell]>,
    /// The number of roots when the next chunk began. The rest is unused.
    used: Variable<usize>,
}

impl Chunk {
    fn new(len: usize) -> Self {
        let cells: Box<[Cell]> = (0..len).map(|_| Cell::new(NONE)).collect();
        Self { cells: NonNull::from(Box::leak(cells)), used: Variable::new(0) }
    }

    fn len(&self) -> usize {
        self.cells.len()
    }

    fn begin(&self) -> *const Cell {
        self.cells.as_ptr().cast_const().cast()
    }

    fn end(&self) -> *const Cell {
        // SAFETY: the chunk has so many cells.
        unsafe { self.begin().add(self.len()) }
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        // SAFETY: `new` has leaked the box.
        drop(unsafe { Box::from_raw(self.cells.as_ptr()) });
    }
}

/// A place in the stack.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    top: *const Cell,
    chunk: usize,
}

pub(crate) struct Roots {
    /// The next free word of the current chunk, and its end.
    top: Variable<*const Cell>,
    end: Variable<*const Cell>,
    current: Variable<usize>,
    chunks: UnsafeCell<Vec<Chunk>>,
}

impl Roots {
    pub(crate) fn new() -> Self {
        let first = Chunk::new(FIRST);
        Self {
            top: Variable::new(first.begin()),
            end: Variable::new(first.end()),
            current: Variable::new(0),
            chunks: UnsafeCell::new(vec![first]),
        }
    }

    /// Adds a root with this word.
    #[inline]
    pub(crate) fn push(&self, raw: Raw) -> NonNull<Cell> {
        let mut top = self.top.get();
        if top == self.end.get() {
            self.next_chunk(1);
            top = self.top.get();
        }
        // SAFETY: `top` is before the end of a chunk, and a root is only written by its thread.
        unsafe {
            (*top).store(raw, Ordering::Relaxed);
            self.top.set(top.add(1));
            NonNull::new_unchecked(top.cast_mut())
        }
    }

    /// Adds `len` roots side by side, and returns the first.
    pub(crate) fn push_many(&self, len: usize, raw: Raw) -> NonNull<Cell> {
        // SAFETY: both are in the current chunk.
        let left = unsafe { self.end.get().offset_from(self.top.get()) } as usize;
        if left < len {
            self.next_chunk(len);
        }
        let first = NonNull::new(self.top.get().cast_mut()).expect("a chunk is not at address 0");
        for _ in 0..len {
            self.push(raw);
        }
        first
    }

    /// Goes on in the next chunk, which has room for `len` roots at least.
    #[cold]
    fn next_chunk(&self, len: usize) {
        // SAFETY: only the session's thread comes here, or the collector while that thread has stopped,
        // and the reference ends here.
        let chunks = unsafe { &mut *self.chunks.get() };
        let current = self.current.get();
        let begin = chunks[current].begin();
        // SAFETY: both are in the current chunk.
        chunks[current].used.set(unsafe { self.top.get().offset_from(begin) } as usize);
        let next = current + 1;
        // A chunk that is too short for a large frame of registers makes room for one that is not.
        if chunks.get(next).is_some_and(|chunk| chunk.len() < len) {
            chunks.truncate(next);
        }
        if chunks.len() == next {
            let twice = (2 * chunks[current].len()).min(LARGEST);
            chunks.push(Chunk::new(twice.max(len)));
        }
        self.go_to(chunks, next);
        self.top.set(chunks[next].begin());
    }

    fn go_to(&self, chunks: &[Chunk], chunk: usize) {
        self.current.set(chunk);
        self.end.set(chunks[chunk].end());
    }

    #[inline]
    pub(crate) fn mark(&self) -> Mark {
        Mark { top: self.top.get(), chunk: self.current.get() }
    }

    /// Removes all roots that were added after the mark.
    #[inline]
    pub(crate) fn reset(&self, mark: Mark) {
        if mark.chunk != self.current.get() {
            // SAFETY: as in `next_chunk`.
            self.go_to(unsafe { &*self.chunks.get() }, mark.chunk);
        }
        self.top.set(mark.top);
    }

    /// Calls `visit` for each root. Returns the number of roots.
    ///
    /// # Safety
    ///
    /// The session's thread has stopped, or is this one.
    pub(crate) unsafe fn each(&self, mut visit: impl FnMut(&Cell)) -> usize {
        // SAFETY: passed on to the caller.
        let chunks = unsafe { &*self.chunks.get() };
        let current = self.current.get();
        let mut count = 0;
        for (index, chunk) in chunks[..=current].iter().enumerate() {
            let used = if index == current {
                // SAFETY: both are in the current chunk.
                unsafe { self.top.get().offset_from(chunk.begin()) as usize }
            } else {
                chunk.used.get()
            };
            for index in 0..used {
                // SAFETY: the chunk has so many cells.
                visit(unsafe { &*chunk.begin().add(index) });
            }
            count += used;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::{FIRST, LARGEST, Roots};
    use crate::raw::immediate;

    fn count(roots: &Roots) -> usize {
        let mut count = 0;
        // SAFETY: the roots are this thread's.
        let counted = unsafe { roots.each(|_| count += 1) };
        assert_eq!(count, counted);
        count
    }

    #[test]
    fn a_stack_grows_and_shrinks_over_chunks() {
        let roots = Roots::new();
        let begin = roots.mark();
        for depth in 1..=10 * FIRST {
            roots.push(immediate(depth as u64));
            if depth % 128 <= 1 {
                assert_eq!(count(&roots), depth);
            }
        }
        let middle = roots.mark();
        let many = if cfg!(miri) { 30 * FIRST } else { 3 * LARGEST };
        roots.push_many(many, immediate(0));
        assert_eq!(count(&roots), 10 * FIRST + many);
        roots.reset(middle);
        assert_eq!(count(&roots), 10 * FIRST);
        roots.reset(begin);
        assert_eq!(count(&roots), 0);
        // The chunks are used again.
        roots.push_many(2, immediate(0));
        assert_eq!(count(&roots), 2);
    }
}
