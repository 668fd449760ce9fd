//! Tests of the handler. A process dies in each, so each runs its body in a child.

use std::{cell::Cell, hint::black_box, ops::Range, os::unix::process::ExitStatusExt as _, process::Output};

use corosensei::{Coroutine, Yielder};

use super::{
    super::{DEFAULT_USABLE_SIZE, StackPool, tests::in_child},
    *,
};

thread_local! {
    static GUARD: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

fn describe(fault: usize, out: &mut dyn FnMut(&[u8])) -> bool {
    let (start, end) = GUARD.get();
    if !(start..end).contains(&fault) {
        return false;
    }
    out(b"fiber 'muncher' overflowed its stack of ");
    out(decimal(DEFAULT_USABLE_SIZE / 1024, &mut [0; 20]));
    out(b" KiB");
    true
}

fn run_on_stack(body: fn()) {
    let mut pool = StackPool::new(DEFAULT_USABLE_SIZE);
    let stack = pool.take().unwrap();
    let Range { start, end } = stack.guard();
    GUARD.set((start, end));
    let mut coroutine = Coroutine::with_stack(stack, move |_: &Yielder<(), ()>, ()| body());
    coroutine.resume(());
    pool.give(coroutine.into_stack());
}

fn recurse_for_ever() {
    fn recurse(depth: u64) -> u64 {
        let frame = black_box([depth; 16]);
        if depth == u64::MAX { 0 } else { recurse(depth + 1) + frame[3] }
    }
    black_box(recurse(0));
}

fn fault() {
    let address = black_box(std::ptr::without_provenance_mut::<u8>(16));
    // SAFETY: it is not safe: the child process must die of this write.
    unsafe { address.write_volatile(1) };
}

fn assert_message(output: &Output) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{stderr}");
    assert!(stderr.contains("\nlisle: fiber 'muncher' overflowed its stack of 1024 KiB; "), "{stderr}");
    assert!(stderr.contains("`stack_size` of its builder"), "{stderr}");
}

#[test]
fn overflow_is_named_and_aborts() {
    let Ok(output) = in_child(module_path!(), "overflow_is_named_and_aborts", "") else {
        install(describe);
        return run_on_stack(recurse_for_ever);
    };
    assert_message(&output);
}

#[test]
fn overflow_is_named_on_a_foreign_thread() {
    fn body() {
        let alt_stack = AltStack::ensure().expect("there is memory for an alternate stack");
        assert!(alt_stack.mapping.is_some(), "a foreign thread has none of its own");
        run_on_stack(recurse_for_ever);
    }
    let Ok(output) = in_child(module_path!(), "overflow_is_named_on_a_foreign_thread", "") else {
        install(describe);
        return on_foreign_thread(body);
    };
    assert_message(&output);
}

/// Runs `body` on a thread that the standard library has not started, and that has no alternate
/// stack.
fn on_foreign_thread(body: fn()) {
    extern "C" fn start(body: *mut libc::c_void) -> *mut libc::c_void {
        // A sanitizer's runtime has given the thread an alternate stack, and expects to find it
        // again at the end.
        let found = current_alt_stack(Some(DISABLED)).unwrap();
        // SAFETY: the argument comes from `pthread_create` below, which got such a function.
        let body = unsafe { mem::transmute::<*mut libc::c_void, fn()>(body) };
        body();
        if found.ss_flags & libc::SS_DISABLE == 0 {
            current_alt_stack(Some(found)).unwrap();
        }
        ptr::null_mut()
    }
    let mut thread = mem::MaybeUninit::uninit();
    let body = body as *mut libc::c_void;
    // SAFETY: `start` has the right signature and gets the argument it expects; default attributes
    // are asked for.
    let result = unsafe { libc::pthread_create(thread.as_mut_ptr(), ptr::null(), start, body) };
    assert_eq!(result, 0);
    // SAFETY: the call above succeeded, so it has set the value.
    let thread = unsafe { thread.assume_init() };
    // SAFETY: the thread is joined once, here.
    assert_eq!(unsafe { libc::pthread_join(thread, ptr::null_mut()) }, 0);
}

