use lisle::effect::generator;

fn main() {
    let numbers = generator(|items| items.give(1));
    std::thread::spawn(move || numbers.count());
}
