//! A fiber is given a future, as if it were a task.

fn main() {
    lisle::spawn(async { 1 + 1 });
}
