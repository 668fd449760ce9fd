use lisle::effect::generator;

fn main() {
    let local = vec![1, 2];
    let items = generator(|items| local.iter().for_each(|n| items.give(*n)));
    drop(local);
    items.for_each(drop);
}
