//! Parts that need a lot of stack, also on a plain thread.

use crate::watch::watched;
use lisle::par::join;
use lisle::{InstallDefaultError, Runtime};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Sums an array on the stack, after the other half has begun.
fn large(meeting: &AtomicUsize) -> usize {
    let array = black_box([1_u8; 280 * 1024]);
    meeting.fetch_add(1, Ordering::SeqCst);
    while meeting.load(Ordering::SeqCst) < 2 {
        std::thread::yield_now();
    }
    array.iter().map(|&n| usize::from(n)).sum()
}

#[test]
fn halves_with_large_frames() {
    let _watched = watched();
    let both = || {
        let meeting = AtomicUsize::new(0);
        assert_eq!(join(|| large(&meeting), || large(&meeting)), (280 * 1024, 280 * 1024));
    };
    both();
    Runtime::builder().domains(2).run(both);
}

/// The depth of the recursion is the number of elements.
fn quicksort(slice: &mut [u32]) {
    if slice.len() < 2 {
        return;
    }
    let pivot = slice[0];
    let (mut low, mut at) = (0, 1);
    while at < slice.len() {
        if slice[at] < pivot {
            low += 1;
            slice.swap(low, at);
        }
        at += 1;
    }
    slice.swap(0, low);
    let (left, right) = slice.split_at_mut(low);
    join(|| quicksort(left), || quicksort(&mut right[1..]));
}

#[test]
fn a_deep_recursion() {
    let _watched = watched();
    let sort = || {
        let mut sorted: Vec<u32> = (0..300).collect();
        quicksort(&mut sorted);
        assert!(sorted.is_sorted());
    };
    Runtime::builder().domains(2).run(sort);
    std::thread::spawn(sort).join().unwrap();
}

#[test]
fn a_default_runtime_that_has_been_started_stays() {
    let _watched = watched();
    lisle::spawn(|| ()).join().unwrap();
    let refused = Runtime::builder().stack_size(1 << 24).install_default();
    assert!(matches!(refused, Err(InstallDefaultError::AlreadyStarted)));
    assert!(refused.unwrap_err().to_string().contains("before the first spawn"));
}
