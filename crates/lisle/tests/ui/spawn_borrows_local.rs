//! A fiber borrows what may be gone before it ends.

fn main() {
    let words = vec!["one", "two"];
    let count = lisle::spawn(|| words.len());
    println!("{}", count.join().unwrap());
}
