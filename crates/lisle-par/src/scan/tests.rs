use super::chain::{Chain, Form};
use super::forms::{Exclusive, ExclusiveInPlace, Inclusive, InclusiveInPlace, Mapped, Plain};
use super::steps::Steps;
use super::{Scan, exclusive_scan, inclusive_scan};
use crate::part::Part;
use crate::shim::Backoff;
use crate::shim::atomic::{AtomicUsize, Ordering::SeqCst};
use crate::shim::random::Random;
use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Functions of the form *ax + b*, one after the other: associative, not commutative, and every
/// operand keeps affecting the result for long.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Affine(u64, u64);

const IDENTITY: Affine = Affine(1, 0);

fn then(first: &Affine, second: &Affine) -> Affine {
    Affine(first.0.wrapping_mul(second.0), first.1.wrapping_mul(second.0).wrapping_add(second.1))
}

fn functions(len: usize) -> Vec<Affine> {
    let random = Random::seeded(len as u64);
    (0..len).map(|_| Affine(random.next(), random.next())).collect()
}

/// Returns the expected outputs: with each element included, and without it.
fn expected(input: &[Affine]) -> (Vec<Affine>, Vec<Affine>, Affine) {
    let (mut with, mut without, mut sum) = (Vec::new(), Vec::new(), IDENTITY);
    for element in input {
        without.push(sum);
        sum = then(&sum, element);
        with.push(sum);
    }
    (with, without, sum)
}

fn grain(elements: usize) -> NonZeroUsize {
    NonZeroUsize::new(elements).expect("some elements")
}

#[test]
fn all_forms_are_those_of_a_loop() {
    let lengths: &[usize] =
        if cfg!(miri) { &[0, 1, 9] } else { &[0, 1, 2, 3, 10, 511, 1_024, 1_500, 10_000] };
    for &len in lengths {
        let input = functions(len);
        let numbers: Vec<usize> = (0..len).collect();
        let (with, without, sum) = expected(&input);
        let scans = [1, 2, 3, 100].map(|elements| Scan::new(then).grain(grain(elements)));
        for scan in scans.iter().flat_map(|scan| [*scan, scan.fixed()]).chain([Scan::new(then)]) {
            let mut output = vec![IDENTITY; len];
            scan.inclusive(&input, &mut output);
            assert_eq!(output, with);
            scan.inclusive_map(&numbers, &mut output, |&i| input[i]);
            assert_eq!(output, with);
            output.clone_from(&input);
            scan.inclusive_in_place(&mut output);
            assert_eq!(output, with);

            assert_eq!(scan.exclusive(&input, &mut output, IDENTITY), sum);
            assert_eq!(output, without);
            assert_eq!(scan.exclusive_map(&numbers, &mut output, IDENTITY, |&i| input[i]), sum);
            assert_eq!(output, without);
            output.clone_from(&input);
            assert_eq!(scan.exclusive_in_place(&mut output, IDENTITY), sum);
            assert_eq!(output, without);
        }
    }
}

#[test]
fn a_plain_loop_calls_the_operation_once_for_each_element() {
    let calls = AtomicUsize::new(0);
    let add = |a: &u64, b: &u64| {
        calls.fetch_add(1, SeqCst);
        a + b
    };
    let mut output = [0; 100];
    inclusive_scan(&[1; 100], &mut output, add);
    assert_eq!((output[99], calls.swap(0, SeqCst)), (100, 99));
    exclusive_scan(&[1; 100], &mut output, 0, add);
    assert_eq!((output[99], calls.swap(0, SeqCst)), (99, 100));
}

#[test]
#[should_panic = "a scan needs one output for each input"]
fn slices_of_different_lengths() {
    inclusive_scan(&[1, 2], &mut [0], |a, b| a + b);
}

/// Makes the steps of a chain with several threads, divided by chance.
fn by_threads<S: Form>(chain: &Chain<'_, S>, threads: usize) {
    let mut steps = Steps::of(chain);
    std::thread::scope(|scope| {
        for thread in 1..=threads {
            let len = if thread == threads { steps.len() } else { steps.len() / 2 };
            let (share, rest) = steps.split_at(len);
            steps = rest;
            scope.spawn(move || share.items().for_each(drop));
        }
    });
}

#[test]
fn several_threads_make_of_it_what_one_does() {
    let (rounds, chunks) = if cfg!(miri) { (2, 12) } else { (100, 60) };
    for round in 0..rounds {
        let input = functions(3 * (chunks + round) + 2);
        let (with, without, sum) = expected(&input);
        let threads = 2 + round % 3;
        let is_fixed = round % 2 == 0;

        let mut output = vec![IDENTITY; input.len()];
        let form = Inclusive(Plain(then), PhantomData);
        let pieces = input.chunks(3).zip(output.chunks_mut(3));
        by_threads(&Chain::new(&form, pieces, None, is_fixed), threads);
        assert_eq!(output, with);

        let form = Exclusive(Mapped { map: Affine::clone, op: then }, PhantomData);
        let pieces = input.chunks(3).zip(output.chunks_mut(3));
        let chain = Chain::new(&form, pieces, Some(IDENTITY), is_fixed);
        by_threads(&chain, threads);
        assert_eq!(chain.total(), Some(sum));
        assert_eq!(output, without);

        output.clone_from(&input);
        let form = InclusiveInPlace(Plain(then), PhantomData);
        by_threads(&Chain::new(&form, output.chunks_mut(3), None, is_fixed), threads);
        assert_eq!(output, with);

        output.clone_from(&input);
        let form = ExclusiveInPlace(Plain(then), PhantomData);
        let chain = Chain::new(&form, output.chunks_mut(3), Some(IDENTITY), is_fixed);
        by_threads(&chain, threads);
        assert_eq!(chain.total(), Some(sum));
        assert_eq!(output, without);
    }
}

