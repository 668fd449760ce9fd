use lisle_effect::{Effect, handle, perform};
use std::time::Instant;
struct Ask(u64);
impl Effect for Ask { type Answer = u64; }
struct Other;
impl Effect for Other { type Answer = u64; }
fn time(name: &str, n: u64, mut f: impl FnMut(u64) -> u64) {
    let mut best = f64::MAX;
    for _ in 0..7 {
        let t = Instant::now();
        std::hint::black_box(f(n));
        best = best.min(t.elapsed().as_nanos() as f64 / n as f64);
    }
    println!("{name}: {best:.2} ns");
}
fn nested(depth: u32, n: u64) -> u64 {
    if depth == 0 {
        let mut s = 0; for i in 0..n { s += perform(Ask(i)); } s
    } else {
        handle(|| nested(depth - 1, n)).on(|Other, k| k.resume(1)).run()
    }
}
fn nested_a(depth: u32, n: u64) -> u64 {
    nested(depth, n)
}
fn all() {
    time("run without effect", 1_000_000, |n| { let mut s = 0; for i in 0..n { s += handle(|| std::hint::black_box(i)).on(|Ask(a), k| k.resume(a)).run(); } s });
    time("perform+resume", 1_000_000, |n| handle(|| { let mut s = 0; for i in 0..n { s += perform(Ask(i)); } s }).on(|Ask(a), k| k.resume(a + 1)).run());
    time("perform+answer", 1_000_000, |n| handle(|| { let mut s = 0; for i in 0..n { s += perform(Ask(i)); } s }).answer(|Ask(a)| a + 1).run());
    time("run+1 perform", 1_000_000, |n| { let mut s = 0; for i in 0..n { s += handle(|| perform(Ask(i))).on(|Ask(a), k| k.resume(a)).run(); } s });
    time("resume_then", 100_000, |n| handle(|| { let mut s = 0; for i in 0..n { s += perform(Ask(i)); } s }).on(|Ask(a), k| k.resume_then(a, move |r| r ^ a)).run());
    time("catch", 100_000, |n| { let mut s = 0; for i in 0..n { s += handle(|| perform(Ask(i))).catch(|Ask(a)| a).run(); } s });
    for d in [0, 1, 5, 10] {
        time(&format!("through {d}"), 1_000_000, |n| handle(|| nested(d, n)).on(|Ask(a), k| k.resume(a + 1)).run());
        time(&format!("answer through {d}"), 1_000_000, |n| handle(|| nested_a(d, n)).answer(|Ask(a)| a + 1).run());
    }
}
fn main() {
    println!("plain thread");
    all();
    println!("fiber");
    lisle_runtime::run(all);
}
