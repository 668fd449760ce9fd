//! Maps for properties that only some streams have, by the addresses of the streams.

use super::slot::Head;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::ptr::NonNull;

/// A map by streams. The order of its entries follows from addresses: code that goes through
/// the entries has to sort them first.
pub(super) type ByHead<V> = HashMap<NonNull<Head>, V, BuildHasherDefault<AddressHasher>>;

/// A set of streams.
pub(super) type Heads = HashSet<NonNull<Head>, BuildHasherDefault<AddressHasher>>;

/// A hash of an address. No attacker chooses addresses so that they collide.
#[derive(Clone, Copy, Default)]
pub(super) struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, number: u64) {
        let product = u128::from(self.0 ^ number) * 0x9e37_79b9_7f4a_7c15;
        // The upper half depends on all bits, the lower half only on the lower bits.
        self.0 = (product >> 64) as u64 ^ product as u64;
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::AddressHasher;
    use std::collections::HashSet;
    use std::hash::Hasher;

    /// Addresses of slots are multiples of the slot's size. The map uses the lowest and the
    /// highest bits of a hash.
    #[test]
    fn addresses_of_slots_are_spread() {
        for size in [8, 24, 64, 88, 4096, 1 << 16] {
            let hash = |n: u64| {
                let mut hasher = AddressHasher::default();
                hasher.write_u64(0x7f00_1234_0000 + n * size);
                hasher.finish()
            };
            let low = (0..1024).map(|n| hash(n) % 1024).collect::<HashSet<_>>();
            let high = (0..1024).map(|n| hash(n) >> 57).collect::<HashSet<_>>();
            // By chance 647 of 1,024 places, and all of 128, would be taken.
            assert!(low.len() > 560 && high.len() > 100, "{size}: {} {}", low.len(), high.len());
        }
    }
}
