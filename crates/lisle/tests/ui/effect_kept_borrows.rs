use lisle::effect::{Effect, finish, handle, perform};

struct Ask;
impl Effect for Ask {
    type Answer = u32;
}

fn main() {
    let local = 1;
    handle(|| local + perform(Ask))
        .on(|Ask, k| {
            let _ = k.keep();
            finish(0)
        })
        .run();
}
