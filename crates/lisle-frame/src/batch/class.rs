//! The class of a function, which holds for all its calls: types, deadline, order.

use std::any::TypeId;
use std::cell::RefCell;
use std::collections::HashMap;
use std::panic::Location;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

mod sealed {
    pub trait Sealed<Signature> {}
}

/// A function that may be called from another thread. [`Foreign`](crate::Foreign) takes such
/// functions.
///
/// All functions and closures with up to four arguments implement it, if they can be cloned and
/// sent to another thread, and if their arguments and result can be sent.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be called on another thread",
    label = "not a foreign function",
    note = "a foreign function is a `Fn` that can be cloned and takes up to four arguments",
    note = "its arguments, its result and its captures are `Send` (an `Arc`, not an `Rc`) and borrow nothing (`'static`): \
            values are moved to the call; `World::lend` lends data of the host to it"
)]
pub trait Native<Signature>: sealed::Sealed<Signature> + Clone + Send + 'static {
    /// The argument, or a tuple of several.
    type Args: Send + 'static;
    /// The result.
    type Output: Send + 'static;

    /// Calls the function.
    fn run(&self, args: Self::Args) -> Self::Output;
}

macro_rules! native {
    ($args:ty; $($name:ident),*; $pattern:pat) => {
        impl<F, R, $($name),*> sealed::Sealed<fn($($name),*) -> R> for F where F: Fn($($name),*) -> R {}

        impl<F, R, $($name),*> Native<fn($($name),*) -> R> for F
        where
            F: Fn($($name),*) -> R + Clone + Send + 'static,
            R: Send + 'static,
            $($name: Send + 'static),*
        {
            type Args = $args;
            type Output = R;

            #[inline(always)]
            #[allow(non_snake_case)]
            fn run(&self, $pattern: Self::Args) -> R {
                self($($name),*)
            }
        }
    };
}

native!((); ; ());
native!(A; A; A);
native!((A, B); A, B; (A, B));
native!((A, B, C); A, B, C; (A, B, C));
native!((A, B, C, D); A, B, C, D; (A, B, C, D));

/// The treatment of a call that has not returned in time.
///
/// The time begins when the world has nothing else to do and begins to wait for the call. A
/// function that is running cannot be stopped. If there are no workers, or none is free, calls run
/// on the world's own thread, and the frame always waits for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Deadline {
    /// The frame waits for the call, however long it takes.
    #[default]
    Wait,
    /// After this time the frame goes on without the stream, which keeps its last value, and gets
    /// the result in a later frame.
    KeepLast(Duration),
    /// After this time the call fails with [`ForeignCallError::Deadline`](crate::ForeignCallError::Deadline). Its
    /// result is dropped when it comes.
    Cancel(Duration),
}

impl Deadline {
    /// Returns how many nanoseconds the world waits.
    pub(crate) fn nanos(self) -> u64 {
        match self {
            Deadline::Wait => u64::MAX,
            Deadline::KeepLast(time) | Deadline::Cancel(time) => {
                u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
            }
        }
    }
}

/// The properties that all calls of a function have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Class {
    pub(crate) name: &'static str,
    /// A number that only this function has.
    pub(crate) id: u32,
    pub(crate) deadline: Deadline,
    pub(crate) unordered: bool,
    pub(crate) homed: bool,
    /// A fixed number of calls in a batch, or 0.
    pub(crate) batch: u32,
    pub(crate) delay: Duration,
}

impl Class {
    pub(crate) fn new(name: &'static str) -> Class {
        Class {
            name,
            id: 0,
            deadline: Deadline::Wait,
            unordered: false,
            homed: false,
            batch: 0,
            delay: Duration::from_micros(50),
        }
    }

    /// Keeps the class of a function for good: every call refers to it.
    pub(crate) fn keep(self) -> &'static Class {
        static IDS: AtomicU32 = AtomicU32::new(0);
        // The classes are in a list, so that tools that look for leaks find them in use.
        static ALL: Mutex<Vec<&Class>> = Mutex::new(Vec::new());
        let id = IDS.fetch_add(1, Ordering::Relaxed);
        assert_ne!(
            id,
            u32::MAX,
            "too many foreign functions were made: make each of them once, not for each call"
        );
        let class = Box::leak(Box::new(Class { id, ..self }));
        ALL.lock().unwrap_or_else(PoisonError::into_inner).push(class);
        class
    }

    /// Returns the class of the closures of a type. Closures have no name: their class has the
    /// place of the first closure of the type that is called. A thread looks into the common table
    /// once for each type.
    pub(crate) fn of_closures<F: 'static>(site: &'static Location<'static>) -> &'static Class {
        type Classes = HashMap<TypeId, &'static Class>;
        static ALL: LazyLock<Mutex<Classes>> = LazyLock::new(Mutex::default);
        thread_local! {
            static KNOWN: RefCell<Classes> = RefCell::default();
        }
        let from_all = || {
            let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
            *all.entry(TypeId::of::<F>()).or_insert_with(|| Class::new(site.to_string().leak()).keep())
        };
        // At the end of a thread it is gone.
        let known =
            KNOWN.try_with(|known| *known.borrow_mut().entry(TypeId::of::<F>()).or_insert_with(from_all));
        known.unwrap_or_else(|_| from_all())
    }
}
