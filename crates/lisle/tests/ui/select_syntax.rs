//! Arms that `select!` does not know.

use lisle::select;

fn main() {
    let (tx, rx) = lisle::channel::<u32>();
    select! { recv(rx) -> n => println!("{n:?}") }
    select! { n = rx.recv_evt() if true => println!("{n:?}") }
    select! { n = rx.recv_evt() }
    select! {
        n = rx.recv_evt() => println!("{n:?}"),
        rx.recv_evt() => println!("second"),
        n = rx.recv_evt() => println!("{n:?}"),
    }
    select! { default => () }
    select! { default => (), n = rx.recv_evt() => println!("{n:?}") }
    select! { n = rx.recv_evt() => println!("{n:?}"), else => () }
    drop(tx);
}
