//! The library from outside: what an event library must show, case by case, in every setting that
//! makes sense. The numbers in the tests' comments are those of the list of behaviours that was
//! gathered from the tests of Racket's `sync`, Guile Fibers, crossbeam-channel, Kotlin's coroutines,
//! Hopac, OCaml's `Event`, and from Reppy's *Concurrent Programming in ML*.

mod cells;
mod channel;
mod choice;
mod closing;
mod condvar;
mod crash;
mod crowd;
mod drops;
mod fairness;
mod futures;
mod hosts;
mod mutex;
mod net;
mod outside;
mod pairing;
mod programs;
mod runtimes;
mod rwlock;
mod same_event;
mod scopes;
mod semaphore;
mod storm;
mod support;
mod timers;
mod turns;
