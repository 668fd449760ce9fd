//! Which stacks can be unwound.

use super::*;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Calls `f` on a stack whose outermost frame but one catches panics.
fn on_a_stack(f: impl Fn()) {
    outermost(|| catch_unwind(AssertUnwindSafe(&f)).unwrap_or_else(|panic| resume_unwind(panic)));
}

/// Returns the answers for a panic that ends where it is caught and for a panic that is raised
/// again.
#[inline(never)]
fn answers() -> (bool, bool) {
    (is_possible(Catches::End), is_possible(Catches::Resume))
}

/// A value that records the answers when it is dropped.
struct Asks<'a>(&'a Cell<(bool, bool)>);

impl Drop for Asks<'_> {
    fn drop(&mut self) {
        self.0.set(answers());
    }
}

#[test]
fn ordinary_code_and_its_destructors_can_be_unwound() {
    on_a_stack(|| {
        assert_eq!(answers(), (true, true));
        let seen = Cell::new((false, false));
        drop(Asks(&seen));
        assert_eq!(seen.get(), (true, true));
    });
}

#[test]
fn code_that_copies_much_can_be_unwound() {
    #[inline(never)]
    fn copies(large: &[u8; 3_000]) -> (bool, bool) {
        let seen = Cell::new((false, false));
        let asks = Asks(&seen);
        let copy = std::hint::black_box(*large);
        let first = answers();
        let copy = std::hint::black_box(copy);
        drop(asks);
        assert_eq!((first, copy[0]), (seen.get(), 1));
        first
    }
    on_a_stack(|| assert_eq!(copies(std::hint::black_box(&[1; 3_000])), (true, true)));
}

/// A call within which every panic is caught is one that cannot unwind, and frames need not list it.
#[test]
fn code_that_is_called_where_panics_are_caught_can_be_unwound() {
    /// Catches each panic of `f`, so the compiler takes a call of it for one that cannot unwind.
    #[inline(never)]
    fn quietly(f: &dyn Fn()) {
        let caught = catch_unwind(AssertUnwindSafe(f));
        std::mem::forget(caught);
    }
    #[inline(never)]
    fn with_a_destructor(f: &dyn Fn()) -> usize {
        let seen = Cell::new((false, false));
        let asks = Asks(&seen);
        quietly(f);
        let lengths = std::hint::black_box(vec![1]).len();
        drop(asks);
        assert_eq!(seen.get(), (true, true));
        lengths
    }
    on_a_stack(|| {
        let seen = Cell::new(0);
        quietly(&|| {
            assert_eq!(with_a_destructor(&|| seen.set(usize::from(answers() == (true, true)))), 1);
        });
        assert_eq!(seen.get(), 1);
        to_a_call::target(&mut || {
            with_a_destructor(&|| seen.set(2 * usize::from(to_a_call::calls() == [true, false])));
        });
        assert_eq!(seen.get(), 2);
    });
}

#[test]
fn a_destructor_that_runs_in_a_panic_cannot() {
    on_a_stack(|| {
        let seen = Cell::new((true, true));
        let panic = catch_unwind(AssertUnwindSafe(|| {
            let _asks = Asks(&seen);
            resume_unwind(Box::new(()));
        }));
        assert!(panic.is_err());
        assert_eq!(seen.get(), (false, false));
        // The answer changes back after the panic was caught.
        assert_eq!(answers(), (true, true));
    });
}

/// A panic that such a destructor catches itself does not leave it, unless it is raised again.
#[test]
fn what_is_caught_within_such_a_destructor_can() {
    on_a_stack(|| {
        struct Catches<'a>(&'a Cell<(bool, bool)>);
        impl Drop for Catches<'_> {
            #[inline(never)] // The table describes the innermost catch of a frame only.
            fn drop(&mut self) {
                let caught = catch_unwind(AssertUnwindSafe(|| {
                    self.0.set(answers());
                    resume_unwind(Box::new(()));
                }));
                assert!(caught.is_err());
            }
        }
        let seen = Cell::new((false, true));
        let panic = catch_unwind(AssertUnwindSafe(|| {
            let _catches = Catches(&seen);
            resume_unwind(Box::new(()));
        }));
        assert!(panic.is_err());
        assert_eq!(seen.get(), (true, false));
    });
}

