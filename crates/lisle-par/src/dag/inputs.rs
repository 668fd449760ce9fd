//! The inputs of a spark: the results of other sparks, borrowed.

use super::{Dag, Spark};
use crate::shim::sync::{Arc, OnceLock};

/// The sparks whose results a spark uses: a tuple of references to up to eight sparks, or a slice
/// of sparks of one type.
///
/// This trait is sealed.
pub trait Inputs: sealed::Keep {}

impl<I: sealed::Keep> Inputs for I {}

/// The argument of the function of a spark: for `(&Spark<A>, &Spark<B>)` it is `(&A, &B)`, for
/// `&[Spark<A>]` it is `Vec<&A>`.
///
/// This trait is sealed.
// The second parameter implies `Self: 'r` for users that need all `'r`; a bound would not.
pub trait Borrow<'r, Implied = &'r Self> {
    /// The references.
    type Refs;

    #[doc(hidden)]
    fn borrow(&'r self) -> Self::Refs;
}

pub(super) type Slot<T> = Arc<OnceLock<T>>;

fn get<T>(slot: &Slot<T>) -> &T {
    slot.get().expect("a spark runs after those whose results it uses")
}

pub(super) mod sealed {
    use super::{Borrow, Dag};

    pub trait Keep {
        /// The slots of the results.
        type Kept: for<'r> Borrow<'r> + Send;

        fn keep(self, dag: &Dag<'_>, indices: &mut Vec<usize>) -> Self::Kept;
    }
}

/// The slot of one result.
#[derive(Debug)]
pub struct Kept<T>(Slot<T>);

/// The slots of several results of one type.
#[derive(Debug)]
pub struct KeptAll<T>(Vec<Slot<T>>);

impl<T> Kept<T> {
    fn new(spark: &Spark<T>, dag: &Dag<'_>, indices: &mut Vec<usize>) -> Self {
        assert_eq!(spark.dag, dag.number, "a spark uses the result of a spark of another graph");
        indices.push(spark.index);
        Kept(spark.slot.clone())
    }
}

impl<'r, T> Borrow<'r> for KeptAll<T> {
    type Refs = Vec<&'r T>;

    fn borrow(&'r self) -> Vec<&'r T> {
        self.0.iter().map(get).collect()
    }
}

impl<T: Send + Sync> sealed::Keep for &[Spark<T>] {
    type Kept = KeptAll<T>;

    fn keep(self, dag: &Dag<'_>, indices: &mut Vec<usize>) -> KeptAll<T> {
        KeptAll(self.iter().map(|spark| Kept::new(spark, dag, indices).0).collect())
    }
}

impl<T: Send + Sync> sealed::Keep for &Vec<Spark<T>> {
    type Kept = KeptAll<T>;

    fn keep(self, dag: &Dag<'_>, indices: &mut Vec<usize>) -> KeptAll<T> {
        self.as_slice().keep(dag, indices)
    }
}

macro_rules! tuples {
    ($(($($name:ident $at:tt),*))*) => {$(
        impl<'r, $($name),*> Borrow<'r> for ($(Kept<$name>,)*) {
            type Refs = ($(&'r $name,)*);

            #[allow(clippy::unused_unit, reason = "for the empty tuple")]
            fn borrow(&'r self) -> Self::Refs {
                ($(get(&self.$at.0),)*)
            }
        }

        impl<$($name: Send + Sync),*> sealed::Keep for ($(&Spark<$name>,)*) {
            type Kept = ($(Kept<$name>,)*);

            #[allow(unused_variables, clippy::unused_unit, reason = "for the empty tuple")]
            fn keep(self, dag: &Dag<'_>, indices: &mut Vec<usize>) -> Self::Kept {
                ($(Kept::new(self.$at, dag, indices),)*)
            }
        }
    )*};
}

tuples! {
    ()
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7)
}
