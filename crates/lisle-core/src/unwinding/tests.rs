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
        // What such a function may do with a panic is catch it, and not raise it again.
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
