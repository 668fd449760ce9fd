use lisle::effect::{Effect, handle, perform};

struct Fail;
impl Effect for Fail {
    type Answer = u32;
}

fn main() {
    let result = handle(|| perform(Fail)).catch(|Fail| 0).returning(Some).run();
    assert_eq!(result, None);
}
