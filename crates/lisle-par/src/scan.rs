//! Scans: all sums up to some element, over all cores.
//!
//! A scan, or prefix sum, writes to each place the result of an associative operation on all
//! elements before it. An *inclusive* scan includes the element at the place; an *exclusive* scan
//! does not, and starts with an initial value.
//!
//! A scan is one pass over the memory. The slice is cut into chunks that fit the cache of a core,
//! and the participants claim them in order. A chunk is added up first if the sum of all chunks
//! before it is not known yet, and is scanned while it is still in the cache, after D. Merrill and
//! M. Garland, *Single-pass parallel prefix scan with decoupled look-back* (2016). With one domain
//! it is a plain loop.

mod chain;
mod forms;
mod in_model;
mod steps;
#[cfg(test)]
mod tests;

use super::{domains, origin};
use crate::event::is_modelled;
use chain::Form;
use forms::{Exclusive, ExclusiveInPlace, Inclusive, InclusiveInPlace, Mapped, Plain};
use std::marker::PhantomData;
use std::num::NonZeroUsize;

/// Writes to each place of `output` the sum of the elements of `input` up to and including that
/// place: `op` of all of them, in their order.
///
/// `op` has to be associative; it need not be commutative. It is called once for each element, or
/// up to twice if several domains take part. How sums are associated then depends on how the work
/// was divided; for floating-point numbers see [`Scan::fixed`].
///
/// # Panics
///
/// Panics if the slices differ in length, or if `op` panics; then some outputs are new, and the
/// others are unchanged.
///
/// ```
/// # use lisle_par::facade as lisle;
/// let mut sums = [0; 5];
/// lisle::par::inclusive_scan(&[1, 2, 3, 4, 5], &mut sums, |a, b| a + b);
/// assert_eq!(sums, [1, 3, 6, 10, 15]);
/// ```
#[track_caller]
pub fn inclusive_scan<T, F>(input: &[T], output: &mut [T], op: F)
where
    T: Clone + Send + Sync,
    F: Fn(&T, &T) -> T + Sync,
{
    Scan::new(op).inclusive(input, output);
}

/// Writes to each place of `output` the sum of `init` and the elements of `input` before that
/// place, and returns the sum of all.
///
/// `op` has to be associative; it need not be commutative. It is called once for each element, or
/// up to twice if several domains take part. How sums are associated then depends on how the work
/// was divided; for floating-point numbers see [`Scan::fixed`].
///
/// # Panics
///
/// Panics if the slices differ in length, or if `op` panics; then some outputs are new, and the
/// others are unchanged.
///
/// ```
/// # use lisle_par::facade as lisle;
/// let lengths = [3, 1, 4];
/// let mut starts = [0; 3];
/// let end = lisle::par::exclusive_scan(&lengths, &mut starts, 0, |a, b| a + b);
/// assert_eq!((starts, end), ([0, 3, 4], 8));
/// ```
#[track_caller]
pub fn exclusive_scan<T, F>(input: &[T], output: &mut [T], init: T, op: F) -> T
where
    T: Send + Sync,
    F: Fn(&T, &T) -> T + Sync,
{
    Scan::new(op).exclusive(input, output, init)
}

/// Replaces each element by the sum of all elements up to and including it.
///
/// This is [`inclusive_scan`] in place; the elements need not be `Clone` or `Sync`.
///
/// # Panics
///
/// Panics if `op` panics; then some elements have been replaced.
///
/// ```
/// # use lisle_par::facade as lisle;
/// let mut peaks = [3, 1, 4, 1, 5, 9, 2];
/// lisle::par::inclusive_scan_in_place(&mut peaks, |a, b| *a.max(b));
/// assert_eq!(peaks, [3, 3, 4, 4, 5, 9, 9]);
/// ```
#[track_caller]
pub fn inclusive_scan_in_place<T, F>(slice: &mut [T], op: F)
where
    T: Send,
    F: Fn(&T, &T) -> T + Sync,
{
    Scan::new(op).inclusive_in_place(slice);
}

