//! Decides whether a panic could leave the code that runs here.
//!
//! A runtime that ends unwinds its fibers from the points where they wait. Three kinds of frames end
//! the process if a panic reaches them: a function that foreign code calls back (`extern "C"`), a
//! destructor that runs because a panic already unwinds, and a function of C++ that catches
//! everything, unless it throws that on. A fiber that waits above such a frame must not be unwound
//! and is left waiting, so the runtime asks this module first.
//!
//! The answer is in the tables that the unwinder itself uses: for each call they say what happens if
//! it unwinds. The first two kinds of frames have a filter that lets no exception pass, or do not list
//! the call at all, or list destructors without a call by which the frame goes on unwinding. This
//! module walks the stack as the unwinder would in its first phase, and unwinds nothing.
//!
//! A call that a table does not list may also be one within which the panic is caught, since a call that
//! catches everything cannot unwind: `std::panic::catch_unwind` itself, where it is not inlined, and
//! functions that call it. So beyond a frame that catches, such a call says nothing. Where the thread is
//! panicking, it may be a call of a destructor that runs because of the panic, and such a destructor is
//! to complete; there the frame counts as one that no panic may pass.
//!
//! Destructors without a call by which the frame goes on are not always seen. A copy of memory is listed as a
//! call by which a frame is left; where the callees of code are unknown (all but Linux on x86-64), a function
//! that foreign code calls, that has something to drop, and that copies much, counts as one that can be
//! unwound. So does such a function if it has been inlined into a function of Rust, or if a sanitizer has
//! added calls to it.
//!
//! Nor is a destructor seen that runs because of a panic, catches panics itself, and has been inlined into
//! the frame that unwinds: of a frame the table describes the innermost catch only.
//!
//! `std::thread::panicking` cannot answer the question. It knows of no foreign frame, and it
//! describes the thread: while one fiber waits in a destructor, the other fibers of its domain read
//! `true`, too.
//!
//! The format is that of the *language-specific data area* of the Itanium C++ ABI's exception
//! handling, as GCC and LLVM write it. This module interprets an entry as `rust_eh_personality`
//! does, and an entry of another language's frame as that language's personality does: see
//! `languages`. Where the format is different (32-bit ARM), a fiber on a thread that is panicking
//! counts as one that cannot be unwound.

use std::ops::Range;

/// The effect of a panic on the code of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Catches {
    /// The first frame that catches the panic ends it.
    End,
    /// Each catching frame raises the panic again when it has done its part, until the outermost
    /// one. A function that does so must not be inlined: the tables describe only the innermost
    /// active `catch_unwind` of a frame.
    Resume,
}

/// Calls `f` and marks the end of the walk of `is_possible`, which looks at no frame beyond this
/// one. `f` is all the code of a fiber, or of a test.
pub fn outermost(mut f: impl FnMut()) {
    imp::outermost(&mut f);
}

/// Returns `true` if a panic that the caller raises would be caught without meeting a frame that
/// ends the process. The caller must run within [`outermost`]. The cost is proportional to the
/// depth of the stack, about that of a backtrace without names.
#[cold]
#[inline(never)]
pub(crate) fn is_possible(catches: Catches) -> bool {
    imp::is_possible(catches)
}

/// Returns `true` if a panic that the caller raises would reach the function that begins at `frame`,
/// and more precisely the outermost of the `count` innermost calls of it, without meeting a frame that
/// ends the process. Frames that catch the panic on the way are taken to raise it again.
#[cold]
#[inline(never)]
pub(crate) fn is_possible_to(frame: usize, count: usize) -> bool {
    imp::is_possible_to(frame, count)
}

/// Returns `true` if a panic that the caller raises would be caught by the user's code, or reach the root
/// of the segment whose stack is at `stack`, without meeting a frame that ends the process. The roots
/// of segments within that one catch it, and their resumers raise it again.
#[cold]
#[inline(never)]
pub fn is_possible_within(stack: Range<usize>) -> bool {
    imp::is_possible_within(stack)
}

#[cfg(target_arch = "arm")]
mod imp {
    pub(super) fn outermost(f: &mut dyn FnMut()) {
        f();
    }

    pub(super) fn is_possible(_: super::Catches) -> bool {
        !std::thread::panicking()
    }

    pub(super) fn is_possible_to(_: usize, _: usize) -> bool {
        !std::thread::panicking()
    }

    pub(super) fn is_possible_within(_: std::ops::Range<usize>) -> bool {
        !std::thread::panicking()
    }
}

#[cfg(not(target_arch = "arm"))]
mod imp {
    use super::Catches;
    use super::frames::{Frame, walk};
    use super::languages::language_at;
    use super::table::{Action, action};
    use std::ops::ControlFlow::{self, Break, Continue};
    use std::ops::Range;

    struct Walk {
        catches: Catches,
        /// `true` if the walk met a frame that no panic passes and, since then, no frame that
        /// catches.
        is_blocked: bool,
        /// The answer so far. It begins as `false`: a stack without a frame that catches cannot be
        /// unwound.
        is_possible: bool,
        /// `true` if the walk saw all frames up to `outermost`. A frame without tables ends the
        /// walk early.
        is_whole: bool,
        /// `true` between the root of a segment, where a panic has been caught, and the function
        /// that has resumed the segment, which raises the panic again, or whose caller does. The
        /// frames between let no panic pass, and none comes. The last of them may raise a panic
        /// elsewhere, which cannot be seen here, see `Generator`.
        is_crossing: bool,
        /// The function at which the walk ends, if that is not `outermost`, and how many calls of it
        /// are still to come.
        target: Option<(usize, usize)>,
    }