#[test]
fn a_call_from_foreign_code_cannot() {
    on_a_stack(|| {
        thread_local! {
            static SEEN: Cell<(bool, bool)> = const { Cell::new((true, true)) };
            static CAUGHT: Cell<(bool, bool)> = const { Cell::new((false, true)) };
        }
        extern "C" fn compare(_: *const c_void, _: *const c_void) -> c_int {
            SEEN.set(answers());
            catches_and_raises();
            0
        }
        #[inline(never)]
        fn catches_and_raises() {
            if let Err(panic) = catch_unwind(|| CAUGHT.set(answers())) {
                resume_unwind(panic);
            }
        }
        let mut numbers = [2_u32, 1];
        // SAFETY: the array has two elements of this size, and the comparison reads neither.
        unsafe { libc::qsort(numbers.as_mut_ptr().cast(), 2, size_of::<u32>(), Some(compare)) };
        assert_eq!(SEEN.get(), (false, false));
        assert_eq!(CAUGHT.get(), (true, false));
    });
}

/// Also if it has something to drop, which comes before the end of the process. A sanitizer adds calls to
/// the table.
#[cfg(not(feature = "sanitizer"))]
#[test]
fn a_call_from_foreign_code_that_has_something_to_drop_cannot() {
    on_a_stack(|| {
        thread_local! {
            static SEEN: Cell<[(bool, bool); 3]> = const { Cell::new([(true, true); 3]) };
        }
        struct Dropped;
        impl Drop for Dropped {
            #[inline(never)]
            fn drop(&mut self) {
                std::hint::black_box(());
            }
        }
        extern "C" fn compare(_: *const c_void, _: *const c_void) -> c_int {
            let first = answers();
            let _dropped = Dropped;
            let second = answers();
            let _dropped = Dropped;
            SEEN.set([first, second, within(Dropped)]);
            0
        }
        #[inline(always)]
        fn within(_dropped: Dropped) -> (bool, bool) {
            answers()
        }
        let mut numbers = [2_u32, 1];
        // SAFETY: the array has two elements of this size, and the comparison reads neither.
        unsafe { libc::qsort(numbers.as_mut_ptr().cast(), 2, size_of::<u32>(), Some(compare)) };
        assert_eq!(SEEN.get(), [(false, false); 3]);
        // One that copies much looks as if a panic left it.
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        {
            extern "C" fn copies(_: *const c_void, _: *const c_void) -> c_int {
                let _dropped = Dropped;
                let large = std::hint::black_box([1_u8; 3_000]);
                let seen = answers();
                // A copy, which no panic leaves.
                let copy = std::hint::black_box(&large).to_owned();
                SEEN.set([seen, answers(), answers()]);
                i32::from(std::hint::black_box(copy)[0]) - 1
            }
            // SAFETY: as above.
            unsafe { libc::qsort(numbers.as_mut_ptr().cast(), 2, size_of::<u32>(), Some(copies)) };
            assert_eq!(SEEN.get(), [(false, false); 3]);
        }
        // Such a function may catch a panic, but not raise it again.
        extern "C" fn catches(_: *const c_void, _: *const c_void) -> c_int {
            let _dropped = Dropped;
            let _ = catch_unwind(|| SEEN.set([answers(), within(Dropped), answers()]));
            0
        }
        // SAFETY: as above.
        unsafe { libc::qsort(numbers.as_mut_ptr().cast(), 2, size_of::<u32>(), Some(catches)) };
        assert!(SEEN.get().iter().all(|&(ends, _)| ends));
    });
}

