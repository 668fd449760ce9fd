//! The library from outside: what an event library must show, case by case, in every setting that
//! makes sense. The numbers in the tests' comments are those of the list of behaviours that was
//! gathered from the tests of Racket's `sync`, Guile Fibers, crossbeam-channel, Kotlin's coroutines,
//! Hopac, OCaml's `Event`, and from Reppy's *Concurrent Programming in ML*.

mod barrier;
mod cells;
mod channel;
mod choice;
mod closing;
mod completion;
mod condvar;
mod crash;
mod crowd;
mod differential;
mod drops;
mod fairness;
mod forwarding;
mod futures;
mod guards;
mod hosts;
mod kill_safe;
mod latch;
mod lines;
mod mailbox;
mod misuse;
mod multicast;
mod mutex;
mod mvar;
mod nacks;
mod net;
mod once;
mod outside;
mod pairing;
mod parasites;
mod ported_crossbeam;
mod ported_go;
mod ported_others;
mod process;
mod programs;
mod rpc;
mod runtimes;
mod rwlock;
mod same_event;
mod scopes;
mod select;
mod semaphore;
mod semaphores;
mod signals;
mod stages;
mod storm;
mod support;
mod timers;
mod turns;
mod wait_set;
mod waiting;
mod watch;
