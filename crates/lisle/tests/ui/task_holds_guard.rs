//! A task holds a lock of the standard library while it waits.

use std::sync::{Arc, Mutex};

fn main() {
    let (_tx, rx) = lisle::channel::<u32>();
    let total = Arc::new(Mutex::new(0));
    lisle::spawn_task(async move {
        let mut total = total.lock().unwrap();
        *total += rx.recv_evt().await.unwrap();
    });
}
