use lisle::effect::generate;

fn main() {
    let values = generate(|items| items.give(1), |values| values);
}
