//! Memory that is touched for the first time: the kernel finds a page and clears it.

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::{
    ffi::c_void,
    ptr,
    time::{Duration, Instant},
};

/// How the kernel is asked for the pages.
#[derive(Clone, Copy)]
pub(crate) enum Pages {
    /// By touching one after the other.
    Touched,
    /// By asking for 64 at a time.
    Populated,
    /// By touching memory that may be in pages of 2 MiB.
    Huge,
}

const PAGE: usize = 4096;
/// As much as a page of the larger kind.
const HUGE: usize = 512 * PAGE;
/// The size of one mapping.
const AREA: usize = 8 * HUGE;
/// How much is asked for at once.
const AT_ONCE: usize = 64 * PAGE;

/// Times the first touch of `pages` pages of 4 KiB. The time to map them and to give them back does
/// not count.
pub(crate) fn first_touches(n: u64, pages: Pages) -> Duration {
    let mut left = n as usize;
    let mut elapsed = Duration::ZERO;
    while left > 0 {
        let count = left.min(AREA / PAGE);
        elapsed += in_area(count, pages);
        left -= count;
    }
    elapsed
}

fn in_area(count: usize, pages: Pages) -> Duration {
    let (prot, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
    // SAFETY: without a wish for an address the kernel takes one that nothing has.
    let area = unsafe { mmap_anonymous(ptr::null_mut(), AREA + HUGE, prot, flags) }.expect("there is memory");
    let first = area.map_addr(|address| address.next_multiple_of(HUGE)).cast::<u8>();
    let advice = if matches!(pages, Pages::Huge) { Advice::LinuxHugepage } else { Advice::LinuxNoHugepage };
    // SAFETY: that is memory of the mapping, and the advice does not change its content. A kernel
    // without large pages refuses it, and has only small ones.
    let _ = unsafe { madvise(first.cast::<c_void>(), AREA, advice) };
    let start = Instant::now();
    if matches!(pages, Pages::Populated) {
        for from in (0..count * PAGE).step_by(AT_ONCE) {
            let length = AT_ONCE.min(count * PAGE - from);
            // SAFETY: `from` is less than the area's length.
            let part = unsafe { first.add(from) };
            // SAFETY: that is memory of the mapping, which has nothing in it.
            let populated = unsafe { madvise(part.cast::<c_void>(), length, Advice::LinuxPopulateWrite) };
            populated.unwrap_or_else(|error| {
                crate::peers::cannot(&format!("this kernel brings in no pages ahead: {error}"))
            });
        }
    }
    for page in 0..count {
        // SAFETY: `page` is one of the area's pages.
        let byte = unsafe { first.add(page * PAGE) };
        // SAFETY: the byte is of the mapping, which may be written to and which nothing else uses.
        unsafe { byte.write_volatile(1) };
    }
    let elapsed = start.elapsed();
    // SAFETY: nothing has a reference into the mapping.
    unsafe { munmap(area, AREA + HUGE) }.expect("it is mapped");
    elapsed
}
