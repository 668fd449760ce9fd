//! What a program is made of, whichever tool runs it.

use std::ops::DerefMut;

/// The threads of a tool, and what they share. Atomics are used in sequentially consistent order.
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
