//! A fiber borrows a local that may be gone before the fiber ends.

fn main() {
    let words = vec!["one", "two"];
    let count = lisle::spawn(|| words.len());
    println!("{}", count.join().unwrap());
}