#[test]
fn without_a_frame_that_catches_it_cannot() {
    outermost(|| assert_eq!(answers(), (false, false)));
}

/// Questions about one function among the callers.
mod to_a_call {
    use super::*;

    /// The function: it catches a panic, and raises it again.
    #[inline(never)]
    pub(super) fn target(f: &mut dyn FnMut()) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(&mut *f)) {
            resume_unwind(panic);
        }
        // Not a tail call.
        std::hint::black_box(f);
    }

    /// Returns the answers for the innermost call of it, the next one, and so on.
    #[inline(never)]
    pub(super) fn calls<const N: usize>() -> [bool; N] {
        std::array::from_fn(|n| is_possible_to(target as *const () as usize, n + 1))
    }

    /// A value that asks when it is dropped, within another call or not.
    struct AsksTo<'a>(&'a Cell<[bool; 2]>, bool);

    impl Drop for AsksTo<'_> {
        fn drop(&mut self) {
            if self.1 { target(&mut || self.0.set(calls())) } else { self.0.set(calls()) }
        }
    }

    #[test]
    fn each_that_there_is() {
        assert_eq!(calls(), [false]);
        target(&mut || {
            assert_eq!(calls(), [true, false]);
            target(&mut || assert_eq!(calls(), [true, true, false]));
            // The beginning of a stack, without which nothing is known of `is_possible`.
            outermost(|| target(&mut || assert_eq!(calls(), [true, false])));
            assert_eq!(calls(), [true, false]);
        });
    }

    /// Whatever catches on the way raises the panic again.
    #[test]
    fn beyond_frames_that_catch() {
        #[inline(never)]
        fn catches(f: &mut dyn FnMut()) {
            assert!(catch_unwind(AssertUnwindSafe(&mut *f)).is_ok());
        }
        target(&mut || catches(&mut || target(&mut || catches(&mut || assert_eq!(calls(), [true, true])))));
    }

    /// A destructor that a panic runs cannot be left, but its callees can be unwound.
    #[test]
    fn in_a_destructor_that_runs_in_a_panic() {
        for is_within in [false, true] {
            let seen = Cell::new([false, false]);
            target(&mut || {
                drop(AsksTo(&seen, is_within));
                assert_eq!(seen.get(), [true, is_within]);
                let panic = catch_unwind(AssertUnwindSafe(|| {
                    let _asks = AsksTo(&seen, is_within);
                    resume_unwind(Box::new(()));
                }));
                assert!(panic.is_err());
                assert_eq!(seen.get(), [is_within, false]);
                assert_eq!(calls(), [true, false]);
            });
        }
    }

    /// A call that the foreign code makes can be left, and one around it cannot.
    #[test]
    fn beyond_a_call_from_foreign_code() {
        thread_local! {
            static SEEN: Cell<[bool; 2]> = const { Cell::new([true, true]) };
            static WITHIN: Cell<[bool; 2]> = const { Cell::new([false, true]) };
        }
        extern "C" fn compare(_: *const c_void, _: *const c_void) -> c_int {
            SEEN.set(calls());
            target(&mut || WITHIN.set(calls()));
            0
        }
        target(&mut || {
            let mut numbers = [2_u32, 1];
            // SAFETY: the array has two elements of this size, and the comparison reads neither.
            unsafe { libc::qsort(numbers.as_mut_ptr().cast(), 2, size_of::<u32>(), Some(compare)) };
        });
        assert_eq!((SEEN.get(), WITHIN.get()), ([false, false], [true, false]));
    }

    #[test]
    fn a_function_that_does_not_catch() {
        #[inline(never)]
        fn passes(f: &mut dyn FnMut()) {
            f();
            std::hint::black_box(f);
        }
        let is_possible = || is_possible_to(passes as *const () as usize, 1);
        target(&mut || passes(&mut || assert!(!is_possible())));
        assert!(!is_possible());
    }
}
