use lisle_effect::{Effect, handle};
struct Ask(u64);
impl Effect for Ask { type Answer = u64; }
fn main() {
    let mut s = 0; for i in 0..60_000_000u64 { s += handle(|| std::hint::black_box(i)).on(|Ask(a), k| k.resume(a)).run(); }
    println!("{s}");
}
