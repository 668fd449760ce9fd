//! An event where its value is wanted.

fn main() {
    let (_tx, rx) = lisle::channel::<u32>();
    let number: u32 = rx.recv_evt().unwrap();
    println!("{number}");
}
