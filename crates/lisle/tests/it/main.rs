//! The library from outside: what an event library must show, case by case, in every setting that
//! makes sense. The numbers in the tests' comments are those of the list of behaviours that was
//! gathered from the tests of Racket's `sync`, Guile Fibers, crossbeam-channel, Kotlin's coroutines,
//! Hopac, OCaml's `Event`, and from Reppy's *Concurrent Programming in ML*.

mod cells;
mod channel;
mod choice;
mod closing;
mod crash;
mod crowd;
mod differential;
mod drops;
mod fairness;
mod forwarding;
mod futures;
mod guards;
mod hosts;
mod nacks;
mod net;
mod outside;
mod pairing;
mod ported_crossbeam;
mod ported_go;
mod ported_others;
mod programs;
mod runtimes;
mod same_event;
mod scopes;
mod semaphore;
mod stages;
mod storm;
mod support;
mod timers;
mod turns;
