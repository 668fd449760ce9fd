use lisle::effect::{Effect, finish, handle, perform};

struct Ask;
impl Effect for Ask {
    type Answer = u32;
}

fn main() {
    let mut escaped = None;
    handle(|| perform(Ask))
        .on(|Ask, k| {
            escaped = Some(k);
            finish(0)
        })
        .run();
}
