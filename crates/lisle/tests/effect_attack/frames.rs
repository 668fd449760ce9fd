//! Code of a frame that goes on when the frame is over, or waits where the frame runs it.

use lisle::effect::{Effect, Suspended, finish, handle, perform};
use lisle::{Runtime, fiber};
use lisle_frame::{Failure, Foreign, Stream, World};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

struct Stop;
impl Effect for Stop {
    type Answer = ();
}

thread_local! {
    static KEPT: RefCell<Option<Suspended<(), bool>>> = const { RefCell::new(None) };
}

/// Returns `true` if this code is in no frame.
fn is_outside(stream: Stream<u32>) -> bool {
    let read = pin!(stream.try_get()).poll(&mut Context::from_waker(Waker::noop()));
    matches!(read, Poll::Ready(Err(error)) if matches!(error.failure(), Failure::Outside))
}

/// A call in place is suspended in the middle, and goes on after the frame, and after the world.
#[test]
fn a_call_that_goes_on_after_its_frame_is_in_none() {
    for drops_the_world in [false, true] {
        let mut world = World::new();
        let number = world.stream(async || 1);
        let stops = Foreign::new("stops", |(): ()| perform(Stop));
        world.stream(async move || {
            handle(move || {
                let mut call = Box::pin(stops.call_over_frames(()));
                let _ = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                std::mem::forget(call);
                is_outside(number)
            })
            .on(|Stop, k| {
                KEPT.set(Some(k.keep()));
                finish(true)
            })
            .run()
        });
        world.frame();
        let kept = KEPT.take().expect("it has stopped");
        let world = (!drops_the_world).then_some(world);
        assert!(kept.resume(()), "it is in the frame that is over");
        assert!(is_outside(number), "so is what has resumed it");
        drop(world);
    }
}

/// Other fibers of the thread would be in the frame.
#[test]
fn the_payload_of_a_panic_does_not_wait_in_a_frame() {
    struct Waits(Arc<AtomicBool>);
    impl Drop for Waits {
        fn drop(&mut self) {
            let waited = catch_unwind(AssertUnwindSafe(fiber::yield_now));
            self.0.store(waited.is_err(), Ordering::SeqCst);
        }
    }
    Runtime::builder().domains(1).run(|| {
        let refused = Arc::new(AtomicBool::new(false));
        let refuses = refused.clone();
        let mut world = World::new();
        world.stream(async move || -> u32 { panic_any(Waits(refuses.clone())) });
        world.frame();
        assert!(refused.load(Ordering::SeqCst));
    });
}