/// Chunk 0 is held up until all others have been left by a thread that cannot wait for it.
#[test]
fn no_part_waits_for_a_chunk_that_does_not_come() {
    for is_fixed in [false, true] {
        let steps_made = AtomicUsize::new(0);
        let input = functions(100);
        let mut slice = input.clone();
        let form = InclusiveInPlace(
            Plain(|a: &Affine, b: &Affine| {
                let mut backoff = Backoff::new();
                while *a == input[0] && steps_made.load(SeqCst) < 9 {
                    backoff.wait();
                }
                then(a, b)
            }),
            PhantomData,
        );
        let chain = Chain::new(&form, slice.chunks_mut(10), None, is_fixed);
        let (first, others) = Steps::of(&chain).split_at(1);
        std::thread::scope(|scope| {
            scope.spawn(|| first.items().for_each(drop));
            scope.spawn(|| {
                let mut backoff = Backoff::new();
                while !chain.has_begun() {
                    backoff.wait();
                }
                for () in others.items() {
                    steps_made.fetch_add(1, SeqCst);
                }
            });
        });
        assert_eq!(slice, expected(&input).0);
    }
}

/// The carry into chunk 1 comes while its elements are being added up, which is then given up.
#[test]
fn a_chunk_with_an_early_carry_is_scanned_in_one_go() {
    let [is_adding_up, is_reached, later_calls] = [const { AtomicUsize::new(0) }; 3];
    let wait_for = |flag: &AtomicUsize| {
        let mut backoff = Backoff::new();
        while flag.load(SeqCst) == 0 {
            backoff.wait();
        }
    };
    let input = functions(100);
    let mut slice = input.clone();
    let form = InclusiveInPlace(
        Plain(|a: &Affine, b: &Affine| {
            if *a == input[0] {
                wait_for(&is_adding_up);
            } else if *a == input[50] {
                is_adding_up.store(1, SeqCst);
                wait_for(&is_reached);
            }
            if input[50..].contains(b) {
                later_calls.fetch_add(1, SeqCst);
            }
            then(a, b)
        }),
        PhantomData,
    );
    let chain = Chain::new(&form, slice.chunks_mut(50), None, false);
    let (first, second) = Steps::of(&chain).split_at(1);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            first.items().for_each(drop);
            is_reached.store(1, SeqCst);
        });
        scope.spawn(|| {
            let mut backoff = Backoff::new();
            while !chain.has_begun() {
                backoff.wait();
            }
            second.items().for_each(drop);
        });
    });
    assert_eq!(slice, expected(&input).0);
    assert_eq!(later_calls.into_inner(), 1 + 50);
}

#[test]
fn fixed_sums_are_the_same_to_the_last_bit_and_those_that_are_promised() {
    let random = Random::seeded(6);
    // 7 n + 6: the last chunk of a scan would take the remainder, so its last elements are left out.
    let len = if cfg!(miri) { 90 } else { 1_000 };
    let input: Vec<f32> = (0..len).map(|_| (random.next() % 1_000_000) as f32 / 7.0).collect();
    let add = |a: &f32, b: &f32| a + b;
    let (mut promised, mut carry) = (Vec::new(), None);
    for chunk in input.chunks(7) {
        for i in 0..chunk.len() {
            let sum = chunk[..=i].iter().copied();
            promised.extend(carry.into_iter().chain(sum).reduce(|a, b| a + b));
        }
        let sum = chunk.iter().copied().reduce(|a, b| a + b);
        carry = carry.into_iter().chain(sum).reduce(|a, b| a + b);
    }
    for &threads in if cfg!(miri) { &[2][..] } else { &[1, 2, 3, 5] } {
        for _ in 0..if cfg!(miri) { 1 } else { 20 } {
            let mut slice = input.clone();
            let form = InclusiveInPlace(Plain(add), PhantomData);
            by_threads(&Chain::new(&form, slice.chunks_mut(7), None, true), threads);
            assert_eq!(slice, promised);
        }
    }
    let mut output = vec![0.0; input.len()];
    Scan::new(add).fixed().grain(grain(7)).inclusive(&input[..len - 6], &mut output[..len - 6]);
    assert_eq!(output[..len - 6], promised[..len - 6]);
}

/// An element that owns memory. An element that was lost or duplicated would also be found by tools
/// that watch the memory.
struct Owned(Box<u64>);

#[test]
fn an_operation_that_panics_stops_all_and_loses_nothing() {
    for threads in [1, 2, 3] {
        for limit in (0..200).step_by(if cfg!(miri) { 61 } else { 1 }) {
            let calls = AtomicUsize::new(0);
            let add = |a: &Owned, b: &Owned| {
                if calls.fetch_add(1, SeqCst) == limit {
                    resume_unwind(Box::new("as it should"));
                }
                Owned(Box::new(*a.0 + *b.0))
            };
            let mut slice: Vec<Owned> = (0..90).map(|number| Owned(Box::new(number))).collect();
            let done = catch_unwind(AssertUnwindSafe(|| {
                let form = ExclusiveInPlace(Plain(add), PhantomData);
                let chain = Chain::new(&form, slice.chunks_mut(10), Some(Owned(Box::new(0))), limit % 2 == 0);
                by_threads(&chain, threads);
            }));
            assert_eq!(done.is_ok(), calls.load(SeqCst) <= limit);
            // The elements are all there: a lost or duplicated one would be found here.
            assert!(slice.iter().map(|element| *element.0).sum::<u64>() < 90 * 90 * 90);
        }
    }
}
