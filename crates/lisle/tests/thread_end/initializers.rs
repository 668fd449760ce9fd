//! The remedies for thread-locals that are made on first use: see *Soundness* in `lisle::fiber`.

use lisle::effect::{Effect, finish, handle, perform};
use lisle::fiber::{no_suspend, yield_now};
use std::panic::{AssertUnwindSafe, catch_unwind};

fn message_of<T>(f: impl FnOnce() -> T) -> String {
    let Err(panic) = catch_unwind(AssertUnwindSafe(f)) else { panic!("there was no panic") };
    *panic.downcast::<String>().expect("a message")
}

/// An initializer that would wait panics instead: nothing has been made, and another fiber that
/// comes meanwhile cannot be there.
#[test]
fn no_suspend_in_an_initializer() {
    thread_local! {
        static WAITS: Vec<u64> = no_suspend(|| {
            yield_now();
            vec![42; 4096]
        });
    }
    lisle::Runtime::builder().domains(1).run(|| {
        let made = || WAITS.with(Vec::len);
        let both = [lisle::spawn(move || message_of(made)), lisle::spawn(move || message_of(made))];
        for message in both.map(|fiber| fiber.join().unwrap()) {
            assert!(message.contains("no_suspend"), "{message}");
        }
    });
}

/// The same where it performs an effect whose clause would keep the rest.
#[test]
fn no_suspend_in_an_initializer_that_performs() {
    struct Load;
    impl Effect for Load {
        type Answer = u64;
    }
    thread_local! {
        static TABLE: Vec<u64> = no_suspend(|| vec![perform(Load); 4096]);
    }
    let run = || {
        handle(|| TABLE.with(Vec::len))
            .on(|Load, k| {
                std::mem::forget(k.keep());
                finish(0)
            })
            .run()
    };
    let message = message_of(run);
    assert!(message.contains("no_suspend"), "{message}");
    // An answer in place suspends nothing.
    assert_eq!(handle(|| TABLE.with(|table| table[7])).answer(|Load| 5).run(), 5);
}

/// A `fiber_local!` is each fiber's own, so its initializer may wait.
#[test]
fn a_fiber_local_whose_initializer_waits() {
    lisle::fiber_local! {
        static TABLE: Vec<u64> = {
            yield_now();
            vec![42; 4096]
        };
    }
    lisle::Runtime::builder().domains(1).run(|| {
        let looks = || {
            TABLE.with(|table| {
                yield_now();
                table.iter().all(|&word| word == 42)
            })
        };
        let both = [lisle::spawn(looks), lisle::spawn(looks)];
        assert!(both.into_iter().all(|fiber| fiber.join().unwrap()));
    });
}
