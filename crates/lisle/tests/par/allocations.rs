//! Loops allocate nothing, and collections allocate only their own memory.

use crate::support::work;
use lisle::Runtime;
use lisle::par::prelude::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: all calls are passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller upholds the contract of `realloc`.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Returns the number of allocations of this thread in a second run of `f`.
fn allocations<R>(f: impl Fn() -> R) -> usize {
    drop(f());
    let before = ALLOCATIONS.get();
    let result = f();
    let count = ALLOCATIONS.get() - before;
    drop(result);
    count
}

#[test]
fn there_are_none_but_for_what_is_collected() {
    Runtime::builder().domains(1).start().unwrap().run(|| {
        let mut data: Vec<u64> = (0..20_000).collect();
        let (some, target) = (data.clone(), std::sync::Mutex::new(Vec::with_capacity(data.len())));
        assert_eq!(allocations(|| (0..20_000).into_par_iter().for_each(|n| _ = work(n))), 0);
        assert_eq!(allocations(|| some.par_iter().map(|n| work(*n) % 7).sum::<u64>()), 0);
        assert_eq!(allocations(|| some.par_iter().zip(&some).rev().step_by(3).enumerate().max()), 0);
        assert_eq!(allocations(|| some.par_iter().copied().reduce(|| 0, u64::max)), 0);
        assert_eq!(allocations(|| some.par_iter().fold(|| 0, |a, n| a ^ n).reduce(|| 0, |a, b| a ^ b)), 0);
        assert_eq!(allocations(|| some.par_chunks(9).filter(|chunk| chunk[0] % 2 == 0).count()), 0);
        assert_eq!(allocations(|| some.par_iter().find_first(|n| **n == 15_000)), 0);
        assert_eq!(allocations(|| some.par_iter().try_for_each(|n| (*n < 15_000).then_some(()))), 0);
        assert_eq!(allocations(|| some.par_iter().deterministic(99).sum::<u64>()), 0);
        assert_eq!(allocations(|| (0..99_u64).into_par_iter().flat_map(|n| 0..n).count()), 0);
        assert_eq!(allocations(|| some.par_iter().map(|n| n + 1).collect::<Vec<_>>()), 1);
        assert_eq!(allocations(|| some.par_iter().map(|n| (*n, *n)).unzip::<_, _, Vec<_>, Vec<_>>()), 2);
        assert_eq!(allocations(|| some.par_iter().copied().collect_into_vec(&mut target.lock().unwrap())), 0);
        // The clone.
        assert_eq!(allocations(|| some.clone().into_par_iter().sum::<u64>()), 1);
        data.par_iter_mut().for_each(|n| *n += 1);
        let before = ALLOCATIONS.get();
        data.par_chunks_exact_mut(5).enumerate().for_each(|(at, chunk)| chunk[0] = at as u64);
        assert_eq!(ALLOCATIONS.get(), before);
    });
}
