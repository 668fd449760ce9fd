//! The systems that are measured, and the programs of systems that are not Rust libraries.

mod elsewhere;

pub(crate) use elsewhere::{Missing, own_command, pass_own, prepare};

use crate::limits;

/// A library or language that a user could pick.
pub(crate) struct System {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// The fewest workers with which there is something for it to do.
    pub(crate) least_workers: usize,
    /// The most workers it can use, if it has a limit.
    pub(crate) most_workers: usize,
    pub(crate) kind: Kind,
}

/// On which side of a comparison a system stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The work alone: shown beside the others, and no rival of theirs.
    Reference,
    /// A form of Lisle's. The best of them is compared.
    Own,
    Peer,
}

const fn system(name: &'static str, about: &'static str) -> System {
    System { name, about, least_workers: 1, most_workers: usize::MAX, kind: Kind::Peer }
}

const fn own(name: &'static str, about: &'static str) -> System {
    System { kind: Kind::Own, ..system(name, about) }
}

const fn reference(name: &'static str, about: &'static str) -> System {
    System { most_workers: 1, kind: Kind::Reference, ..system(name, about) }
}

/// A reference for messages between cores.
const fn between_cores(name: &'static str, about: &'static str) -> System {
    System { least_workers: 2, kind: Kind::Reference, ..system(name, about) }
}

const fn one_worker(name: &'static str, about: &'static str) -> System {
    System { most_workers: 1, ..system(name, about) }
}

