//! Joins and loops over all domains within a session.
//!
//! A join leaves the heap, and each of its functions enters it again: the function that runs here continues the session, and the one
//! that another domain takes has a session on that domain's thread. The words of the handles stay in the root stack of the caller, which
//! does not change meanwhile. The other session copies them when it is inside, so no collection moves the objects at that moment.

use crate::array::Array;
use crate::full::{Full, unless_full};
use crate::inner::Inner;
use crate::local::Local;
use crate::lock::lock;
use crate::raw::NONE;
use crate::scope::Scope;
use crate::word::Word;
use std::ops::Range;
use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Handles that [`Scope::join`] passes to a function: a [`Local`], a tuple of up to four of these, an array, or `()`.
pub trait Handles: Copy + sealed::Sealed {
    /// The same handles, in a scope of another session.
    type In<'i>;

    #[doc(hidden)]
    fn rebind<'i>(self, scope: &Scope<'i>) -> Self::In<'i>;
}

mod sealed {
    pub trait Sealed {}
}

impl<W: Word> sealed::Sealed for Local<'_, W> {}

impl<W: Word> Handles for Local<'_, W> {
    type In<'i> = Local<'i, W>;

    fn rebind<'i>(self, scope: &Scope<'i>) -> Local<'i, W> {
        scope.push(self.load())
    }
}

impl sealed::Sealed for () {}

impl Handles for () {
    type In<'i> = ();

    fn rebind<'i>(self, _: &Scope<'i>) {}
}

impl<H: Handles, const N: usize> sealed::Sealed for [H; N] {}

impl<H: Handles, const N: usize> Handles for [H; N] {
    type In<'i> = [H::In<'i>; N];

    fn rebind<'i>(self, scope: &Scope<'i>) -> Self::In<'i> {
        self.map(|handle| handle.rebind(scope))
    }
}

macro_rules! tuples {
    ($($H:ident)*) => {
        impl<$($H: Handles),*> sealed::Sealed for ($($H,)*) {}

        impl<$($H: Handles),*> Handles for ($($H,)*) {
            type In<'i> = ($($H::In<'i>,)*);

            fn rebind<'i>(self, scope: &Scope<'i>) -> Self::In<'i> {
                #[expect(non_snake_case, reason = "a name for the type and its value")]
                let ($($H,)*) = self;
                ($($H.rebind(scope),)*)
            }
        }
    };
}

tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);

/// Handles on their way to another thread.
#[derive(Clone, Copy)]
struct Sent<H>(H);

// SAFETY: `Sent` is only used within a join. Until that ends, the scope of the handles does not, and no code changes their words: the
// caller waits for the join, and its session is borrowed. The words are read inside.
unsafe impl<H> Send for Sent<H> {}
// SAFETY: as above.
unsafe impl<H> Sync for Sent<H> {}

impl<H> Sent<H> {
    fn get(self) -> H {
        self.0
    }
}

