//! Tells whether the locals of a thread are being destroyed.
//!
//! The system calls the destructors of thread-locals when a thread returns from its first function,
//! or when the process exits, one after another. Nothing that a program may read says so: a
//! thread-local of one's own is told of its own destruction only, and others may have gone before.
//! But the function of the C library that calls them is on the stack then. This module looks for it
//! there, as a debugger would.
//!
//! It does so where the C library is GNU's. Elsewhere the answer is always no.

/// Returns `true` if the code that runs here has been called by the destructor of a thread-local, as
/// far as that can be told. The cost is proportional to the depth of the stack.
#[cold]
#[inline(never)]
pub fn is_ending() -> bool {
    imp::is_ending()
}

#[cfg(all(target_os = "linux", target_env = "gnu", not(target_arch = "arm"), not(miri)))]
mod imp {
    use crate::unwinding::frames::walk;
    use std::ops::ControlFlow;
    use std::sync::OnceLock;

    /// Returns the address of the function that calls the destructors of a thread's locals, or 0.
    fn caller() -> usize {
        static CALLER: OnceLock<usize> = OnceLock::new();
        // SAFETY: the name is a C string, and the C library is not unloaded.
        let find = || unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__call_tls_dtors".as_ptr()) };
        *CALLER.get_or_init(|| find().addr())
    }

    pub(super) fn is_ending() -> bool {
        let caller = caller();
        let mut is_found = false;
        if caller != 0 {
            walk(|frame| {
                is_found = frame.start() == caller;
                if is_found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
        }
        is_found
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu", not(target_arch = "arm"), not(miri))))]
mod imp {
    pub(super) fn is_ending() -> bool {
        false
    }
}

#[cfg(all(test, target_os = "linux", target_env = "gnu", not(miri)))]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::sync::mpsc::{Sender, channel};

    struct Asks(Sender<bool>);

    impl Drop for Asks {
        fn drop(&mut self) {
            self.0.send(is_ending()).unwrap();
        }
    }

    #[test]
    fn in_a_destructor_of_a_thread_local_and_nowhere_else() {
        thread_local! {
            static ASKS: RefCell<Option<Asks>> = const { RefCell::new(None) };
        }
        let (tell, told) = channel();
        std::thread::spawn(move || {
            drop(Asks(tell.clone()));
            ASKS.set(Some(Asks(tell)));
            ASKS.with_borrow(|asks| asks.as_ref().unwrap().0.send(is_ending()).unwrap());
        })
        .join()
        .unwrap();
        assert_eq!(told.iter().collect::<Vec<_>>(), [false, false, true]);
    }
}
