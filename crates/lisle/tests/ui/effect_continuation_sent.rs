use lisle::effect::{Effect, finish, handle, perform};

struct Ask;
impl Effect for Ask {
    type Answer = u32;
}

fn main() {
    handle(|| perform(Ask))
        .on(|Ask, k| {
            let kept = k.keep();
            std::thread::spawn(move || kept.resume(1));
            finish(0)
        })
        .run();
}
