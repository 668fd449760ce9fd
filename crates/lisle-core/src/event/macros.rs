//! Macros for the common parts of many events: for events that differ from another event in a detail,
//! for events that are no choice or wait at a [`Source`](crate::event::Source), and for `Debug` and
//! `Clone`.

/// Implements the methods of an event that has the branches of the event in one of its fields: all
/// methods except `complete` and `describe`. With `describe`, implements that method.
#[doc(hidden)]
#[macro_export]
macro_rules! forwarded {
    (describe $($field:ident).+) => {
        fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut $crate::event::Description) {
            self.$($field).+.describe(branch, waits);
        }
        $crate::event::forwarded!(awaits $($field).+);
    };
    (awaits $($field:ident).+) => {
        fn awaits<'e>(&'e self, branch: &Self::Branch<'e>) -> Option<$crate::event::awaited::Awaits> {
            self.$($field).+.awaits(branch)
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

/// Implements the branch and the steps of an event that is no choice: all methods except
/// `complete`, `describe` and the methods with a default. The expressions are the results of the
/// methods; in them the names between the bars stand for the event, the branch and the attempt.
#[doc(hidden)]
#[macro_export]
macro_rules! single {
    ($(#[$inline:meta])? |$this:ident, $branch:ident: $type:ty, $attempt:ident|
     branch: $new:expr,
     try_commit: $try_commit:expr,
     publish: $publish:expr,
     withdraw: $withdraw:expr) => {
        type Branch<'e>
            = $type
        where
            Self: 'e;

        $(#[$inline])?
        fn is_single(&self) -> bool {
            true
        }
        $(#[$inline])?
        #[allow(unused_variables)]
        fn branch(&self) -> Self::Branch<'_> {
            let $this = self;
            $new
        }
        $(#[$inline])?
        #[allow(unused_variables)]
        fn try_commit<'e>(
            &'e self,
            $branch: std::pin::Pin<&mut Self::Branch<'e>>,
            $attempt: &$crate::event::Attempt<'_>,
        ) -> $crate::event::Step {
            let $this = self;
            $try_commit
        }
        $(#[$inline])?
        #[allow(unused_variables)]
        fn publish<'e>(
            &'e self,
            $branch: std::pin::Pin<&mut Self::Branch<'e>>,
            $attempt: &$crate::event::Attempt<'_>,
        ) -> $crate::event::Step {
            let $this = self;
            $publish
        }
        $(#[$inline])?
        #[allow(unused_variables)]
        fn withdraw<'e>(
            &'e self,
            $branch: std::pin::Pin<&mut Self::Branch<'e>>,
            $attempt: &$crate::event::Attempt<'_>,
        ) -> bool {
            let $this = self;
            $withdraw
        }
    };
}
pub use single;

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
    ($this:ident: $state:ty, $grant:ty $(, $label:ty)?; $source:expr, $take:expr) => {
        $crate::event::single! { #[inline]
            |$this, branch: $crate::event::Hidden<'e, $state, $grant $(, $label)?>, attempt|
            branch: $source.hidden(),
            // SAFETY: the branch belongs to this event.
            try_commit: unsafe { branch.try_commit(attempt, $take) },
            // SAFETY: the branch belongs to this event.
            publish: unsafe { branch.publish(attempt, $take) },
            // SAFETY: the branch belongs to this event.
            withdraw: unsafe { branch.withdraw(attempt) }
        }
    };
}
pub use waits_at;

/// Does the same as [`waits_at`], for an event that may have no source. Then its steps have the
/// result of `absent`: [`Attempt::at_once`](crate::event::Attempt::at_once), or a wait for ever.
#[doc(hidden)]
#[macro_export]
macro_rules! may_wait_at {
    ($this:ident: $state:ty, $grant:ty $(, $label:ty)?; $source:expr, $take:expr, $absent:expr) => {
        $crate::event::single! { #[inline]
            |$this, branch: Option<$crate::event::Hidden<'e, $state, $grant $(, $label)?>>, attempt|
            branch: $source.map($crate::event::Source::hidden),
            try_commit: match branch.as_pin_mut() {
                // SAFETY: the branch belongs to this event.
                Some(branch) => unsafe { branch.try_commit(attempt, $take) },
                None => $absent(attempt),
            },
            publish: match branch.as_pin_mut() {
                // SAFETY: the branch belongs to this event.
                Some(branch) => unsafe { branch.publish(attempt, $take) },
                None => $absent(attempt),
            },
            // SAFETY: the branch belongs to this event.
            withdraw: branch.as_pin_mut().is_some_and(|branch| unsafe { branch.withdraw(attempt) })
        }
    };
}
pub use may_wait_at;

/// Implements `Debug` for a type of which only the name is shown.
macro_rules! debug_by_name {
    ([$($generics:tt)*] $type:ident $(<$($argument:tt),*>)?) => {
        impl<$($generics)*> std::fmt::Debug for $type $(<$($argument),*>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(stringify!($type))
            }
        }
    };
}
pub(crate) use debug_by_name;

/// Implements `Clone` and `Copy` for a type whose fields can be copied whatever its parameters are.
macro_rules! copied {
    ([$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> Clone for $type {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<$($generics)*> Copy for $type {}
    };
}
pub(crate) use copied;
