use lisle::effect::{Effect, handle, perform};

struct Ask;
impl Effect for Ask {
    type Answer = u32;
}

fn main() {
    handle(|| perform(Ask))
        .on(|Ask, outer| {
            let mut outer = Some(outer);
            let inner = handle(|| perform(Ask)).on(|Ask, _| outer.take().unwrap().resume(1)).run();
            outer.unwrap().resume(inner)
        })
        .run();
}