/// Replaces each element by the sum of `init` and all elements before it, and returns the sum of
/// all.
///
/// This is [`exclusive_scan`] in place; the elements need not be `Sync`.
///
/// # Panics
///
/// Panics if `op` panics; then some elements have been replaced.
///
/// ```
/// # use lisle_par::facade as lisle;
/// let mut counts = [2, 0, 5];
/// assert_eq!(lisle::par::exclusive_scan_in_place(&mut counts, 0, |a, b| a + b), 7);
/// assert_eq!(counts, [0, 2, 2]);
/// ```
#[track_caller]
pub fn exclusive_scan_in_place<T, F>(slice: &mut [T], init: T, op: F) -> T
where
    T: Send,
    F: Fn(&T, &T) -> T + Sync,
{
    Scan::new(op).exclusive_in_place(slice, init)
}

/// A scan with an operation, and its settings.
///
/// The operation has to be associative, at least nearly, as the addition of floating-point numbers
/// is. It need not be commutative: the order of the elements is kept. It is called once for each
/// element, or up to twice if several domains take part. If the operation takes most of the time,
/// two domains are therefore at best one and a half times as fast as one, and *n* domains are (*n*
/// + 1) / 2 times as fast. If the memory takes most of the time, they are as fast as the memory.
///
/// ```
/// # use lisle_par::facade as lisle;
/// use lisle::par::Scan;
///
/// let words = ["parallel", "prefix", "sum"];
/// let mut ends = [0; 3];
/// Scan::new(|a: &usize, b: &usize| a + b).inclusive_map(&words, &mut ends, |word| word.len());
/// assert_eq!(ends, [8, 14, 17]);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Scan<F> {
    op: F,
    grain: Option<NonZeroUsize>,
    is_fixed: bool,
}

impl<F> Scan<F> {
    /// Creates a scan with this operation.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::Scan;
    ///
    /// // Associative, but not commutative: the order of the elements is kept.
    /// let join = Scan::new(|a: &String, b: &String| format!("{a}{b}"));
    /// let mut letters = ["a", "b", "c"].map(String::from);
    /// join.inclusive_in_place(&mut letters);
    /// assert_eq!(letters, ["a", "ab", "abc"]);
    /// ```
    pub fn new(op: F) -> Self {
        Scan { op, grain: None, is_fixed: false }
    }

    /// Sets the number of elements of a chunk (at least two).
    ///
    /// By default there are enough chunks for all domains, but no chunk of fewer than some hundred
    /// elements. These are too few chunks if the operation takes milliseconds.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::Scan;
    /// use std::num::NonZeroUsize;
    ///
    /// // Few elements, and an operation that takes long.
    /// let slow = Scan::new(|a: &u64, b: &u64| (0..1_000).fold(a * b, |n, _| n % 1_000_003));
    /// let mut products: Vec<u64> = (1..=8).collect();
    /// slow.grain(NonZeroUsize::new(2).unwrap()).inclusive_in_place(&mut products);
    /// assert_eq!(products, [1, 2, 6, 24, 120, 720, 5_040, 40_320]);
    /// ```
    #[must_use]
    pub fn grain(self, elements: NonZeroUsize) -> Self {
        Scan { grain: Some(elements), ..self }
    }

    /// Associates the sums in the same way for any number of domains and any timing. Floating-point
    /// numbers give the same results each time, to the last bit.
    ///
    /// The chunks depend only on the number of elements, their size, and the
    /// [`grain`](Self::grain). The sum of a chunk is computed from its elements from the left. The
    /// sum that is carried into a chunk is computed from the initial value, if there is one, and
    /// the sums of the chunks before, from the left. The outputs of a chunk are computed from that
    /// sum and its elements, from the left. The outputs are as close to the exact sums as the
    /// outputs of a plain loop, or closer. Where two chunks meet, however, outputs may fall by a
    /// rounding error although all elements are positive.
    ///
    /// The operation is called twice for each element, even with one domain.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::Scan;
    ///
    /// let input: Vec<f32> = (1..100_000).map(|i| 1.0 / i as f32).collect();
    /// let scan = Scan::new(|a: &f32, b: &f32| a + b).fixed();
    /// let (mut once, mut again) = (input.clone(), input);
    /// scan.inclusive_in_place(&mut once);
    /// scan.inclusive_in_place(&mut again);
    /// assert_eq!(once, again);
    /// ```
    #[must_use]
    pub fn fixed(self) -> Self {
        Scan { is_fixed: true, ..self }
    }

