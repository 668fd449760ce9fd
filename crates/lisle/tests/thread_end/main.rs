//! Thread-locals and the library: how they are made, and the operations that their destructors may
//! use. In a process of its own, since a panic that leaves such a destructor ends the process.

mod initializers;
mod kept;
mod left;
mod operations;

use std::cell::{Cell, RefCell};
use std::sync::mpsc::{Sender, channel};

/// Runs all operations when it is dropped, and tells those that did not work.
struct Works(&'static str, Sender<String>);

impl Drop for Works {
    fn drop(&mut self) {
        for (name, operation) in operations::ALL {
            if let Err(panic) = std::panic::catch_unwind(operation) {
                let message = panic.downcast_ref::<String>().cloned();
                let message = message.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
                self.1
                    .send(format!("{name}, in the {} one: {}", self.0, message.unwrap_or_default()))
                    .unwrap();
            }
        }
    }
}

/// Each operation works in the destructor of a thread-local, whether the locals of the library have
/// gone before it or go after it.
#[test]
fn what_the_destructors_of_thread_locals_do() {
    thread_local! {
        static OLDER: RefCell<Option<Works>> = const { RefCell::new(None) };
        static YOUNGER: RefCell<Option<Works>> = const { RefCell::new(None) };
        static DONE: Cell<usize> = const { Cell::new(0) };
    }
    let (failed, failures) = channel();
    let thread = std::thread::spawn(move || {
        OLDER.set(Some(Works("older", failed.clone())));
        for (_, operation) in operations::ALL {
            operation();
            DONE.set(DONE.get() + 1);
        }
        YOUNGER.set(Some(Works("younger", failed)));
        DONE.get()
    });
    assert_eq!(thread.join().unwrap(), operations::ALL.len());
    assert_eq!(failures.iter().collect::<Vec<_>>(), Vec::<String>::new());
}

/// And in one of a thread that has not used the library before.
#[test]
fn what_they_do_first() {
    thread_local! {
        static ONLY: RefCell<Option<Works>> = const { RefCell::new(None) };
    }
    let (failed, failures) = channel();
    std::thread::spawn(move || ONLY.set(Some(Works("only", failed)))).join().unwrap();
    assert_eq!(failures.iter().collect::<Vec<_>>(), Vec::<String>::new());
}
