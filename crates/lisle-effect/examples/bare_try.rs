use lisle_core::segment::*;
use lisle_runtime::handled::*;
use std::time::Instant;
fn time(name: &str, n: u64, mut f: impl FnMut(u64) -> u64) {
    let mut best = f64::MAX;
    for _ in 0..7 {
        let t = Instant::now();
        std::hint::black_box(f(n));
        best = best.min(t.elapsed().as_nanos() as f64 / n as f64);
    }
    println!("{name}: {best:.2} ns");
}
fn main() {
    time("take+give", 1_000_000, |n| { for _ in 0..n { let s = Supply::here(None); let t = s.take().unwrap(); std::hint::black_box(&t); s.give(t); } 0 });
    let s = Supply::here(None);
    let t = s.take().unwrap();
    let (base, limit) = (t.base() & !15, t.limit());
    time("segment create, run, end", 1_000_000, |n| { let mut a = 0; for i in 0..n {
        let mut r = 0; let pr = &raw mut r;
        let mut seg = unsafe { Segment::with_stack_unchecked(Place::new(base, limit), move |_: &Way, ()| { *pr = std::hint::black_box(i); }) };
        resume(&mut seg); drop(seg); a += r; } a });
    time("segment create, run, yield once, end", 1_000_000, |n| { let mut a = 0; for i in 0..n {
        let mut r = 0; let pr = &raw mut r;
        let mut seg = unsafe { Segment::with_stack_unchecked(Place::new(base, limit), move |w: &Way, ()| { *pr = std::hint::black_box(i); w.suspend(Request(std::ptr::NonNull::dangling())); }) };
        resume(&mut seg); resume(&mut seg); drop(seg); a += r; } a });
    time("switch pair", 1_000_000, |n| { let mut a = 0; 
        let mut seg = unsafe { Segment::with_stack_unchecked(Place::new(base, limit), move |w: &Way, ()| { loop { w.suspend(Request(std::ptr::NonNull::dangling())); } }) };
        for i in 0..n { resume(&mut seg); a += i; } unsafe { seg.force_reset() }; a });
}
