use lisle::effect::{Effect, handle, perform};

struct Ask;
impl Effect for Ask {
    type Answer = u32;
}

fn main() {
    handle(|| perform(Ask))
        .on(|Ask, k| {
            let _ = k.resume(1);
            k.resume(2)
        })
        .run();
}
