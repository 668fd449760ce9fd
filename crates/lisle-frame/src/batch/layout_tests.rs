//! Fields that two threads write lie 128 bytes apart: two cache lines, because these are fetched
//! in pairs.

use super::{Batch, Columns};
use std::mem::offset_of;
use std::ops::Range;

fn check<A: Send + 'static, R: Send + 'static>(calls: u32, name: &str) {
    let columns = Columns::new::<fn(A) -> R, fn(A) -> R>(calls);
    let parts = columns.parts();
    let (all, align) = (columns.size(), columns.align());
    assert_eq!((all % 128, align % 128), (0, 0), "{name}: two batches in memory share no lines");
    let pairs = |part: &Range<usize>| part.start / 128..part.end.div_ceil(128);
    for runners in &parts.runners {
        for worlds in &parts.worlds {
            let (a, b) = (pairs(runners), pairs(worlds));
            assert!(a.end <= b.start || b.end <= a.start, "{name}: {runners:?} {worlds:?}");
        }
    }
    // All columns are within the batch, and no two overlap.
    let mut sorted = [&parts.runners[..], &parts.worlds[..]].concat();
    sorted.sort_by_key(|part| part.start);
    assert!(sorted.windows(2).all(|two| two[0].end <= two[1].start), "{name}: {sorted:?}");
    assert!(sorted.last().is_some_and(|last| last.end <= all), "{name}: {sorted:?}");
}

#[test]
fn columns_of_two_threads_lie_apart() {
    #[repr(align(256))]
    struct Aligned(#[allow(dead_code)] u8);

    for calls in [1, 4, 16, 100, 256, 65_536] {
        check::<(), ()>(calls, "nothing");
        check::<u8, u8>(calls, "bytes");
        check::<[u64; 9], u8>(calls, "large arguments");
        check::<u8, [u64; 9]>(calls, "large results");
        check::<Aligned, Aligned>(calls, "aligned");
        check::<[u8; 1 << 21], [u8; 3]>(calls, "larger than a batch is to be");
    }
}

#[test]
fn parts_of_the_header_lie_apart() {
    let parts = [offset_of!(Batch, runner), offset_of!(Batch, own), size_of::<Batch>()];
    assert!(parts.iter().all(|at| at % 128 == 0), "{parts:?}");
    assert!(parts.is_sorted() && parts[0] > 0);
    assert_eq!(align_of::<Batch>() % 128, 0);
}

#[cfg(feature = "threads")]
#[test]
fn parts_of_the_table_lie_apart() {
    use crate::pool::ring::{Padded, Ring};
    assert_eq!(size_of::<Padded<u8>>() % 128, 0);
    assert_eq!(align_of::<Padded<u8>>() % 128, 0);
    assert_eq!(align_of::<Ring<u8>>() % 128, 0, "head and tail of it are padded");
    assert!(size_of::<Ring<u8>>() >= 3 * 128);
}
