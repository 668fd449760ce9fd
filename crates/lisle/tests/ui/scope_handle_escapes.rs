//! A handle leaves the scope of its fiber.

fn main() {
    let words = vec!["one", "two"];
    let mut handle = None;
    lisle::fiber::scope(|scope| {
        handle = Some(scope.spawn(|| words.len()));
    });
    println!("{}", handle.unwrap().join().unwrap());
}
