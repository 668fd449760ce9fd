use lisle_heap::{Object, Slot};

type Short = for<'a> fn(&'a str);
type Long = fn(&'static str);

#[derive(Object)]
struct Calls<T: Send + Sync> {
    f: T,
}

#[derive(Object)]
struct Holder {
    calls: Slot<Calls<Short>>,
}

/// `Short` is a subtype of `Long`. What accepts each text must not be replaced by what keeps it.
fn replace(s: &lisle_heap::Scope<'_>, holder: lisle_heap::Ref<'_, Holder>, calls: lisle_heap::Local<'_, Calls<Long>>) {
    let slot: &Slot<Calls<Long>> = &holder.get().calls;
    slot.set(s, calls);
}

fn replace_in_array<'a>(array: lisle_heap::Ref<'a, lisle_heap::Array<Calls<Short>>>) {
    let _array: lisle_heap::Ref<'a, lisle_heap::Array<Calls<Long>>> = array;
}

fn main() {}
