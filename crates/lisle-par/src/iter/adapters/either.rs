//! One of two parallel iterators over the same type of items, which is chosen when the program
//! runs.

use crate::iter::exact::exact_part;
use crate::iter::{
    Consumer, ExactPart, IndexedParallelIterator, IntoParallelIterator, ParallelExtend, ParallelIterator,
    Part, Plan,
};
use either::Either::{self, Left, Right};

impl<L, R> ParallelIterator for Either<L, R>
where
    L: ParallelIterator,
    R: ParallelIterator<Item = L::Item>,
{
    type Item = L::Item;
    type Part<'a>
        = Either<L::Part<'a>, R::Part<'a>>
    where
        Self: 'a;

    fn part(&mut self) -> Self::Part<'_> {
        match self {
            Left(iter) => Left(iter.part()),
            Right(iter) => Right(iter.part()),
        }
    }

    fn plan(&self) -> Plan {
        self.as_ref().either(L::plan, R::plan)
    }

    fn exact_len(&self) -> Option<usize> {
        self.as_ref().either(L::exact_len, R::exact_len)
    }

    #[track_caller]
    fn drive<C: Consumer<Item = L::Item>>(self, consumer: &C, plan: Plan) -> C::Acc {
        match self {
            Left(iter) => iter.drive(consumer, plan),
            Right(iter) => iter.drive(consumer, plan),
        }
    }
}

impl<L, R> IndexedParallelIterator for Either<L, R>
where
    L: IndexedParallelIterator,
    R: IndexedParallelIterator<Item = L::Item>,
{
    exact_part!(
        Either<L::Exact<'a>, R::Exact<'a>>,
        |this| match this {
            Left(iter) => Left(iter.exact()),
            Right(iter) => Right(iter.exact()),
        },
        this.as_ref().either(L::len, R::len)
    );
}

impl<A: Part, B: Part<Item = A::Item>> Part for Either<A, B> {
    type Item = A::Item;
    type Items = Either<A::Items, B::Items>;

    #[inline]
    fn len(&self) -> usize {
        self.as_ref().either(A::len, B::len)
    }

    fn split_at(self, at: usize) -> (Self, Self) {
        match self {
            Left(part) => {
                let (left, right) = part.split_at(at);
                (Left(left), Left(right))
            }
            Right(part) => {
                let (left, right) = part.split_at(at);
                (Right(left), Right(right))
            }
        }
    }

    #[inline]
    fn items(self) -> Self::Items {
        match self {
            Left(part) => Left(part.items()),
            Right(part) => Right(part.items()),
        }
    }
}

impl<A: ExactPart, B: ExactPart<Item = A::Item>> ExactPart for Either<A, B> {
    type Back = Either<A::Back, B::Back>;

    fn back(self) -> Self::Back {
        match self {
            Left(part) => Left(part.back()),
            Right(part) => Right(part.back()),
        }
    }
}

impl<T: Send, L: ParallelExtend<T>, R: ParallelExtend<T>> ParallelExtend<T> for Either<L, R> {
    #[track_caller]
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, iter: I) {
        match self {
            Left(collection) => collection.par_extend(iter),
            Right(collection) => collection.par_extend(iter),
        }
    }
}
