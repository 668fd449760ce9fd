use lisle_heap::Object;

#[derive(Object)]
struct Counted {
    count: std::rc::Rc<u32>,
}

fn main() {}
