//! A fiber of a scope borrows what lives in the scope's function only.

fn main() {
    lisle::fiber::scope(|scope| {
        let words = vec!["one", "two"];
        scope.spawn(|| words.len());
    });
}
