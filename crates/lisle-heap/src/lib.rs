#![doc = include_str!("../README.md")]
// Under loom only the protocols are built, not their users.
#![cfg_attr(lisle_loom, allow(dead_code, unreachable_pub, unused_imports))]

#[cfg(not(target_pointer_width = "64"))]
compile_error!("lisle-heap needs words of 64 bits");

#[cfg(not(lisle_loom))]
#[doc = include_str!("guide.md")]
pub mod guide {}

// The derives name this crate.
extern crate self as lisle_heap;

// In an interpreter, models run on plain threads.
#[cfg(all(test, miri))]
extern crate loom_once as loom;

#[cfg(all(test, any(lisle_loom, miri)))]
#[path = "space/minor/loom_pool.rs"]
mod loom_pool;
#[cfg(lisle_loom)]
#[path = "space/minor/pool.rs"]
mod pool;

#[cfg(not(lisle_loom))]
mod array;
#[cfg(not(lisle_loom))]
mod collect;
#[cfg(not(lisle_loom))]
mod dump;
#[cfg(not(lisle_loom))]
mod field;
#[cfg(not(lisle_loom))]
mod forks;
#[cfg(not(lisle_loom))]
mod full;
#[cfg(not(lisle_loom))]
mod global;
#[cfg(not(lisle_loom))]
mod guard;
#[cfg(not(lisle_loom))]
mod guarded;
#[cfg(not(lisle_loom))]
mod heap;
#[cfg(not(lisle_loom))]
mod inner;
#[cfg(not(lisle_loom))]
mod local;
#[cfg(not(lisle_loom))]
mod lock;
#[cfg(not(lisle_loom))]
mod object;
#[cfg(not(lisle_loom))]
mod opened;
#[cfg(all(feature = "par", not(lisle_loom)))]
mod par;
#[cfg(not(lisle_loom))]
mod place;
mod raw;
#[cfg(not(lisle_loom))]
mod roots;
#[cfg(not(lisle_loom))]
mod scope;
#[cfg(not(lisle_loom))]
mod session;
#[cfg(not(lisle_loom))]
mod space;
#[cfg(not(lisle_loom))]
mod stats;
#[cfg(not(lisle_loom))]
mod table;
#[cfg(not(lisle_loom))]
mod verify;
#[cfg(not(lisle_loom))]
mod weak;
#[cfg(not(lisle_loom))]
mod word;
mod world;

#[cfg(not(lisle_loom))]
pub use array::{Array, Bytes};
#[cfg(not(lisle_loom))]
pub use collect::Kind;
#[cfg(not(lisle_loom))]
pub use field::{Gc, Slot};
#[cfg(not(lisle_loom))]
pub use full::Full;
#[cfg(not(lisle_loom))]
pub use global::{Global, WrongHeap};
#[cfg(not(lisle_loom))]
pub use heap::{Builder, Heap};
#[cfg(not(lisle_loom))]
pub use lisle_heap_derive::{Object, Value};
#[cfg(not(lisle_loom))]
pub use local::{Arg, IntoArg, Local, Regs, Root};
#[cfg(not(lisle_loom))]
pub use object::Object;
#[cfg(all(feature = "par", not(lisle_loom)))]
pub use par::Handles;
#[cfg(not(lisle_loom))]
pub use scope::Scope;
#[cfg(not(lisle_loom))]
pub use stats::Stats;
#[cfg(not(lisle_loom))]
pub use verify::Fault;
#[cfg(not(lisle_loom))]
pub use weak::{Ephemeron, Weak};
#[cfg(not(lisle_loom))]
pub use word::{Holds, HoldsImmediate, Immediate, Pointer, Ref, Source, Word};

/// What the code of the derives uses.
#[cfg(not(lisle_loom))]
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