    /// Does the same as [`inclusive_scan`].
    ///
    /// # Panics
    ///
    /// Panics in the same cases.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::Scan;
    ///
    /// let sums = Scan::new(|a: &u32, b: &u32| a + b);
    /// let mut ends = [0; 3];
    /// sums.inclusive(&[2, 0, 5], &mut ends);
    /// assert_eq!(ends, [2, 2, 7]);
    ///
    /// let short = std::panic::catch_unwind(|| sums.inclusive(&[2, 0, 5], &mut [0; 2]));
    /// assert!(short.is_err()); // one output for each input
    /// ```
    #[track_caller]
    pub fn inclusive<T>(&self, input: &[T], output: &mut [T])
    where
        T: Clone + Send + Sync,
        F: Fn(&T, &T) -> T + Sync,
    {
        self.copying(Inclusive(Plain(&self.op), PhantomData), input, output, None);
    }

    /// Does the same as [`exclusive_scan`].
    ///
    /// # Panics
    ///
    /// Panics in the same cases.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::Scan;
    ///
    /// let sums = Scan::new(|a: &u32, b: &u32| a + b);
    /// let mut starts = [0; 3];
    /// assert_eq!(sums.exclusive(&[2, 0, 5], &mut starts, 10), 17);
    /// assert_eq!(starts, [10, 12, 12]);
    /// assert_eq!(sums.exclusive(&[], &mut [], 10), 10);
    /// ```
    #[track_caller]
    pub fn exclusive<T>(&self, input: &[T], output: &mut [T], init: T) -> T
    where
        T: Send + Sync,
        F: Fn(&T, &T) -> T + Sync,
    {
        total(self.copying(Exclusive(Plain(&self.op), PhantomData), input, output, Some(init)))
    }

    /// Does the same as [`inclusive_scan`] on the results of `map`, which is called as often as the
    /// operation.
    ///
    /// # Panics
    ///
    /// Panics in the same cases, and if `map` panics.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::Scan;
    ///
    /// let longest = Scan::new(|a: &usize, b: &usize| *a.max(b));
    /// let mut so_far = [0; 4];
    /// longest.inclusive_map(&["par", "or", "prefix", "sum"], &mut so_far, |word| word.len());
    /// assert_eq!(so_far, [3, 3, 6, 6]);
    /// ```
    #[track_caller]
    pub fn inclusive_map<A, T, M>(&self, input: &[A], output: &mut [T], map: M)
    where
        A: Sync,
        T: Send,
        M: Fn(&A) -> T + Sync,
        F: Fn(&T, &T) -> T + Sync,
    {
        self.copying(Inclusive(Mapped { map, op: &self.op }, PhantomData), input, output, None);
    }

    /// Does the same as [`exclusive_scan`] on the results of `map`, which is called as often as the
    /// operation.
    ///
    /// # Panics
    ///
    /// Panics in the same cases, and if `map` panics.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::Scan;
    ///
    /// // The place of each even number if the odd ones are left out.
    /// let numbers = [2, 3, 6, 8, 1];
    /// let mut places = [0; 5];
    /// let scan = Scan::new(|a: &usize, b: &usize| a + b);
    /// let evens = scan.exclusive_map(&numbers, &mut places, 0, |n| usize::from(n % 2 == 0));
    /// assert_eq!((places, evens), ([0, 1, 1, 2, 3], 3));
    /// ```
    #[track_caller]
    pub fn exclusive_map<A, T, M>(&self, input: &[A], output: &mut [T], init: T, map: M) -> T
    where
        A: Sync,
        T: Send,
        M: Fn(&A) -> T + Sync,
        F: Fn(&T, &T) -> T + Sync,
    {
        let form = Exclusive(Mapped { map, op: &self.op }, PhantomData);
        total(self.copying(form, input, output, Some(init)))
    }

    /// Does the same as [`inclusive_scan_in_place`].
    ///
    /// # Panics
    ///
    /// Panics in the same cases.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::Scan;
    ///
    /// let mut sums = [2, 0, 5];
    /// Scan::new(|a: &u32, b: &u32| a + b).inclusive_in_place(&mut sums);
    /// assert_eq!(sums, [2, 2, 7]);
    /// ```
    #[track_caller]
    pub fn inclusive_in_place<T>(&self, slice: &mut [T])
    where
        T: Send,
        F: Fn(&T, &T) -> T + Sync,
    {
        self.in_place(InclusiveInPlace(Plain(&self.op), PhantomData), slice, None);
    }

