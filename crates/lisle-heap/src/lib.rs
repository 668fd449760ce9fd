#![doc = include_str!("../README.md")]

#[cfg(not(target_pointer_width = "64"))]
compile_error!("lisle-heap needs words of 64 bits");

// The derives name this crate.
extern crate self as lisle_heap;

mod array;
mod collect;
mod field;
mod full;
mod global;
mod heap;
mod inner;
mod local;
mod object;
mod raw;
mod roots;
mod scope;
mod session;
mod space;
mod stats;
mod table;
mod verify;
mod word;

pub use array::{Array, Bytes};
pub use collect::Kind;
pub use field::{Gc, Slot};
pub use full::Full;
pub use global::{Global, WrongHeap};
pub use heap::{Builder, Heap};
pub use lisle_heap_derive::{Object, Value};
pub use local::{Arg, IntoArg, Local, Regs, Root};
pub use object::Object;
pub use scope::Scope;
pub use stats::Stats;
pub use verify::Fault;
pub use word::{Holds, HoldsImmediate, Immediate, Pointer, Ref, Source, Word};

/// What the code of the derives uses.
#[doc(hidden)]
pub mod derived {
    pub use crate::field::Plain;
    pub use crate::object::Desc;
    pub use crate::raw::{Raw, immediate, immediate_bits, tag, tagged};
    pub use crate::table::Table;
    pub use crate::word::is_a;

    /// Fails to compile, as an implementation that is ambiguous, for a type that implements `Drop`.
    pub trait HasHeapFieldsAndDrop {}
    #[expect(drop_bounds, reason = "it is to find types that implement `Drop`")]
    impl<T: Drop> HasHeapFieldsAndDrop for T {}

    /// Fails to compile for a type of words that are no pointers to objects of one type.
    pub const fn pointer<T: crate::Pointer>() {}

    /// Fails to compile for a type that is no plain field.
    pub const fn plain<T: Plain>() {}
}