/// Runs `body`, which crashes, with and without the handler, and returns both outputs.
fn with_and_without(test: &str, body: fn()) -> Option<[Output; 2]> {
    match (in_child(module_path!(), test, "with"), in_child(module_path!(), test, "without")) {
        (Ok(with), Ok(without)) => Some([with, without]),
        (Err(part), _) | (_, Err(part)) => {
            if part == "with" {
                install(describe);
            }
            body();
            None
        }
    }
}

#[test]
fn another_fault_reaches_the_previous_handler() {
    let test = "another_fault_reaches_the_previous_handler";
    let Some([with, without]) = with_and_without(test, || run_on_stack(fault)) else { return };
    let stderr = String::from_utf8_lossy(&with.stderr);
    // `SIGSEGV`, or the status that a sanitizer's handler makes of it.
    assert_eq!(with.status, without.status, "{stderr}");
    assert!(
        stderr.contains("AddressSanitizer: SEGV") || with.status.signal() == Some(libc::SIGSEGV),
        "{stderr}"
    );
    assert!(!stderr.contains("lisle:"), "{stderr}");
}

#[test]
fn overflow_of_the_thread_itself_is_still_reported() {
    let test = "overflow_of_the_thread_itself_is_still_reported";
    let Some([with, without]) = with_and_without(test, recurse_for_ever) else { return };
    let stderr = String::from_utf8_lossy(&with.stderr);
    assert_eq!(with.status, without.status, "{stderr}");
    // In the words of the standard library, or of a sanitizer.
    let reported = ["has overflowed its stack", "AddressSanitizer: stack-overflow"];
    assert!(reported.iter().any(|words| stderr.contains(words)), "{stderr}");
    assert!(!stderr.contains("lisle:"), "{stderr}");
}

#[test]
fn a_sent_signal_is_not_lost() {
    let Ok(output) = in_child(module_path!(), "a_sent_signal_is_not_lost", "") else {
        restore_default(libc::SIGBUS);
        install(describe);
        // SAFETY: `raise` has no preconditions.
        unsafe { libc::raise(libc::SIGBUS) };
        return;
    };
    assert_eq!(output.status.signal(), Some(libc::SIGBUS), "{output:?}");
}

#[test]
fn a_plain_handler_is_called() {
    extern "C" fn leave(signal: libc::c_int) {
        // SAFETY: `_exit` may be called in a signal handler.
        unsafe { libc::_exit(100 + signal) };
    }
    let Ok(output) = in_child(module_path!(), "a_plain_handler_is_called", "") else {
        // SAFETY: `leave` has the signature of a handler and keeps to the rules of signal handlers.
        unsafe { libc::signal(libc::SIGSEGV, leave as *const () as libc::sighandler_t) };
        install(describe);
        install(|_, _| unreachable!("a second handler is not installed"));
        return run_on_stack(fault);
    };
    assert_eq!(output.status.code(), Some(100 + libc::SIGSEGV), "{output:?}");
}

#[test]
fn a_thread_with_an_alternate_stack_keeps_it() {
    fn body() {
        let outer = AltStack::ensure().unwrap();
        let set = current_alt_stack(None).unwrap();
        assert!(set.ss_size >= MIN_ALT_STACK);
        let inner = AltStack::ensure().unwrap();
        assert!(inner.mapping.is_none());
        drop(inner);
        assert_eq!(current_alt_stack(None).unwrap().ss_sp, set.ss_sp);
        drop(outer);
        assert_ne!(current_alt_stack(None).unwrap().ss_flags & libc::SS_DISABLE, 0);
    }
    on_foreign_thread(body);
}

#[test]
fn decimal_writes_all_numbers() {
    for number in [0, 7, 10, 256, usize::MAX] {
        assert_eq!(decimal(number, &mut [0; 20]), number.to_string().as_bytes());
    }
}
