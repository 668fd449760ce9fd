//! Where loops are run, and the chance that the programs take.

use lisle::Runtime;

/// Runs `f` on a plain thread, and as a fiber of runtimes with so many domains.
pub(crate) fn everywhere(f: impl Fn() + Send + Sync) {
    f();
    for domains in [1, 2, 3, 8] {
        // Adapters around adapters have deep frames where nothing is optimized and a sanitizer watches.
        Runtime::builder().domains(domains).stack_size(1 << 20).start().unwrap().run(&f);
    }
}

/// Marsaglia's xorshift, so that a failure repeats.
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

/// Takes a while that depends on `n`, so that steps are unequal and a loop is divided where it can be.
pub(crate) fn work(n: u64) -> u64 {
    let rounds = if n.is_multiple_of(97) { 2_000 } else { n % 7 * 10 };
    (0..rounds).fold(n, |x, i| std::hint::black_box(x.rotate_left(5) ^ i))
}
