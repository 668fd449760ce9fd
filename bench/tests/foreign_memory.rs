//! On tokio and smol: timeouts that lose leave nothing on the heap, and events start no threads but
//! the one that keeps time.
//!
//! A test binary of its own, since it counts the bytes and the threads of its whole process.

use lisle::channel::Receiver;
use lisle::time::after;
use lisle::{Event, channel, choose};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The system's allocator, with a count of the bytes that are in use.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);

// SAFETY: all calls are passed on to the system's allocator as they are.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        IN_USE.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: passed on to the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: passed on to the caller.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const TIMES: usize = if cfg!(debug_assertions) { 20_000 } else { 200_000 };

/// Case 38 of the library's list: a receive wins against a timeout of 500 seconds, each time, after
/// a wait or at once, in a choice and in a `select!`.
async fn timeouts_lose(rx: Receiver<usize>, executor: &str) {
    let long = Duration::from_secs(500);
    let mut before = 0;
    for n in 0..TIMES + TIMES / 10 {
        if n == TIMES / 10 {
            before = IN_USE.load(Ordering::Relaxed);
        }
        let received = match n % 2 {
            0 => choose((after(long).wrap(|()| None), rx.recv_evt().wrap(Result::ok))).await,
            _ => lisle::select! {
                await;
                () = after(long).wrap(|()| "slept").wrap(drop) => None,
                received = rx.recv_evt() => received.ok(),
            },
        };
        assert_eq!(received, Some(n));
    }
    let after = IN_USE.load(Ordering::Relaxed);
    // A leak of a byte each time, or of a timer now and then, is more than this.
    assert!(after <= before + TIMES / 16 + 16 * 1024, "{executor}: {before} bytes before, {after} after");
    assert!(after <= 2 * before, "{executor}: {before} bytes before, {after} after");
}

/// The library's threads, where the system tells their names.
fn threads() -> Vec<String> {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return Vec::new() };
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.map(|name| name.trim().to_owned()).filter(|name| name.starts_with("lisle")).collect()
}

#[test]
fn timeouts_that_lose_leave_nothing() {
    for workers in [0, 1, 2] {
        let (tx, rx) = channel::<usize>();
        let runtime = match workers {
            0 => tokio::runtime::Builder::new_current_thread().build().unwrap(),
            _ => tokio::runtime::Builder::new_multi_thread().worker_threads(workers).build().unwrap(),
        };
        runtime.block_on(async {
            let sender = tokio::spawn(while_sent(tx));
            let name = format!("tokio with {workers} workers");
            tokio::spawn(async move { timeouts_lose(rx, &name).await }).await.unwrap();
            sender.await.unwrap();
        });
    }
    smol::block_on(async {
        let (tx, rx) = channel::<usize>();
        let sender = smol::spawn(while_sent(tx));
        smol::spawn(timeouts_lose(rx, "smol")).await;
        sender.await;
    });
    assert!(threads().iter().all(|name| name == "lisle-clock"), "{:?}", threads());
}

/// Sends numbers until nobody receives.
async fn while_sent(tx: lisle::channel::Sender<usize>) {
    for n in 0.. {
        if tx.send_evt(n).await.is_err() {
            return;
        }
    }
}
