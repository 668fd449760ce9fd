//! The callers of the loops, and the random numbers of the programs.

use lisle::Runtime;

/// Runs `f` on a plain thread, and as a fiber of runtimes with these numbers of domains.
pub(crate) fn everywhere(f: impl Fn() + Send + Sync) {
    // The call of a closure by reference, so that runtimes are compiled for one type of closures.
    let f: &(dyn Fn() + Send + Sync) = &f;
    f();
    for domains in [1, 2, 3, 8] {
        // Nested adapters have deep frames without optimization and with a sanitizer.
        Runtime::builder().domains(domains).stack_size(1 << 20).start().unwrap().run(f);
    }
}

/// Marsaglia's xorshift, so failures are reproducible.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn seeded(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

/// Takes a time that depends on `n`, so steps are unequal and a loop is divided where that is
/// possible.
pub(crate) fn work(n: u64) -> u64 {
    let rounds = if n.is_multiple_of(97) { 2_000 } else { n % 7 * 10 };
    (0..rounds).fold(n, |x, i| std::hint::black_box(x.rotate_left(5) ^ i))
}
