//! The operations of the programs, for every tool.

use std::ops::DerefMut;

/// The threads of a tool, and the types that they share. Atomics are used in sequentially
/// consistent order.
pub(crate) trait Threads: 'static {
    type Thread;
    type Mutex: Send + Sync + 'static;
    type Guard<'a>: DerefMut<Target = u32>;
    type Condvar: Send + Sync + 'static;
    type Atomic: Send + Sync + 'static;

    fn spawn(body: impl FnOnce() + Send + 'static) -> Self::Thread;
    fn join(thread: Self::Thread);

    fn mutex(value: u32) -> Self::Mutex;
    fn lock(mutex: &Self::Mutex) -> Self::Guard<'_>;

    fn condvar() -> Self::Condvar;
    fn wait<'a>(condvar: &Self::Condvar, guard: Self::Guard<'a>) -> Self::Guard<'a>;
    fn notify(condvar: &Self::Condvar);

    fn atomic(value: u32) -> Self::Atomic;
    fn load(atomic: &Self::Atomic) -> u32;
    fn store(atomic: &Self::Atomic, value: u32);
    /// Returns `true` if the value was `current`, and is `new` now.
    fn exchange(atomic: &Self::Atomic, current: u32, new: u32) -> bool;
}

/// The threads of a tool whose types look like `std`'s. Takes the handle of a thread, the function
/// that spawns one, the modules with the locks and the atomics, and a function that makes a guard
/// from the result of `lock`: most tools have locks that can be poisoned.
macro_rules! threads {
    (
        $threads:ident: $spawn:path => $thread:ty,
        $($sync:ident)::+, $($atomic:ident)::+, |$taken:ident| $guard:expr
    ) => {
        struct $threads;

        impl $crate::Threads for $threads {
            type Thread = $thread;
            type Mutex = $($sync)::+::Mutex<u32>;
            type Guard<'a> = $($sync)::+::MutexGuard<'a, u32>;
            type Condvar = $($sync)::+::Condvar;
            type Atomic = $($atomic)::+::AtomicU32;

            fn spawn(body: impl FnOnce() + Send + 'static) -> Self::Thread {
                $spawn(body)
            }
            fn join(thread: Self::Thread) {
                thread.join().unwrap();
            }
            #[track_caller]
            fn mutex(value: u32) -> Self::Mutex {
                $($sync)::+::Mutex::new(value)
            }
            fn lock(mutex: &Self::Mutex) -> Self::Guard<'_> {
                let $taken = mutex.lock();
                $guard
            }
            #[track_caller]
            fn condvar() -> Self::Condvar {
                $($sync)::+::Condvar::new()
            }
            fn wait<'a>(condvar: &Self::Condvar, guard: Self::Guard<'a>) -> Self::Guard<'a> {
                let $taken = condvar.wait(guard);
                $guard
            }
            fn notify(condvar: &Self::Condvar) {
                condvar.notify_one();
            }
            fn atomic(value: u32) -> Self::Atomic {
                $($atomic)::+::AtomicU32::new(value)
            }
            fn load(atomic: &Self::Atomic) -> u32 {
                atomic.load($($atomic)::+::Ordering::SeqCst)
            }
            fn store(atomic: &Self::Atomic, value: u32) {
                atomic.store(value, $($atomic)::+::Ordering::SeqCst);
            }
            fn exchange(atomic: &Self::Atomic, current: u32, new: u32) -> bool {
                use $($atomic)::+::Ordering::SeqCst;
                atomic.compare_exchange(current, new, SeqCst, SeqCst).is_ok()
            }
        }
    };
}
pub(crate) use threads;
