//! A task holds an `Rc` while it waits. It may go on on another thread.

use std::rc::Rc;

fn main() {
    let (_tx, rx) = lisle::channel::<u32>();
    lisle::spawn_task(async move {
        let count = Rc::new(1);
        let _ = rx.recv_evt().await;
        println!("{count}");
    });
}
