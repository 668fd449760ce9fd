//! A fiber of a scope borrows a local of the scope's function.

fn main() {
    lisle::fiber::scope(|scope| {
        let words = vec!["one", "two"];
        scope.spawn(|| words.len());
    });
}
