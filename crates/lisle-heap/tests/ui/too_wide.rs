use lisle_heap::Value;

#[derive(Value)]
enum Number {
    Float(f64),
}

fn main() {}