    /// The walk recognizes this function by its address.
    #[inline(never)]
    pub(super) fn outermost(f: &mut dyn FnMut()) {
        f();
        // This keeps `f(..)` from being a tail call, which would leave this function without a
        // frame.
        std::hint::black_box(f);
    }

    pub(super) fn is_possible(catches: Catches) -> bool {
        let walk = Walk::go(catches, None);
        // A frame that catches in vain, since all that it calls can unwind nothing, is compiled as one
        // that does not. So there may be none beyond a frame that no panic passes.
        walk.is_possible && !walk.is_blocked && (walk.is_whole || catches == Catches::End)
    }

    pub(super) fn is_possible_to(frame: usize, count: usize) -> bool {
        let walk = Walk::go(Catches::Resume, Some((frame, count)));
        walk.is_possible && walk.is_whole
    }

    pub(super) fn is_possible_within(stack: Range<usize>) -> bool {
        let (mut is_possible, mut is_crossing) = (false, false);
        // A frame of this segment catches it: the root's, unless another comes.
        let mut is_caught = false;
        let mut place = 0;
        walk(|frame| {
            let (at, is_before) = frame.goes_on_at();
            if is_before {
                if stack.contains(&place) || !is_caught {
                    is_possible = is_caught;
                    return Break(());
                }
                (is_crossing, is_caught) = (true, false);
            }
            place = frame.place();
            if is_crossing {
                is_crossing = !crate::segment::is_resumer(frame.start());
                return Continue(());
            }
            match action_of(frame, at, is_before) {
                Action::Catch if is_caught => {
                    is_possible = true;
                    Break(())
                }
                Action::Catch => {
                    is_caught = true;
                    Continue(())
                }
                Action::Block | Action::Unlisted if !is_caught => Break(()),
                // Nothing arrives there, or it does no harm.
                Action::Block | Action::Unlisted | Action::Pass => Continue(()),
            }
        });
        is_possible
    }

    /// Returns the action of a frame that goes on at this address.
    fn action_of(frame: &Frame<'_>, at: usize, is_before: bool) -> Action {
        // A return address points to the instruction after the call, which may belong to another
        // table entry.
        let at = at.saturating_sub(usize::from(!is_before));
        // SAFETY: the table is null or belongs to the function that begins there.
        unsafe { action(frame.table(), frame.start(), at, || language_at(at)) }
    }

    impl Walk {
        fn go(catches: Catches, target: Option<(usize, usize)>) -> Self {
            let (is_blocked, is_possible, is_whole, is_crossing) = (false, false, false, false);
            let mut this = Walk { catches, is_blocked, is_possible, is_whole, is_crossing, target };
            walk(|frame| this.visit(frame));
            this
        }

        fn visit(&mut self, frame: &Frame<'_>) -> ControlFlow<()> {
            let start = frame.start();
            if start == outermost as *const () as usize {
                self.is_whole = self.target.is_none();
                return Break(());
            }
            let (address, is_before) = frame.goes_on_at();
            if is_before {
                // Its caller looks like the frame of a signal: the beginning of another stack. The
                // last frame that catches was the root of the segment, and the frames beyond it see
                // no panic.
                self.is_blocked &= !self.is_possible;
                self.is_crossing = true;
            }
            if self.is_crossing {
                self.is_crossing = !crate::segment::is_resumer(start);
                return Continue(());
            }
            let action = match action_of(frame, address, is_before) {
                Action::Unlisted if self.is_possible && !std::thread::panicking() => Action::Pass,
                Action::Unlisted => Action::Block,
                listed => listed,
            };
            if let Some((function, count)) = &mut self.target
                && *function == start
            {
                *count -= 1;
                if *count == 0 {
                    self.is_whole = true;
                    // Its own frame catches, or the frame of a function which it has not inlined.
                    self.is_possible = !self.is_blocked
                        && (action == Action::Catch || self.is_possible && action == Action::Pass);
                    return Break(());
                }
            }
            match action {
                Action::Pass => Continue(()),
                Action::Block | Action::Unlisted => {
                    self.is_blocked = true;
                    if self.catches == Catches::End { Break(()) } else { Continue(()) }
                }
                Action::Catch => {
                    self.is_possible = !self.is_blocked;
                    let is_last = self.is_blocked || self.catches == Catches::End;
                    if is_last { Break(()) } else { Continue(()) }
                }
            }
        }
    }
}

#[cfg(not(target_arch = "arm"))]
#[cfg_attr(not(all(target_os = "linux", target_arch = "x86_64")), path = "unknown_calls.rs")]
mod calls;
#[cfg(not(target_arch = "arm"))]
pub(crate) mod frames;
#[cfg(not(target_arch = "arm"))]
#[cfg_attr(not(target_os = "linux"), path = "one_language.rs")]
mod languages;
#[cfg(not(target_arch = "arm"))]
mod table;
#[cfg(test)]
mod tests;
