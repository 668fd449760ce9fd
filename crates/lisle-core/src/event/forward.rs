//! Macros for events that differ from another event in a detail, and for events that wait at a
//! [`Source`](super::Source).

/// Implements the methods of an event whose branches are those of the event in one of its fields:
/// all methods except `complete` and `describe`. With `describe`, implements that method.
#[doc(hidden)]
#[macro_export]
macro_rules! forwarded {
    (describe $($field:ident).+) => {
        fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut $crate::event::Description) {
            self.$($field).+.describe(branch, waits);
        }
    };
    ($($field:ident).+: $inner:ty) => {
        $crate::event::forwarded!($($field).+: $inner, <$inner as $crate::Event>::Branch<'e>);
    };
    ($($field:ident).+: $inner:ty, $branch:ty) => {
        type Branch<'e>
            = $branch
        where
            Self: 'e;

        const STAGED: bool = <$inner as $crate::Event>::STAGED;

        #[inline]
        fn is_single(&self) -> bool {
            self.$($field).+.is_single()
        }
        #[inline]
        fn depth(&self) -> usize {
            self.$($field).+.depth()
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
pub use forwarded;

/// Implements the methods of an event that waits at a source: all methods except `complete` and
/// `describe`. In the expressions for the source and for the function that takes from its state,
/// `$this` stands for the event. With `describe`, implements that method.
#[doc(hidden)]
#[macro_export]
macro_rules! waits_at {
    (describe $operation:literal) => {
        fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut $crate::event::Description) {
            branch.describe($operation, waits);
        }
    };
    ($this:ident: $state:ty, $grant:ty; $source:expr, $take:expr) => {
        type Branch<'e>
            = $crate::event::Hidden<'e, $state, $grant>
        where
            Self: 'e;

        #[inline]
        fn is_single(&self) -> bool {
            true
        }
        #[inline]
        fn branch(&self) -> Self::Branch<'_> {
            let $this = self;
            $source.hidden()
        }
        #[inline]
        fn try_commit<'e>(
            &'e self,
            branch: std::pin::Pin<&mut Self::Branch<'e>>,
            attempt: &$crate::event::Attempt<'_>,
        ) -> $crate::event::Step {
            let $this = self;
            let _ = $this;
            // SAFETY: the branch belongs to this event.
            unsafe { branch.try_commit(attempt, $take) }
        }
        #[inline]
        fn publish<'e>(
            &'e self,
            branch: std::pin::Pin<&mut Self::Branch<'e>>,
            attempt: &$crate::event::Attempt<'_>,
        ) -> $crate::event::Step {
            let $this = self;
            let _ = $this;
            // SAFETY: the branch belongs to this event.
            unsafe { branch.publish(attempt, $take) }
        }
        #[inline]
        fn withdraw<'e>(
            &'e self,
            branch: std::pin::Pin<&mut Self::Branch<'e>>,
            attempt: &$crate::event::Attempt<'_>,
        ) -> bool {
            // SAFETY: the branch belongs to this event.
            unsafe { branch.withdraw(attempt) }
        }
    };
}
pub use waits_at;

/// Does the same as [`waits_at`], for an event that may have no source. Then the result of its
/// steps is that of `absent`: [`Attempt::at_once`](crate::event::Attempt::at_once), or that it
/// waits, forever.
#[doc(hidden)]
#[macro_export]
macro_rules! may_wait_at {
    ($this:ident: $state:ty, $grant:ty; $source:expr, $take:expr, $absent:expr) => {
        type Branch<'e>
            = Option<$crate::event::Hidden<'e, $state, $grant>>
        where
            Self: 'e;

        #[inline]
        fn is_single(&self) -> bool {
            true
        }
        #[inline]
        fn branch(&self) -> Self::Branch<'_> {
            let $this = self;
            $source.map($crate::event::Source::hidden)
        }
        #[inline]
        fn try_commit<'e>(
            &'e self,
            branch: std::pin::Pin<&mut Self::Branch<'e>>,
            attempt: &$crate::event::Attempt<'_>,
        ) -> $crate::event::Step {
            branch.as_pin_mut().map_or_else(
                || $absent(attempt),
                |branch| {
                    // SAFETY: the branch belongs to this event.
                    unsafe { branch.try_commit(attempt, $take) }
                },
            )
        }
        #[inline]
        fn publish<'e>(
            &'e self,
            branch: std::pin::Pin<&mut Self::Branch<'e>>,
            attempt: &$crate::event::Attempt<'_>,
        ) -> $crate::event::Step {
            branch.as_pin_mut().map_or_else(
                || $absent(attempt),
                |branch| {
                    // SAFETY: the branch belongs to this event.
                    unsafe { branch.publish(attempt, $take) }
                },
            )
        }
        #[inline]
        fn withdraw<'e>(
            &'e self,
            branch: std::pin::Pin<&mut Self::Branch<'e>>,
            attempt: &$crate::event::Attempt<'_>,
        ) -> bool {
            branch.as_pin_mut().is_some_and(|branch| {
                // SAFETY: the branch belongs to this event.
                unsafe { branch.withdraw(attempt) }
            })
        }
    };
}
pub use may_wait_at;
