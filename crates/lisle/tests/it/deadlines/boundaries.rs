//! Waits that a deadline does not reach, and computations that it must not leave.

use super::{LONG, SOON};
use crate::support::{on_domains, watched};
use lisle::effect::{Effect, handle, perform};
use lisle::fiber::no_suspend;
use lisle::time::{DeadlinePassed, sleep, with_deadline};
use lisle::{Event, channel, never, par};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

#[test]
fn a_task_that_begins_within_is_not_part_of_the_call() {
    on_domains(|| {
        let mut task = None;
        // It waits in place, on this stack, beyond the deadline.
        let begun = with_deadline(SOON, || {
            task = Some(lisle::spawn_task(async {
                sleep(2 * SOON);
                // One of its own counts.
                with_deadline(SOON, || sleep(LONG))
            }));
            sleep(LONG);
        });
        assert_eq!(begun, Err(DeadlinePassed));
        assert_eq!(task.unwrap().join().unwrap(), Err(DeadlinePassed));
    });
}

#[test]
fn halves_of_a_join_end() {
    on_domains(|| {
        let ended = with_deadline(SOON, || par::join(|| sleep(LONG), || ()));
        assert_eq!(ended, Err(DeadlinePassed));
        let sum = with_deadline(LONG, || par::join(|| 1, || 2));
        assert_eq!(sum, Ok((1, 2)));
    });
}

#[test]
fn where_nothing_may_wait_no_wait_ends() {
    let _watched = watched();
    for in_fiber in [false, true] {
        let case = || {
            let (_tx, rx) = channel::<u32>();
            let refused =
                catch_unwind(AssertUnwindSafe(|| with_deadline(Duration::ZERO, || no_suspend(|| rx.recv()))));
            let panic = refused.unwrap_err();
            assert!(panic.downcast_ref::<String>().unwrap().contains("no_suspend"));
            let inside = no_suspend(|| with_deadline(Duration::ZERO, || 3));
            assert_eq!(inside, Ok(3));
        };
        if in_fiber { lisle::run(case) } else { case() }
    }
}

unsafe extern "C" {
    fn qsort(
        base: *mut c_void,
        count: usize,
        size: usize,
        compare: extern "C" fn(*const c_void, *const c_void) -> c_int,
    );
}

thread_local! {
    static COMPARED: Cell<u32> = const { Cell::new(0) };
}

extern "C" fn compare(_: *const c_void, _: *const c_void) -> c_int {
    // The deadline around the sort does not reach this function; a deadline of its own does.
    sleep(Duration::from_micros(100));
    assert_eq!(with_deadline(SOON, || sleep(LONG)), Err(DeadlinePassed));
    sleep(Duration::from_micros(100));
    COMPARED.set(COMPARED.get() + 1);
    0
}

#[test]
fn foreign_code_is_not_unwound() {
    let _watched = watched();
    let case = || {
        COMPARED.set(0);
        let after = Cell::new(false);
        let ended = with_deadline(Duration::ZERO, || {
            let mut numbers = [2, 1];
            // SAFETY: the pointer is to two integers of this size, and the function only compares.
            unsafe { qsort(numbers.as_mut_ptr().cast(), 2, size_of::<i32>(), compare) };
            after.set(true);
            sleep(LONG);
        });
        assert_eq!((ended, after.get()), (Err(DeadlinePassed), true));
        assert!(COMPARED.get() > 0);
    };
    case();
    lisle::Runtime::builder().domains(1).run(case);
}

struct Ask;
impl Effect for Ask {
    type Answer = u32;
}

#[test]
fn an_effect_must_not_take_the_call_with_it() {
    let _watched = watched();
    let case = || {
        let refused =
            catch_unwind(|| handle(|| with_deadline(LONG, || perform(Ask))).on(|Ask, k| k.resume(1)).run());
        let panic = refused.unwrap_err();
        let message = panic.downcast_ref::<String>().unwrap();
        assert!(message.contains("would suspend `with_deadline`"), "{message}");
        // An answer in place, and a handler within, are part of the call.
        let answered = handle(|| with_deadline(LONG, || perform(Ask))).answer(|Ask| 2).run();
        assert_eq!(answered, Ok(2));
        let within = with_deadline(LONG, || handle(|| perform(Ask)).on(|Ask, k| k.resume(3)).run());
        assert_eq!(within, Ok(3));
        // And end with it.
        let ended = with_deadline(SOON, || {
            handle(|| {
                perform(Ask);
                never::<()>().sync();
            })
            .on(|Ask, k| k.resume(4))
            .run()
        });
        assert_eq!(ended, Err(DeadlinePassed));
        let ended = handle(|| with_deadline(SOON, || perform(Ask)))
            .answer(|Ask| {
                sleep(LONG);
                5
            })
            .run();
        assert_eq!(ended, Err(DeadlinePassed));
    };
    case();
    lisle::Runtime::builder().domains(2).run(case);
}
