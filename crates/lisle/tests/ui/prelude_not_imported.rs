//! The traits that make parallel iterators are not in scope.

fn main() {
    let words = vec!["one", "two"];
    println!("{}", words.par_iter().count());
}
