//! The trait that has the methods of events is not in scope.

fn main() {
    let (_tx, rx) = lisle::channel::<u32>();
    let _ = rx.recv_evt().sync();
}