    /// Does the same as [`exclusive_scan_in_place`].
    ///
    /// # Panics
    ///
    /// Panics in the same cases.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::Scan;
    ///
    /// let mut counts = [2, 0, 5];
    /// let all = Scan::new(|a: &u32, b: &u32| a + b).exclusive_in_place(&mut counts, 10);
    /// assert_eq!((counts, all), ([10, 12, 12], 17));
    /// ```
    #[track_caller]
    pub fn exclusive_in_place<T>(&self, slice: &mut [T], init: T) -> T
    where
        T: Send,
        F: Fn(&T, &T) -> T + Sync,
    {
        total(self.in_place(ExclusiveInPlace(Plain(&self.op), PhantomData), slice, Some(init)))
    }

    #[track_caller]
    fn copying<'a, A, T, S>(
        &self,
        form: S,
        mut input: &'a [A],
        mut output: &'a mut [T],
        carry: Option<T>,
    ) -> Option<T>
    where
        S: Form<Item = T, Piece = (&'a [A], &'a mut [T])>,
    {
        let (inputs, outputs) = (input.len(), output.len());
        assert!(
            inputs == outputs,
            "a scan needs one output for each input: there are {inputs} inputs and {outputs} outputs"
        );
        let Some(chunks) = self.chunks(input.len(), size_of::<A>() + size_of::<T>()) else {
            return form.scan((input, output), carry, S::TOTAL);
        };
        let pieces = chunks.map(|len| {
            let (piece, rest) = input.split_at(len);
            input = rest;
            let (piece_of_output, rest) = std::mem::take(&mut output).split_at_mut(len);
            output = rest;
            (piece, piece_of_output)
        });
        origin::here(|| scan_chunks(&form, pieces, carry, self.is_fixed))
    }

    #[track_caller]
    fn in_place<'a, T, S>(&self, form: S, mut slice: &'a mut [T], carry: Option<T>) -> Option<T>
    where
        S: Form<Item = T, Piece = &'a mut [T]>,
    {
        let Some(chunks) = self.chunks(slice.len(), size_of::<T>()) else {
            return form.scan(slice, carry, S::TOTAL);
        };
        let pieces = chunks.map(|len| {
            let (piece, rest) = std::mem::take(&mut slice).split_at_mut(len);
            slice = rest;
            piece
        });
        origin::here(|| scan_chunks(&form, pieces, carry, self.is_fixed))
    }

    /// Returns the lengths of the chunks, at least two elements each, or `None` if several chunks
    /// are useless. An element takes `bytes` bytes.
    fn chunks(&self, len: usize, bytes: usize) -> Option<impl Iterator<Item = usize>> {
        /// The most bytes that a chunk takes in the cache, unless it is shorter than `SHORTEST`.
        const MOST_BYTES: usize = 1 << 17;
        /// The least number of elements of a chunk: claiming one takes as long as some hundred
        /// additions.
        const SHORTEST: usize = 512;

        // There are some chunks for each domain. A fixed scan must not depend on the number of
        // domains, nor on whether a model decides its schedule. In a model, other scans are divided
        // even if they are so short that no chunk pays.
        let (wanted, most, shortest) = match is_modelled() {
            _ if self.is_fixed => (64, 64, SHORTEST),
            true => (in_model::most_parts(), in_model::most_parts(), 2),
            false => (8 * domains(), domains(), SHORTEST),
        };
        let longest = (MOST_BYTES / bytes.max(1)).max(SHORTEST);
        let chunk = match self.grain {
            Some(grain) => grain.get().max(2),
            None => (len / wanted).clamp(shortest, longest),
        };
        let count = len / chunk;
        // The last chunk takes the remainder of the division, so no chunk is too short to have a
        // sum.
        let last = len - count.saturating_sub(1) * chunk;
        let is_worth_it = count > 1 && most > 1;
        is_worth_it.then(|| std::iter::repeat_n(chunk, count - 1).chain([last]))
    }
}

/// Scans chunks.
fn scan_chunks<S: Form>(
    form: &S,
    pieces: impl Iterator<Item = S::Piece>,
    carry: Option<S::Item>,
    is_fixed: bool,
) -> Option<S::Item> {
    match is_modelled() {
        true => in_model::scan(form, pieces, carry, is_fixed),
        false => steps::scan(form, pieces, carry, is_fixed),
    }
}

/// Unwraps the sum of an exclusive scan, which always has one because it begins with one.
fn total<T>(sum: Option<T>) -> T {
    sum.expect("there is an initial value")
}
