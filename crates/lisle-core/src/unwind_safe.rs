//! The types that are unwind safe: they may be seen on both sides of a caught panic.
//!
//! The compiler gives [`UnwindSafe`] and [`RefUnwindSafe`] to no type with a cell, a lock or a
//! pointer of its own, and nearly all types here have one. This module answers the question of the
//! two traits: can a panic leave a value half changed where other code sees it later?
//! `docs/design/0041-auto-traits.md` has the rules, and a test in `lisle` has every public type.
//!
//! Types that consist of these get the traits from the compiler.

use crate::channel::{
    AsyncSend, ClosedEvt, MailEvt, MailReceiver, MailSender, Multicast, Port, ReadyEvt, Receiver, RecvEvt,
    SendAsyncEvt, SendEvt, SendWithEvt, Sender,
};
use crate::event::{EventFuture, Nack, Source};
use crate::kill_safe::{self, Requests};
use crate::rpc::{self, Entry};
use crate::sync::{
    Barrier, Condition, Condvar, IVar, Latch, Lease, MVar, Member, Mutex, MutexGuard, OnceCell, Party,
    RwLock, RwLockReadGuard, RwLockWriteGuard, Semaphore, WaitGroup, Watch, Watcher, ZeroEvt,
};
use crate::time::Ticker;
use std::panic::{RefUnwindSafe, UnwindSafe};

/// Gives both traits to types whatever their parameters are.
macro_rules! always_whole {
    ($([$($parameters:tt)*] $type:ty;)*) => {
        $(
            impl<$($parameters)*> UnwindSafe for $type {}
            impl<$($parameters)*> RefUnwindSafe for $type {}
        )*
    };
}

// Messages go in and come out whole, and no code of the user's runs while a channel or the line of
// a server is changed. So after a panic a channel is as good as any other, as with the channels of
// `std`.
always_whole! {
    [T] Sender<T>;
    [T] Receiver<T>;
    [T] RecvEvt<'_, T>;
    [T: Send + 'static] AsyncSend<T>;
    [T] MailSender<T>;
    [T] MailReceiver<T>;
    [T] MailEvt<'_, T>;
    [] ReadyEvt<'_>;
    [] ClosedEvt<'_>;
    [A, B] rpc::Caller<A, B>;
    [A, B] Entry<A, B>;
    [A, B] kill_safe::Server<A, B>;
    [A, B] Requests<A, B>;
}

// Counts and flags, which change in one step. The function of a barrier runs outside of the lock,
// and if it panics the round is taken back.
always_whole! {
    [] Nack;
    [] Barrier;
    [] Party;
    [] Condition;
    [] Condvar;
    [] Latch;
    [] WaitGroup;
    [] Member;
    [] ZeroEvt<'_>;
    [] Semaphore;
    [] Ticker;
}

// An event of sending is the channel, of which the above is true, and the message.
impl<T: UnwindSafe> UnwindSafe for SendEvt<'_, T> {}
impl<T: RefUnwindSafe> RefUnwindSafe for SendEvt<'_, T> {}
impl<T: UnwindSafe> UnwindSafe for SendAsyncEvt<'_, T> {}
impl<T: RefUnwindSafe> RefUnwindSafe for SendAsyncEvt<'_, T> {}
impl<T, F: UnwindSafe> UnwindSafe for SendWithEvt<'_, T, F> {}
impl<T, F: RefUnwindSafe> RefUnwindSafe for SendWithEvt<'_, T, F> {}

// Their values are also seen by shared reference, in the cell, by several performers: as with `Arc`
// and `OnceLock`, a panic may leave the inside of a value half changed.
impl<T: UnwindSafe + RefUnwindSafe> UnwindSafe for Multicast<T> {}
impl<T: UnwindSafe + RefUnwindSafe> RefUnwindSafe for Multicast<T> {}
impl<T: UnwindSafe + RefUnwindSafe> UnwindSafe for Port<T> {}
impl<T: UnwindSafe + RefUnwindSafe> RefUnwindSafe for Port<T> {}
impl<T: RefUnwindSafe> UnwindSafe for Watch<T> {}
impl<T: RefUnwindSafe> RefUnwindSafe for Watch<T> {}
impl<T: RefUnwindSafe> UnwindSafe for Watcher<T> {}
impl<T: RefUnwindSafe> RefUnwindSafe for Watcher<T> {}
impl<T: UnwindSafe> UnwindSafe for IVar<T> {}
impl<T: UnwindSafe + RefUnwindSafe> RefUnwindSafe for IVar<T> {}
impl<T: UnwindSafe> UnwindSafe for OnceCell<T> {}
impl<T: UnwindSafe + RefUnwindSafe> RefUnwindSafe for OnceCell<T> {}
impl<T: UnwindSafe> UnwindSafe for MVar<T> {}
impl<T: UnwindSafe + RefUnwindSafe> RefUnwindSafe for MVar<T> {}
// A lease shows the value and does not change it: one that a panic drops leaves the old value.
impl<T: RefUnwindSafe> UnwindSafe for Lease<'_, T> {}
impl<T: RefUnwindSafe> RefUnwindSafe for Lease<'_, T> {}

// Not `RefUnwindSafe`: a holder that panics leaves the value half changed for the next, and no
// poison tells the next holder, as with the locks of parking_lot. The owner of the lock owns the
// value.
impl<T: ?Sized + UnwindSafe> UnwindSafe for Mutex<T> {}
impl<T: ?Sized + UnwindSafe> UnwindSafe for RwLock<T> {}
// The state of a source is changed under its lock by functions of the user's, likewise.
impl<S: UnwindSafe, M, L: UnwindSafe> UnwindSafe for Source<S, M, L> {}
// A guard stands for the reference that it gives: `&mut T` is not `UnwindSafe`.
impl<T: ?Sized + RefUnwindSafe> RefUnwindSafe for MutexGuard<'_, T> {}
impl<T: ?Sized + RefUnwindSafe> RefUnwindSafe for RwLockWriteGuard<'_, T> {}
impl<T: ?Sized + RefUnwindSafe> UnwindSafe for RwLockReadGuard<'_, T> {}
impl<T: ?Sized + RefUnwindSafe> RefUnwindSafe for RwLockReadGuard<'_, T> {}

// If a panic comes out of a poll, the performance has been withdrawn before, and the future is not
// polled again. Only the event remains.
impl<E: UnwindSafe, const WORDS: usize> UnwindSafe for EventFuture<E, WORDS> {}
impl<E: RefUnwindSafe, const WORDS: usize> RefUnwindSafe for EventFuture<E, WORDS> {}