/// In the order of the tables. A new one comes last: its place decides its colour in the plots.
pub(crate) static ALL: &[System] = &[
    reference("serial", "one thread, and no others: the work alone"),
    reference("call", "a plain function call"),
    own("lisle", "this library"),
    own("lisle-tasks", "this library's tasks and asynchronous events"),
    own("lisle-fibers", "this library, with fibers in the place of tasks"),
    own("lisle-send-async", "this library, messages sent asynchronously"),
    own("lisle-choose-all", "this library, all of several events"),
    own("lisle-inline", "this library's tasks, none of which is inflated"),
    own("lisle-threads", "this library between plain threads"),
    own("lisle-choose", "this library, by its choice rather than its wait set"),
    own("lisle-futures", "this library's events as futures on tokio"),
    one_worker("tokio-ct", "tokio's current-thread runtime with its own channels"),
    system("tokio-mt", "tokio's multi-thread runtime with its own channels"),
    system("kanal", "kanal's channels on tokio"),
    system("flume", "flume's channels on tokio"),
    system("async-channel", "async-channel on tokio"),
    system("smol", "smol's executor with its channels"),
    system("may", "may's stackful coroutines and channels"),
    system("threads", "threads and channels of Rust's standard library"),
    system("crossbeam-channel", "crossbeam's channels on threads"),
    system("parking_lot", "parking_lot's locks on threads"),
    system("rayon", "rayon's parallel iterators"),
    system("chili", "chili's fork and join"),
    system("onetbb", "oneTBB's algorithms (C++)"),
    system("openmp", "OpenMP, as g++ has it (C++)"),
    system("go", "Go's goroutines and channels"),
    system("java", "Java's virtual threads and queues"),
    system("boost-fiber", "Boost.Fiber's fibers and channels (C++)"),
    system("guile-fibers", "Guile Fibers' fibers and channels (Scheme)"),
    system("tokio-rayon", "tokio beside rayon"),
    system("tokio-blocking", "tokio and its pool for what blocks"),
    system("hyper", "hyper on tokio"),
    system("nginx", "nginx"),
    system("bevy-ecs", "Bevy's entities and systems"),
    system("bevy-tasks", "Bevy's pool of tasks"),
    own("lisle-loop", "this library's parallel loops, beside its streams"),
    own("lisle-domains", "this library's streams, their calls made by the domains of a runtime"),
    own("lisle-batches", "this library's streams, their calls in batches of a hundred"),
    own("lisle-chunks", "this library's streams, one for several of what moves"),
    own("lisle-homed", "this library's streams, the calls of each made by one worker"),
    own("lisle-chain", "this library's streams, calls in a row made as one"),
    system("onetbb-affinity", "oneTBB's loops with an affinity partitioner (C++)"),
    own("lisle-in-place", "this library's effects, answered in place"),
    own("lisle-channel", "this library's channel between two fibers"),
    one_worker("corosensei", "corosensei's stackful coroutines"),
    one_worker("genawaiter", "genawaiter's generators, out of futures"),
    one_worker("boost-context", "Boost.Context's stackful coroutines (C++)"),
    one_worker("go-pull", "Go's coroutines: iter.Pull"),
    one_worker("libmpeff", "libmpeff's effect handlers (C)"),
    one_worker("ocaml", "OCaml's effect handlers"),
    own("lisle-blocking", "this library's pool of threads for what blocks"),
    own("lisle-uring", "io_uring, waited for by this library's fibers"),
    system("io-uring", "Linux's io_uring, on one thread"),
    between_cores(
        limits::NAME,
        "two threads that alternate on words of memory: what a message between cores takes at least",
    ),
    system("std", "the standard library's mutex, between threads"),
    system("pthread", "the C library's mutex"),
    system("pthread-adaptive", "the C library's adaptive mutex, which spins before it sleeps"),
    system("usync", "usync's mutex, between threads"),
    system("spin", "the spin crate's mutex"),
    system("test-and-set", "a spin lock that sets its flag until it was clear"),
    system("spin-amd", "a spin lock that reads its flag, and pauses"),
    system("spin-yield", "a spin lock that pauses sixteen times, and yields"),
    system("spin-backoff", "a spin lock that pauses and sleeps, twice as long each time"),
    system("ticket", "a ticket lock that pauses"),
    system("ticket-yield", "a ticket lock that pauses sixteen times, and yields"),
    system("mcs", "an MCS lock that pauses"),
    system("mcs-yield", "an MCS lock that pauses sixteen times, and yields"),
    system("clh", "a CLH lock that pauses"),
    system("clh-yield", "a CLH lock that pauses sixteen times, and yields"),
    system("hemlock", "a Hemlock that pauses"),
    system("hemlock-yield", "a Hemlock that pauses sixteen times, and yields"),
    system("reciprocating", "a reciprocating lock that pauses"),
    system("reciprocating-yield", "a reciprocating lock that pauses sixteen times, and yields"),
    own("lisle-semaphore-threads", "this library's semaphore, between plain threads"),
    own("lisle-semaphore", "this library's semaphore"),
    own("lisle-semaphore-tasks", "this library's semaphore, between tasks"),
    system("tokio-semaphore", "tokio's semaphore"),
    system("smol-semaphore", "smol's semaphore"),
    system("std-rwlock", "the standard library's readers-writer lock, between threads"),
    system("parking_lot-rwlock", "parking_lot's readers-writer lock, between threads"),
    own("lisle-rwlock-threads", "this library's readers-writer lock, between plain threads"),
    own("lisle-rwlock", "this library's readers-writer lock"),
    own("lisle-rwlock-tasks", "this library's readers-writer lock, between tasks"),
    system("tokio-rwlock", "tokio's readers-writer lock"),
    system("smol-rwlock", "smol's readers-writer lock"),
    system("std-condvar", "the standard library's condition variable, between threads"),
    system("parking_lot-condvar", "parking_lot's condition variable, between threads"),
    own("lisle-condvar-threads", "this library's condition variable, between plain threads"),
    own("lisle-condvar", "this library's condition variable"),
    own("lisle-condvar-tasks", "this library's condition variable, between tasks"),
    system("tokio-notify", "tokio's notifications in the place of a condition variable"),
    System { kind: Kind::Reference, ..system("clock", "threads that only look at the clock") },
    own("lisle-heap", "this library's garbage-collected heap"),
    system("box", "Rust's boxes, on mimalloc"),
    system("arc", "Rust's counted references, on mimalloc"),
    system("gc-arena", "gc-arena's heap, one for each thread"),
    system("dumpster", "dumpster's counted references, which find cycles"),
    system("boehm", "Boehm's conservative collector (C)"),
    system("go-heap", "Go's collector"),
    system("java-g1", "Java's collector G1"),
    system("java-zgc", "Java's collector ZGC"),
    system("ocaml-heap", "OCaml's collector, with a domain for each thread"),
];

/// Whether a form of Lisle's is called so.
pub(crate) fn is_own(name: &str) -> bool {
    kind(name) == Some(Kind::Own)
}

/// `None`: there is no such system.
pub(crate) fn kind(name: &str) -> Option<Kind> {
    find(name).map(|system| system.kind)
}

pub(crate) fn find(name: &str) -> Option<&'static System> {
    ALL.iter().find(|system| system.name == name)
}
