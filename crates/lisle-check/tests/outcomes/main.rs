//! loom and the checker find the same outcomes of the library's primitives.
//!
//! loom runs small clients through the atomics inside of a primitive, in weak orders and
//! interrupted within each operation. The checker takes an operation for one step. It may do so
//! only if loom finds no outcome that the checker misses. So both run the same clients: for each
//! primitive, all clients of up to three operations by two threads. A list has the possible
//! outcomes of each client. The checker finds exactly the listed outcomes, and every outcome that
//! loom finds is listed.
//!
//! ```sh
//! cargo test -p lisle-check --test outcomes
//! RUSTFLAGS="--cfg lisle_loom" cargo test -p lisle-check --no-default-features --release --test outcomes
//! ```
//!
//! With `LISLE_OUTCOMES=write` the first of these writes the lists anew.

#![cfg(any(lisle_loom, feature = "programs"))]

mod clients;
#[cfg_attr(lisle_loom, path = "by_loom.rs")]
#[cfg_attr(not(lisle_loom), path = "by_checker.rs")]
mod explored;
mod listed;

use clients::Client;
use listed::List;

/// Explores all clients of a primitive, and compares their outcomes with the list.
fn compare<W: Send + Sync + 'static>(clients: &'static Client<W>) {
    let mut list = List::open(clients.primitive);
    for program in clients.programs() {
        explored::compare(clients, &program, &mut list);
    }
    list.close();
}

macro_rules! primitives {
    ($($name:ident)*) => { $(
        #[test]
        fn $name() {
            compare(&clients::$name::CLIENTS);
        }
    )* };
}

primitives! { mutex rwlock semaphore condvar barrier ivar rendezvous buffer }
