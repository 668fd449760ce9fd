//! A runtime that ends, and fibers that wait within calls of C++.

use crate::{Functions, cxx, waits_for_ever};
use lisle::{Runtime, Shutdown, channel};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Ends a runtime with a fiber that waits within `f`.
fn shut_down(f: fn(&Functions), deadline: Duration) -> Shutdown {
    cxx();
    let runtime = Runtime::builder().domains(1).start().unwrap();
    let (tell, told) = channel::<()>();
    drop(runtime.spawn(move || {
        lisle::fiber::Builder::new().name("within").spawn(move || {
            tell.send(()).unwrap();
            f(cxx());
        });
    }));
    told.recv().unwrap();
    runtime.shutdown(deadline)
}

const LONG: Duration = Duration::from_secs(60);
/// A fiber that is left is left after any time.
const SHORT: Duration = Duration::from_millis(200);

#[test]
#[ignore = "needs a C++ compiler"]
fn frames_that_destroy_something_are_unwound() {
    static DESTROYED: AtomicU32 = AtomicU32::new(0);
    let shutdown = shut_down(
        |cxx| {
            let mut count = 0;
            struct Tells(*const i32);
            impl Drop for Tells {
                fn drop(&mut self) {
                    // SAFETY: it is dropped before the count.
                    DESTROYED.fetch_add(unsafe { *self.0 } as u32, Ordering::SeqCst);
                }
            }
            let _tells = Tells(&raw const count);
            // SAFETY: it lets panics pass.
            unsafe { (cxx.destroys)(&raw mut count, waits_for_ever) };
        },
        LONG,
    );
    assert!(shutdown.is_clean(), "{shutdown:?}");
    assert_eq!(DESTROYED.load(Ordering::SeqCst), 1);
}

#[test]
#[ignore = "needs a C++ compiler"]
fn frames_that_catch_something_else_are_unwound() {
    let shutdown = shut_down(
        |cxx| {
            // SAFETY: it catches numbers, and lets panics pass.
            unsafe { (cxx.catches)(waits_for_ever) };
        },
        LONG,
    );
    assert!(shutdown.is_clean(), "{shutdown:?}");
}

/// A frame that catches everything might swallow the panic, which would end the process; the table
/// does not say whether it does. So the fiber is left, and named.
#[test]
#[ignore = "needs a C++ compiler"]
fn frames_that_no_panic_passes_stay() {
    let calls: [fn(&Functions); 4] = [
        // SAFETY: nothing is thrown.
        |cxx| unsafe { (cxx.swallows)(waits_for_ever) },
        // SAFETY: as above.
        |cxx| unsafe { (cxx.throws_on)(waits_for_ever) },
        // SAFETY: as above.
        |cxx| unsafe { (cxx.is_noexcept)(waits_for_ever) },
        // SAFETY: as above.
        |cxx| unsafe { (cxx.destroys_and_is_noexcept)(waits_for_ever) },
    ];
    for call in calls {
        let shutdown = shut_down(call, SHORT);
        assert_eq!(shutdown.unfinished, 1, "{shutdown}");
        assert!(shutdown.to_string().contains("fiber 'within'"), "{shutdown}");
    }
}
