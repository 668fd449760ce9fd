//! `Debug` and `Clone` of iterators with closures, which have no `Debug` themselves.

use crate::iter::{Flatten, repeat, repeat_n};
use crate::prelude::*;
use std::cell::Cell;
use std::fmt::Debug;

fn shown(iter: impl ParallelIterator + Clone + Debug) -> String {
    format!("{:?}", iter.clone())
}

#[test]
fn closures_are_left_out() {
    let numbers = || vec![1, 2].into_par_iter();
    assert!(shown(numbers().map(|n| n + 1)).contains("Mapping { .. }"));
    assert!(shown(numbers().filter(|n| *n > 1)).contains("Filtering { .. }"));
    assert!(shown(numbers().filter_map(Some)).contains("FilterMapping { .. }"));
    assert!(shown(numbers().inspect(|_| ())).contains("Inspecting { .. }"));
    assert!(shown(numbers().update(|n| *n += 1)).contains("Updating { .. }"));
    assert!(shown(numbers().flat_map_iter(|n| 0..n)).contains("FlatMapping { .. }"));
    assert!(shown(numbers().flat_map(|n| 0..n)).starts_with("FlatMap { base: "));
    assert!(shown(numbers().fold(|| 0, |a, b| a + b)).starts_with("Folds { base: "));
    assert!(shown(numbers().fold_with(0, |a, b| a + b)).starts_with("Folds { base: "));
    assert!(shown(numbers().try_fold(|| 0, i32::checked_add)).starts_with("Folds { base: "));
    assert!(shown(numbers().map_init(|| 0, |_, n| n)).starts_with("MapInit { base: "));
    assert!(shown(numbers().map_with(0, |_, n| n)).starts_with("MapInit { base: "));
    assert!(shown(numbers().fold_chunks(2, || 0, |a, b| a + b)).contains("Folded { .. }"));
    assert!(shown(numbers().positions(|n| n > 1)).contains("Positioning"));
    assert!(shown(numbers().take_any_while(|n| *n > 1)).contains("TakingAnyWhile"));
}

#[test]
fn the_type_of_a_flattened_iterator_has_a_name() {
    let flat: Flatten<_> = vec![0..2, 5..7].into_par_iter().flatten();
    assert!(shown(flat.clone()).starts_with("FlatMap { base: "));
    assert_eq!(flat.collect::<Vec<_>>(), [0, 1, 5, 6]);
}

/// Each participant has a clone of its own.
#[test]
fn what_is_repeated_need_not_be_sync() {
    let cells = repeat_n(Cell::new(3), 4).chain(repeat(Cell::new(1)).take(2));
    assert_eq!(cells.map(Cell::into_inner).sum::<u32>(), 14);
}
