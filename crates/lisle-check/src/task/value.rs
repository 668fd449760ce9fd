//! Values whose type is known to the program alone.
//!
//! An interpreter handles the values of programs without knowing their types. It stores them and
//! hands them on; the checker also compares and hashes them, to recognise states. *Invariant:* a
//! value comes out with the type with which it was put in, since only typed handles reach it.

use std::any::{Any, type_name};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A value that tasks may pass to each other. It can be cloned, compared, hashed, printed and sent.
///
/// It is implemented for every such type. Floating point numbers cannot be compared for equality in
/// the way that is needed; pass their bits ([`f64::to_bits`]).
pub trait Value: Any + Clone + Eq + Hash + fmt::Debug + Send + Sync {}

impl<T: Any + Clone + Eq + Hash + fmt::Debug + Send + Sync> Value for T {}

/// The methods of a [`Value`] whose type is forgotten.
trait Erased: Any + fmt::Debug + Send + Sync {
    fn equals(&self, other: &dyn Any) -> bool;
    fn hash_into(&self, hasher: &mut dyn Hasher);
}

impl<T: Value> Erased for T {
    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<T>() == Some(self)
    }

    fn hash_into(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }
}

/// A value of some type, as an [`Outcome`](super::Outcome) contains it.
///
/// # Examples
///
/// ```
/// use lisle_check::task::{check_value, give};
///
/// let verdict = check_value(give("forty-two"));
/// let answer = verdict.outcomes[0].outcome.answer.as_ref().unwrap();
/// assert_eq!(answer.downcast_ref::<&str>(), Some(&"forty-two"));
/// assert_eq!(format!("{answer:?}"), "\"forty-two\"");
/// ```
#[derive(Clone)]
pub struct Datum(Arc<dyn Erased>);

impl Datum {
    pub(super) fn new(value: impl Value) -> Self {
        Datum(Arc::new(value))
    }

    /// Returns the value if it is a `T`.
    pub fn downcast_ref<T: Value>(&self) -> Option<&T> {
        let value: &dyn Any = &*self.0;
        value.downcast_ref()
    }

    /// Returns the value, which the program's types say is a `T`.
    ///
    /// # Panics
    ///
    /// Panics if it is not: a handle was carried from one interpretation of a program to another.
    pub(super) fn take<T: Value>(&self) -> T {
        self.downcast_ref().cloned().unwrap_or_else(|| {
            panic!(
                "{self:?} is not a {}: a handle was used that another run of the program has made; \
                 make cells inside the program",
                type_name::<T>()
            )
        })
    }
}

impl PartialEq for Datum {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.equals(&*other.0)
    }
}

impl Eq for Datum {}

impl Hash for Datum {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.hash_into(hasher);
    }
}

impl fmt::Debug for Datum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::Datum;
    use std::hash::BuildHasher;

    #[test]
    fn equal_values_of_one_type_are_equal_and_hash_alike() {
        let (one, other) = (Datum::new(7_u32), Datum::new(7_u32));
        assert_eq!(one, other);
        let hasher = rustc_hash::FxBuildHasher;
        assert_eq!(hasher.hash_one(&one), hasher.hash_one(&other));
        assert_ne!(one, Datum::new(8_u32));
        assert_ne!(one, Datum::new(7_u64), "the type counts");
    }

    #[test]
    #[should_panic(expected = "another run of the program")]
    fn taking_the_wrong_type_says_how_that_comes() {
        Datum::new(7_u32).take::<String>();
    }
}
