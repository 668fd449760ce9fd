//! Says at compile time which auto traits a type has, and on which of its parameters that depends.
//!
//! A generic function shows that the conditions are sufficient: under them, the type has the trait,
//! whatever the parameters are. The types below show that they are necessary: each lacks one trait,
//! and if all parameters lack it, the traits whose conditions name it are missing, and only these.

use std::any::Any;
use std::marker::{PhantomData, PhantomPinned};
use std::panic::{RefUnwindSafe, UnwindSafe};

pub(super) type WithoutSend = Box<dyn Any + Sync + UnwindSafe + RefUnwindSafe>;
pub(super) type WithoutSync = Box<dyn Any + Send + UnwindSafe + RefUnwindSafe>;
pub(super) type WithoutUnpin = PhantomPinned;
pub(super) type WithoutUnwindSafe = Box<dyn Any + Send + Sync + RefUnwindSafe>;
pub(super) type WithoutRefUnwindSafe = Box<dyn Any + Send + Sync + UnwindSafe>;

/// `Has::<T>::SEND` is `true` if `T: Send`, and so on.
pub(super) struct Has<T: ?Sized>(PhantomData<T>);

impl<T: ?Sized + Send> Has<T> {
    pub(super) const SEND: bool = true;
}

impl<T: ?Sized + Sync> Has<T> {
    pub(super) const SYNC: bool = true;
}

impl<T: ?Sized + Unpin> Has<T> {
    pub(super) const UNPIN: bool = true;
}

impl<T: ?Sized + UnwindSafe> Has<T> {
    pub(super) const UNWIND_SAFE: bool = true;
}

impl<T: ?Sized + RefUnwindSafe> Has<T> {
    pub(super) const REF_UNWIND_SAFE: bool = true;
}

/// The constants above are preferred to these where their conditions hold.
pub(super) trait HasNot {
    const SEND: bool = false;
    const SYNC: bool = false;
    const UNPIN: bool = false;
    const UNWIND_SAFE: bool = false;
    const REF_UNWIND_SAFE: bool = false;
}

impl<T: ?Sized> HasNot for Has<T> {}

/// Returns `true` if `word` is one of the words of `text`, which the compiler has made of tokens.
pub(super) const fn names(text: &str, word: &str) -> bool {
    let (text, word) = (text.as_bytes(), word.as_bytes());
    let mut start = 0;
    while start < text.len() {
        let mut end = start;
        while end < text.len() && text[end].is_ascii_alphabetic() {
            end += 1;
        }
        let mut same = 0;
        while same < word.len() && start + same < end && text[start + same] == word[same] {
            same += 1;
        }
        if same == word.len() && start + same == end {
            return true;
        }
        start = end + 1;
    }
    false
}

/// Takes groups of types: the parameters, one answer for each of `Send`, `Sync`, `Unpin`,
/// `UnwindSafe` and `RefUnwindSafe` (`yes`, `no`, or the conditions), and the types that the
/// answers hold for.
macro_rules! auto_traits {
    ($($params:tt $send:tt $sync:tt $unpin:tt $unwind:tt $unwind_ref:tt { $($type:ty;)* })*) => {
        $($(
            column!($params $type, Send SEND $send);
            column!($params $type, Sync SYNC $sync);
            column!($params $type, Unpin UNPIN $unpin);
            column!($params $type, UnwindSafe UNWIND_SAFE $unwind);
            column!($params $type, RefUnwindSafe REF_UNWIND_SAFE $unwind_ref);
        )*)*
    };
}

macro_rules! column {
    ($params:tt $type:ty, $trait:ident $has:ident yes) => {
        column!($params $type, $trait $has ());
    };
    ([$($param:ident),*] $type:ty, $trait:ident $has:ident no) => {
        const _: () = {
            type Row<$($param),*> = $type;
            let has = <Has<Row<$(instead!($param ())),*>>>::$has;
            assert!(!has, concat!(stringify!($type), " is ", stringify!($trait)));
        };
    };
    ([$($param:ident),*] $type:ty, $trait:ident $has:ident ($($conditions:tt)*)) => {
        const _: () = {
            type Row<$($param),*> = $type;
            #[allow(dead_code, reason = "it is compiled")]
            fn suffices<$($param),*>() where $($param: 'static,)* $($conditions)* {
                fn has<T: $trait>() {}
                has::<Row<$($param),*>>();
            }
            const CONDITIONS: &str = stringify!($($conditions)*);
            needed!([$($param),*] $type, $has CONDITIONS Send WithoutSend);
            needed!([$($param),*] $type, $has CONDITIONS Sync WithoutSync);
            needed!([$($param),*] $type, $has CONDITIONS Unpin WithoutUnpin);
            needed!([$($param),*] $type, $has CONDITIONS UnwindSafe WithoutUnwindSafe);
            needed!([$($param),*] $type, $has CONDITIONS RefUnwindSafe WithoutRefUnwindSafe);
        };
    };
}

macro_rules! needed {
    ([$($param:ident),*] $type:ty, $has:ident $conditions:ident $lacking:ident $without:ident) => {
        const _: () = {
            let has = <Has<Row<$(instead!($param $without)),*>>>::$has;
            assert!(
                has != names($conditions, stringify!($lacking)),
                concat!(stringify!($type), ": ", stringify!($has), " without ", stringify!($lacking))
            );
        };
    };
}

macro_rules! instead {
    ($param:ident $type:ty) => {
        $type
    };
}
