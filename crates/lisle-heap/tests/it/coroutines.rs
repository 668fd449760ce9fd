//! Case 7, and coroutines of another crate in other orders.

use crate::scheme::numbers;
use crate::support::{Text, churn, ends, message, small, watched};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use lisle_heap::{Heap, Kind};
use std::cell::RefCell;
use std::sync::mpsc;
use std::thread;

const LEFT_OPEN: &str = "a scope of a heap was left open while an outer one ended";
const NOT_NESTED: &str = "a coroutine was suspended, or has ended, between the beginning and the end of a call in which nothing may wait";

/// A coroutine suspends itself in a scope, and the outer scope ends.
#[test]
fn case_07_a_scope_that_a_coroutine_leaves_open_ends_the_process() {
    ends("coroutine", NOT_NESTED, || {
        let heap = Heap::new();
        heap.enter(|s| {
            let inner = heap.clone();
            let mut coroutine = Coroutine::new(move |yielder: &Yielder<(), ()>, ()| {
                inner.enter(|s| {
                    numbers(s, 10);
                    yielder.suspend(());
                });
            });
            s.outside(|| coroutine.resume(()));
        });
    });
}

/// A coroutine leaves a fence on its stack in the list of its thread, where a later wait would read it.
#[test]
fn a_session_in_a_coroutine_that_ends_within_another_fence_ends_the_process() {
    ends("fence", NOT_NESTED, || {
        let heap = Heap::new();
        let mut coroutine = Coroutine::new(move |yielder: &Yielder<(), ()>, ()| {
            heap.enter(|_| yielder.suspend(()));
        });
        coroutine.resume(());
        lisle::fiber::no_suspend(|| coroutine.resume(()));
    });
}

/// The coroutine keeps the address of a fence that is gone.
#[test]
fn a_coroutine_that_was_begun_within_a_fence_and_goes_on_after_it_ends_the_process() {
    ends("fence outside", NOT_NESTED, || {
        let heap = Heap::new();
        let mut coroutine = Coroutine::new(move |yielder: &Yielder<(), ()>, ()| {
            heap.enter(|s| s.outside(|| yielder.suspend(())));
        });
        lisle::fiber::no_suspend(|| coroutine.resume(()));
        coroutine.resume(());
    });
}

/// Returns a coroutine that is suspended once in `outside`, and has a handle meanwhile.
fn suspended_outside(heap: &Heap) -> Coroutine<(), (), ()> {
    let heap = heap.clone();
    Coroutine::new(move |yielder: &Yielder<(), ()>, ()| {
        heap.enter(|s| {
            let text = s.alloc::<Text>(Text::init("x".into()));
            s.outside(|| yielder.suspend(()));
            assert_eq!(text.get(s).text, "x");
        });
    })
}

/// Coroutines that are in `outside` at once, and go on in another order.
#[test]
fn coroutines_that_take_turns_in_a_session_end_the_process() {
    ends("turns", LEFT_OPEN, || {
        let heap = Heap::new();
        let mut coroutines: Vec<_> = (0..2).map(|_| suspended_outside(&heap)).collect();
        coroutines.iter_mut().for_each(|coroutine| assert!(coroutine.resume(()).as_yield().is_some()));
        coroutines[0].resume(());
    });
}

/// In the right order nothing is lost, also when one is dropped or forgotten.
#[test]
fn coroutines_that_end_in_order_keep_their_handles() {
    let heap = small();
    let make = || suspended_outside(&heap);
    let (mut first, mut second, mut third) = (make(), make(), make());
    first.resume(());
    heap.collect(Kind::Full);
    second.resume(());
    third.resume(());
    heap.collect(Kind::Full);
    drop(third);
    assert!(matches!(second.resume(()), CoroutineResult::Return(())));
    heap.enter(|s| assert_eq!(s.verify(), Ok(())));
    std::mem::forget(first);
    // Its session stays open, with its roots.
    heap.collect(Kind::Full);
    assert!(heap.stats().live_bytes > 0 && heap.verify() == Ok(()));
    let said = message(|| Heap::new().enter(|_| ()));
    assert!(said.starts_with("a session is open in the heap `heap`"), "{said}");
}

/// A coroutine that is inside keeps all others out of the heap, and its own thread out of all heaps.
#[test]
fn a_coroutine_that_is_suspended_inside_keeps_its_thread_out() {
    let heap = small();
    let inside = heap.clone();
    let mut coroutine = Coroutine::new(move |yielder: &Yielder<(), ()>, ()| {
        inside.enter(|s| {
            let text = s.alloc::<Text>(Text::init("x".into()));
            let text = text.get(s);
            yielder.suspend(());
            assert_eq!(text.text, "x");
        });
    });
    coroutine.resume(());
    assert!(message(|| heap.collect(Kind::Full)).starts_with("this code is inside the heap `heap` already"));
    assert!(message(|| Heap::new().enter(|_| ())).starts_with("a session is open in the heap `heap`"));
    coroutine.resume(());
    heap.collect(Kind::Full);
}

/// The same without a heap: `no_suspend` in a coroutine that is suspended in it.
#[test]
fn a_fence_that_a_coroutine_leaves_behind_ends_the_process() {
    ends("no_suspend", NOT_NESTED, || {
        let mut coroutine = Coroutine::new(|yielder: &Yielder<(), ()>, ()| {
            lisle::fiber::no_suspend(|| yielder.suspend(()));
        });
        lisle::fiber::no_suspend(|| coroutine.resume(()));
    });
}

/// A thread-local variable keeps a coroutine that is in `outside`, and is dropped when the thread's places have gone to others.
/// The coroutine goes on in its own place, while another thread is inside.
#[test]
fn a_coroutine_that_a_thread_keeps_to_its_end_has_its_place() {
    thread_local! {
        static KEPT: RefCell<Option<Coroutine<(), (), ()>>> = const { RefCell::new(None) };
    }
    /// Waits, when it is dropped, until it may go on.
    struct Waits(mpsc::Sender<()>, mpsc::Receiver<()>);
    impl Drop for Waits {
        fn drop(&mut self) {
            self.0.send(()).unwrap();
            self.1.recv().unwrap();
        }
    }
    let _watched = watched();
    let heap = small();
    let ((ends, thread_ends), (go_on, may_go_on)) = (mpsc::channel(), mpsc::channel());
    let inner = heap.clone();
    let thread = thread::spawn(move || {
        // The variable exists before those of the heap, so it is dropped after them.
        KEPT.with(|kept| {
            let mut coroutine = Coroutine::new(move |yielder: &Yielder<(), ()>, ()| {
                let waits = Waits(ends, may_go_on);
                inner.enter(|s| {
                    s.alloc::<Text>(Text::init("x".into()));
                    s.outside(|| {
                        let _waits = waits;
                        yielder.suspend(());
                    });
                });
            });
            coroutine.resume(());
            *kept.borrow_mut() = Some(coroutine);
        });
    });
    thread_ends.recv().unwrap();
    heap.enter(|s| {
        assert_eq!(s.stats().places, 2);
        go_on.send(()).unwrap();
        // The coroutine ends meanwhile, and leaves this thread inside.
        while !thread.is_finished() {
            churn(s);
            s.collect(Kind::Minor);
        }
        assert_eq!(s.verify(), Ok(()));
    });
    thread.join().unwrap();
    // Then its place is one for others.
    let other = heap.clone();
    thread::spawn(move || assert_eq!(other.stats().places, 2)).join().unwrap();
}
