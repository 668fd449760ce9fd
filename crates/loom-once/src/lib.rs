//! The names of [loom](https://docs.rs/loom) that the models of Lisle use, on the threads and types
//! of `std`. A model that is checked here runs once, in whichever schedule comes.
//!
//! It is for Miri. Loom takes a model through its schedules, and knows only the memory in its own
//! cells. Miri takes the model through one schedule for each seed. It knows every byte, the rights of
//! each reference, and freed memory. So Miri checks the protocols, which it could not reach
//! otherwise, because the code around them switches stacks.

/// Runs models.
pub mod model {
    /// Runs models.
    #[derive(Debug, Default)]
    pub struct Builder {
        /// Has no effect here.
        pub preemption_bound: Option<usize>,
    }

    impl Builder {
        /// Creates a builder.
        pub fn new() -> Self {
            Self::default()
        }

        /// Runs `model` once.
        ///
        /// # Panics
        ///
        /// Panics if the model does.
        pub fn check(&self, model: impl Fn() + Sync + Send + 'static) {
            model();
        }
    }
}

/// Runs `model` once.
///
/// # Panics
///
/// Panics if the model does.
pub fn model(model: impl Fn() + Sync + Send + 'static) {
    model::Builder::new().check(model);
}

/// Threads. Their functions and results need not be `Send`, as for loom: this is for models, and not
/// sound for other code.
pub mod thread {
    pub use std::thread::{Thread, current, park, yield_now};

    /// A value that goes to another thread, whatever it is.
    struct Sent<T>(T);

    // SAFETY: a model argues itself what its threads may share, and to find a race in that is what
    // it is run for.
    unsafe impl<T> Send for Sent<T> {}

    impl<T> Sent<T> {
        /// Returns the value. (A closure that calls it has captured all of the wrapper.)
        fn into_inner(self) -> T {
            self.0
        }
    }

    /// A handle to join a thread.
    pub struct JoinHandle<T>(std::thread::JoinHandle<Sent<T>>);

    impl<T> std::fmt::Debug for JoinHandle<T> {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.debug_tuple("JoinHandle").field(&self.0).finish()
        }
    }

    impl<T> JoinHandle<T> {
        /// Waits for the thread to end.
        ///
        /// # Errors
        ///
        /// Returns the payload if the thread has panicked.
        pub fn join(self) -> std::thread::Result<T> {
            self.0.join().map(Sent::into_inner)
        }

        /// Returns the thread.
        pub fn thread(&self) -> &Thread {
            self.0.thread()
        }
    }

    /// Spawns a thread.
    pub fn spawn<F: FnOnce() -> T + 'static, T: 'static>(f: F) -> JoinHandle<T> {
        let f = Sent(f);
        JoinHandle(std::thread::spawn(move || Sent(f.into_inner()())))
    }
}

/// What threads share.
pub mod sync {
    pub use std::sync::{Arc, Condvar, Mutex, MutexGuard, atomic};

    /// A flag that one thread waits for.
    #[derive(Debug, Default)]
    pub struct Notify {
        is_set: Mutex<bool>,
        changed: Condvar,
    }

    impl Notify {
        /// Creates a flag that is not set.
        pub fn new() -> Self {
            Self::default()
        }

        /// Sets the flag.
        pub fn notify(&self) {
            *self.is_set.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = true;
            self.changed.notify_one();
        }

        /// Waits until the flag is set, and clears it.
        pub fn wait(&self) {
            let mut is_set = self.is_set.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            while !std::mem::take(&mut *is_set) {
                is_set = self.changed.wait(is_set).unwrap_or_else(std::sync::PoisonError::into_inner);
            }
        }
    }
}

/// Cells.
pub mod cell {
    pub use std::cell::Cell;

    /// The cell of `std`, by loom's methods.
    #[derive(Debug)]
    pub struct UnsafeCell<T: ?Sized>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        /// Creates a cell.
        pub const fn new(value: T) -> Self {
            UnsafeCell(std::cell::UnsafeCell::new(value))
        }

        /// Returns the value.
        pub fn into_inner(self) -> T {
            self.0.into_inner()
        }
    }

    impl<T: ?Sized> UnsafeCell<T> {
        /// Calls `f` with a pointer for reading.
        pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            f(self.0.get())
        }

        /// Calls `f` with a pointer for writing.
        pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }
    }
}

/// Futures.
pub mod future {
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::{Context, Poll, Wake, Waker};
    use std::thread::Thread;

    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    /// Runs `future` to its end on this thread.
    pub fn block_on<F: Future>(future: F) -> F::Output {
        let mut future = pin!(future);
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        loop {
            match future.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(value) => return value,
                Poll::Pending => std::thread::park(),
            }
        }
    }
}
