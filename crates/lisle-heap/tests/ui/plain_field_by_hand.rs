use lisle_heap::Object;

trait Counts {}
impl Counts for std::rc::Rc<u32> {}

struct Count(&'static dyn Counts);
impl lisle_heap::derived::Plain for Count {}

#[derive(Object)]
struct Counted {
    count: Count,
}

fn main() {}
