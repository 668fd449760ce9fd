//! A default runtime with settings of the user: in a process of its own, because a process has only
//! one default runtime.

#[path = "it/support/watch.rs"]
mod watch;

use lisle::par::join;
use lisle::{Event, InstallDefaultError, Report, Runtime, never};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use watch::watched;

/// The settings also apply after a deadlock, which would have ended any other runtime.
#[test]
fn it_helps_plain_threads_with_its_settings() {
    let _watched = watched();
    let (tx, reports) = mpsc::channel();
    let builder = Runtime::builder().domains(2).stack_size(16 << 20).thread_name("own").closed_world(true);
    builder.on_report(move |report| drop(tx.send(report.clone()))).install_default().unwrap();
    let again = Runtime::builder().install_default();
    assert!(matches!(again, Err(InstallDefaultError::AlreadyStarted)));

    drop(lisle::spawn(|| never::<()>().sync()));
    assert!(matches!(reports.recv().unwrap(), Report::Deadlock(_)));
    assert_eq!(lisle::spawn(|| 1).join().unwrap(), 1);

    let meeting = AtomicUsize::new(0);
    let meet = || {
        meeting.fetch_add(1, Ordering::SeqCst);
        while meeting.load(Ordering::SeqCst) < 2 {
            std::thread::yield_now();
        }
    };
    let second = || {
        // This array is larger than a stack of the usual size.
        let array = black_box([1_u8; 4 << 20]);
        meet();
        (array.len(), std::thread::current().name().map(str::to_owned))
    };
    let ((), (len, thread)) = join(meet, second);
    assert_eq!(len, 4 << 20);
    assert!(thread.is_some_and(|name| name.starts_with("own-")));
}
