//! Runtimes on threads that the program starts, and where handles place fibers.

use lisle_runtime::facade as lisle;

use lisle::{DomainThread, Runtime, fiber};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::thread;

/// Runs the domain on a new thread, which tells when it has returned.
fn run_and_tell(domain: DomainThread, tell: &Sender<usize>) -> io::Result<()> {
    let (index, tell) = (domain.index(), tell.clone());
    thread::Builder::new().spawn(move || {
        domain.run();
        tell.send(index).unwrap();
    })?;
    Ok(())
}

#[test]
fn an_error_of_the_third_thread_ends_the_first_two() {
    let (tell, told) = channel();
    let started = Runtime::builder().domains(4).start_on(|domain| match domain.index() {
        2 => Err(io::Error::other("no third one")),
        _ => run_and_tell(domain, &tell),
    });
    drop(tell);
    assert_eq!(started.unwrap_err().to_string(), "no third one");
    let mut ended: Vec<_> = told.iter().collect();
    ended.sort_unstable();
    assert_eq!(ended, [0, 1]);
}

#[test]
fn a_panic_while_threads_are_started_ends_those_that_have_begun() {
    let (tell, told) = channel();
    let start = || {
        Runtime::builder().domains(3).start_on(|domain| {
            assert_ne!(domain.index(), 1, "no second one");
            run_and_tell(domain, &tell)
        })
    };
    assert!(catch_unwind(AssertUnwindSafe(start)).is_err());
    drop(tell);
    assert_eq!(told.iter().collect::<Vec<_>>(), [0]);
}

#[test]
fn a_runtime_ends_although_one_of_its_domains_was_dropped() {
    let (tell, told) = channel();
    let runtime = Runtime::builder().domains(2).start_on(|domain| match domain.index() {
        0 => run_and_tell(domain, &tell),
        _ => Ok(()),
    });
    drop(tell);
    assert_eq!(runtime.as_ref().unwrap().run(|| 6 * 7), 42);
    drop(runtime);
    assert_eq!(told.iter().collect::<Vec<_>>(), [0]);
}

#[test]
fn a_shutdown_in_the_background_waits_for_no_thread_and_ends_each() {
    let (tell, told) = channel();
    let (open, opened) = channel::<()>();
    let runtime = Runtime::builder().domains(2).start_on(|domain| run_and_tell(domain, &tell)).unwrap();
    drop(tell);
    let (began, begun) = channel();
    let blocks = runtime.spawn(move || {
        began.send(()).unwrap();
        opened.recv() // blocks its thread, which no shutdown ends
    });
    begun.recv().unwrap();
    runtime.shutdown_background();
    open.send(()).unwrap(); // it has returned before
    assert_eq!(blocks.join().unwrap(), Ok(()));
    assert_eq!(told.iter().sum::<usize>(), 1); // both have ended
}

#[test]
fn a_fiber_may_shut_its_runtime_down_in_the_background() {
    let (tell, told) = channel();
    let runtime = Runtime::builder().domains(2).start_on(|domain| run_and_tell(domain, &tell)).unwrap();
    drop(tell);
    let (give, given) = channel::<Runtime>();
    drop(runtime.spawn(move || given.recv().unwrap().shutdown_background()));
    give.send(runtime).unwrap();
    assert_eq!(told.iter().sum::<usize>(), 1);
}

#[test]
fn a_fiber_for_the_first_free_domain_begins_although_its_spawner_blocks_its_thread() {
    Runtime::builder().domains(2).run(|| {
        for _ in 0..100 {
            let (tx, rx) = channel();
            drop(fiber::Builder::new().first_free().spawn(move || tx.send(fiber::domain())));
            assert_eq!(rx.recv(), Ok(Some(1)));
        }
    });
}

#[test]
fn a_handle_places_fibers_from_a_plain_thread_and_from_another_runtime() {
    let runtime = Runtime::builder().domains(3).start().unwrap();
    let handle = runtime.handle();
    let places = || [2, 0, 1].map(|index| handle.spawn_on(index, fiber::domain).join().unwrap());
    assert_eq!(places(), [Some(2), Some(0), Some(1)]);
    assert_eq!(lisle::run(places), [Some(2), Some(0), Some(1)]);
}

#[test]
fn a_fiber_that_is_placed_on_a_runtime_that_has_ended_is_refused() {
    let runtime = Runtime::builder().domains(2).start().unwrap();
    let handle = runtime.handle();
    drop(runtime);
    assert!(handle.spawn_on(1, || ()).join().unwrap_err().is_cancelled());
}

#[test]
fn a_handle_runs_what_borrows_and_hands_on_its_panic() {
    let runtime = Runtime::builder().domains(1).start().unwrap();
    let (handle, word) = (runtime.handle(), String::from("warp"));
    assert_eq!(handle.run(|| (word.len(), handle.domain())), (4, Some(0)));
    let panic = catch_unwind(AssertUnwindSafe(|| handle.run(|| panic!("in the fiber")))).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"in the fiber"));
}