/// Calls `each` with each index of the range, in parallel. At most `grain` of them share an entry.
fn over(
    inner: &Inner,
    site: &'static Location<'static>,
    range: Range<usize>,
    grain: usize,
    each: &(impl Fn(&mut Scope<'_>, usize) + Sync),
) {
    if range.len() <= grain {
        return Scope::enter(inner, site, |s| {
            for index in range {
                s.scope(|s| each(s, index));
                s.poll();
            }
        });
    }
    let middle = range.start + range.len() / 2;
    let (left, right) = (range.start..middle, middle..range.end);
    let half = |range| move || over(inner, site, range, grain, each);
    lisle_par::join_at(half(left), half(right), site);
}

impl<'s> Scope<'s> {
    /// Calls two functions, and returns their results when both have ended. If another domain has time, it takes `g`. Each function gets
    /// the handles beside it, and a scope of its own.
    ///
    /// Others may collect meanwhile, so objects may move, as in a call that may collect. A result that is an object is returned as a
    /// [`Global`](crate::Global).
    ///
    /// On a plain thread, the domains of the default runtime take both. See [`join`](lisle_par::join) for what the functions may wait for.
    ///
    /// # Cost
    ///
    /// Leaves the heap and enters it twice, which takes some 100 ns, so small problems are better solved by a call.
    ///
    /// # Panics
    ///
    /// With the panic of `f`, or else with that of `g`, after both have ended.
    ///
    /// # Cancel safety
    ///
    /// If the fiber is unwound, by a deadline or since its runtime ends, `join` unwinds when the function that another domain has taken has
    /// ended.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle_heap::{Gc, Heap, Local, Object, Scope};
    ///
    /// #[derive(Object)]
    /// struct Tree {
    ///     left: Gc<Option<Tree>>,
    ///     right: Gc<Option<Tree>>,
    /// }
    ///
    /// fn tree<'s>(s: &mut Scope<'s>, depth: u32) -> Local<'s, Tree> {
    ///     if depth == 0 {
    ///         return s.alloc::<Tree>(Tree::init(None, None));
    ///     }
    ///     s.escape(|s| {
    ///         let half = move |s: &mut Scope<'_>, ()| {
    ///             let half = tree(s, depth - 1);
    ///             s.global::<Tree>(half)
    ///         };
    ///         let (left, right) = s.join((), half, (), half);
    ///         let (left, right) = (s.take(left), s.take(right));
    ///         s.alloc::<Tree>(Tree::init(left, right))
    ///     })
    /// }
    ///
    /// fn count(s: &mut Scope<'_>, tree: Local<'_, Tree>) -> usize {
    ///     let (left, right) = (s.local(tree.get(s).left()), s.local(tree.get(s).right()));
    ///     let part = |s: &mut Scope<'_>, part: Local<'_, Option<Tree>>| match part.get(s) {
    ///         Some(tree) => {
    ///             let tree = s.local(tree);
    ///             count(s, tree)
    ///         }
    ///         None => 0,
    ///     };
    ///     let (left, right) = s.join(left, part, right, part);
    ///     left + right + 1
    /// }
    ///
    /// Heap::new().enter(|s| {
    ///     let tree = tree(s, 8);
    ///     assert_eq!(count(s, tree), 511);
    /// });
    /// ```
    #[track_caller]
    pub fn join<A: Handles, B: Handles, RA: Send, RB: Send>(
        &mut self,
        a: A,
        f: impl for<'i> FnOnce(&mut Scope<'i>, A::In<'i>) -> RA + Send,
        b: B,
        g: impl for<'i> FnOnce(&mut Scope<'i>, B::In<'i>) -> RB + Send,
    ) -> (RA, RB) {
        let (site, inner) = (Location::caller(), self.heap());
        let (a, b) = (Sent(a), Sent(b));
        let f = || {
            Scope::enter(inner, site, |s| {
                let a = a.get().rebind(s);
                f(s, a)
            })
        };
        let g = || {
            Scope::enter(inner, site, |s| {
                let b = b.get().rebind(s);
                g(s, b)
            })
        };
        self.outside(|| lisle_par::join_at(f, g, site))
    }

    /// Calls `f` for each element of an array, in parallel on all domains, and returns an array of its results, in the same order.
    ///
    /// The elements are read when `f` is called for them. Others may collect meanwhile, so objects may move.
    ///
    /// # Cost
    ///
    /// Some 20 ns for each element, and a join for each 64 elements at most. Handles that `f` makes end with its call.
    ///
    /// # Panics
    ///
    /// With the panic of one call of `f`, after all calls that have begun have ended. If the heap is [full](crate::Full).
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle_heap::{Array, Heap, Value};
    ///
    /// #[derive(Value)]
    /// enum Number {
    ///     Int(i64),
    /// }
    ///
    /// Heap::new().enter(|s| {
    ///     let numbers = s.array::<Number>(1_000, Number::int(20));
    ///     let sums = s.par_map(numbers, |s, number| {
    ///         let NumberView::Int(number) = number.get(s);
    ///         s.local::<Number>(NumberView::Int((1..=number).sum()))
    ///     });
    ///     assert!(sums.get(s).iter().all(|sum| matches!(sum.get(), NumberView::Int(210))));
    /// });
    /// ```
    #[track_caller]
    pub fn par_map<V: Word, W: Word>(
        &mut self,
        array: Local<'_, Array<V>>,
        f: impl for<'i> Fn(&mut Scope<'i>, Local<'i, V>) -> Local<'i, W> + Sync,
    ) -> Local<'s, Array<W>> {
        unless_full(self.try_par_map(array, (), |s, element, ()| Ok(f(s, element))))
    }

    /// Calls `f` for each element of an array, in parallel on all domains, and returns an array of its results, or its error. `f` gets
    /// `shared` beside each element.
    ///
    /// # Errors
    ///
    /// The error of the first element for which `f` has one, as a loop would return it. Elements after it may be passed over. If the heap
    /// has no room for the array of results.
    ///
    /// # Panics
    ///
    /// With the panic of one call of `f`, after all calls that have begun have ended.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle_heap::{Full, Heap, Object, Value};
    ///
    /// #[derive(Value)]
    /// enum Number {
    ///     Int(i64),
    /// }
    ///
    /// #[derive(Object)]
    /// struct Divisor {
    ///     by: i64,
    /// }
    ///
    /// #[derive(Debug, PartialEq)]
    /// enum Error {
    ///     Full,
    ///     Divide(i64),
    /// }
    ///
    /// impl From<Full> for Error {
    ///     fn from(_: Full) -> Self {
    ///         Self::Full
    ///     }
    /// }
    ///
    /// Heap::new().enter(|s| {
    ///     let numbers = s.array::<Number>(1_000, Number::int(20));
    ///     for (by, expected) in [(5, Ok(4)), (0, Err(Error::Divide(20)))] {
    ///         let divisor = s.alloc::<Divisor>(Divisor::init(by));
    ///         let divided = s.try_par_map(numbers, divisor, |s, number, divisor| {
    ///             let NumberView::Int(number) = number.get(s);
    ///             let divided = number.checked_div(divisor.get(s).by).ok_or(Error::Divide(number))?;
    ///             Ok(s.local::<Number>(NumberView::Int(divided)))
    ///         });
    ///         let first = divided.map(|divided| {
    ///             let NumberView::Int(first) = divided.get(s).at(0).get();
    ///             first
    ///         });
    ///         assert_eq!(first, expected);
    ///     }
    /// });
    /// ```
    #[track_caller]
    pub fn try_par_map<V: Word, W: Word, H: Handles, E: From<Full> + Send>(
        &mut self,
        array: Local<'_, Array<V>>,
        shared: H,
        f: impl for<'i> Fn(&mut Scope<'i>, Local<'i, V>, H::In<'i>) -> Result<Local<'i, W>, E> + Sync,
    ) -> Result<Local<'s, Array<W>>, E> {
        // The elements have no value until `f` has returned one, and no other code sees the array until then.
        let results = self.array_of::<W>(array.get(self).len(), || NONE)?;
        let (to, shared) = (Sent(results), Sent(shared));
        // Elements before the first one that has failed are not passed over, so the error is that of a loop.
        let (first, error) = (AtomicUsize::new(usize::MAX), Mutex::new(None));
        self.over_array(array, |s, index, element| {
            if index > first.load(Ordering::Relaxed) {
                return;
            }
            let shared = shared.get().rebind(s);
            match f(s, element, shared) {
                Ok(result) => {
                    let to = to.get().rebind(s);
                    to.get(s).at(index).set_raw(s, result.load());
                }
                Err(failed) => {
                    let mut error = lock(&error);
                    if index < first.load(Ordering::Relaxed) {
                        first.store(index, Ordering::Relaxed);
                        *error = Some(failed);
                    }
                }
            }
        });
        let error = error.into_inner().unwrap_or_else(PoisonError::into_inner);
        error.map_or(Ok(results), Err)
    }

    /// Calls `f` for each element of an array, in parallel on all domains.
    ///
    /// # Panics
    ///
    /// As [`par_map`](Self::par_map).
    #[track_caller]
    pub fn par_for_each<V: Word>(
        &mut self,
        array: Local<'_, Array<V>>,
        f: impl for<'i> Fn(&mut Scope<'i>, Local<'i, V>) + Sync,
    ) {
        self.over_array(array, |s, _, element| f(s, element));
    }

    #[track_caller]
    fn over_array<V: Word>(
        &mut self,
        array: Local<'_, Array<V>>,
        each: impl for<'i> Fn(&mut Scope<'i>, usize, Local<'i, V>) + Sync,
    ) {
        /// More elements would let other threads wait too long for one, if `f` takes long.
        const MOST: usize = 64;

        let (site, inner, len) = (Location::caller(), self.heap(), array.get(self).len());
        let grain = (len / (16 * inner.processors)).clamp(1, MOST);
        let array = Sent(array);
        self.outside(|| {
            over(inner, site, 0..len, grain, &|s: &mut Scope<'_>, index| {
                let array = array.get().rebind(s);
                let element = s.push(array.get(s).at(index).raw());
                each(s, index, element);
            });
        });
    }
}
