//! Two fibers want the one receiver.

fn main() {
    let (tx, rx) = lisle::channel::<u32>();
    lisle::spawn(move || rx.recv());
    lisle::spawn(move || rx.recv());
    tx.send(1).unwrap();
}
