//! A task is given a function, as if it were a fiber.

fn main() {
    lisle::spawn_task(|| 1 + 1);
}
