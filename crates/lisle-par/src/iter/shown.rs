//! `Debug` for parallel iterators, whose closures have none.

/// Implements `Debug` for a type with closures or other parameters that are not shown: shows the fields that are named.
macro_rules! shown {
    ([$($generics:tt)*] $Type:ty, $name:expr $(, $field:ident)*) => {
        impl<$($generics)*> std::fmt::Debug for $Type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct($name)$(.field(stringify!($field), &self.$field))*.finish_non_exhaustive()
            }
        }
    };
}
pub(in crate::iter) use shown;
