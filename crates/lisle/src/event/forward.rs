//! Events that are another event but for a detail.

/// The methods of an event whose branches are those of the event in one of its fields: all but `complete` and `describe`.
/// With `describe`, that method.
macro_rules! forwarded {
    (describe $($field:ident).+) => {
        fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut $crate::event::Waits) {
            self.$($field).+.describe(branch, waits);
        }
    };
    ($($field:ident).+: $inner:ty) => {
        $crate::event::forwarded!($($field).+: $inner, <$inner as $crate::event::Event>::Branch<'e>);
    };
    ($($field:ident).+: $inner:ty, $branch:ty) => {
        type Branch<'e>
            = $branch
        where
            Self: 'e;

        const STAGED: bool = <$inner as $crate::event::Event>::STAGED;

        #[inline]
        fn is_single(&self) -> bool {
            self.$($field).+.is_single()
        }
        #[inline]
        fn branch(&self) -> Self::Branch<'_> {
            self.$($field).+.branch()
        }
        #[inline]
        fn force<'e>(&'e self, branch: std::pin::Pin<&mut Self::Branch<'e>>) {
            self.$($field).+.force(branch);
        }
        #[inline]
        fn try_commit<'e>(
            &'e self,
            branch: std::pin::Pin<&mut Self::Branch<'e>>,
            attempt: &$crate::event::Attempt<'_>,
        ) -> $crate::event::Step {
            self.$($field).+.try_commit(branch, attempt)
        }
        #[inline]
        fn publish<'e>(
            &'e self,
            branch: std::pin::Pin<&mut Self::Branch<'e>>,
            attempt: &$crate::event::Attempt<'_>,
        ) -> $crate::event::Step {
            self.$($field).+.publish(branch, attempt)
        }
        #[inline]
        fn withdraw<'e>(
            &'e self,
            branch: std::pin::Pin<&mut Self::Branch<'e>>,
            attempt: &$crate::event::Attempt<'_>,
        ) -> bool {
            self.$($field).+.withdraw(branch, attempt)
        }
        #[inline]
        fn advance<'e>(&'e self, branch: std::pin::Pin<&mut Self::Branch<'e>>) -> bool {
            self.$($field).+.advance(branch)
        }
        #[inline]
        fn lose<'e>(&'e self, branch: std::pin::Pin<&mut Self::Branch<'e>>) {
            self.$($field).+.lose(branch);
        }
    };
}
pub(crate) use forwarded;
