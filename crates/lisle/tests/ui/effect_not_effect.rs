use lisle::effect::perform;

struct Ask;

fn main() {
    perform(Ask);
}
