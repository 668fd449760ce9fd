#![doc = include_str!("../README.md")]

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

mod object;
mod value;

/// Implements [`Object`](trait.Object.html) for a struct: objects of the heap.
///
/// Fields of type `Gc<…>` and `Slot<…>` are the object's heap fields. All others are plain: they
/// must be `Send + Sync + 'static`.
///
/// For a struct `Cons { car: Slot<Value>, name: String }` the derive makes:
///
/// - `Cons::init(car, name)`, the argument of `Scope::alloc`. For a heap field it takes what
///   implements `IntoArg`: a handle or an immediate value.
/// - The trait `ConsRef`, with a method for each heap field, implemented for `Ref<Cons>`: `cons.car()` is
///   `cons.get().car.get()`. Its result lives as long as the reference, so a loop can walk a list.
///
/// Structs with names, tuple structs, unit structs and generic ones can be objects. An object has at most 512 KiB, and is aligned to
/// 8 bytes at most, so a `u128` stands in a `Box`. A field named `get` is read as `object.get().get`.
///
/// The type cannot implement `Drop` if it has heap fields. Its plain fields may. These destructors run within collections: they can enter
/// no heap, and a panic in one ends the process. They must not wait for other threads, which may be stopped until the collection ends; joins and
/// loops of Lisle run in place there.
///
/// # Memory of plain fields
///
/// `#[external(f)]` on a plain field tells the heap of the memory that the field owns elsewhere, in bytes: `#[external(String::capacity)]`,
/// or `#[external(|pixels: &Vec<u32>| 4 * pixels.capacity())]`. It counts for the limit of the heap, and decides when the heap collects: a
/// small object that owns a large buffer is collected in time. The heap calls the function when the object is allocated, when it grows
/// old, and in each cycle, so the figure may change. It must neither wait, nor lock, nor panic: it may run while all threads are
/// stopped, and a panic there ends the process.
#[proc_macro_derive(Object, attributes(external))]
pub fn derive_object(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    object::derive(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Makes a word type of an enum: values in one word.
///
/// Each variant has no field, one field of type `Gc<T>`, or one field whose type is an `Immediate`: an
/// integer, `bool`, `char`, `f32`. For an enum `Value { Nil, Int(i64), Cons(Gc<Cons>) }` the derive makes:
///
/// - The enum `ValueView<'a> { Nil, Int(i64), Cons(Ref<'a, Cons>) }`, which is the view of the word. Two views are equal if they are the
///   same immediate or the same object.
/// - `Value::nil()`, `Value::int(7)` and `Value::cons(handle)`: arguments of allocations.
///
/// A handle or a reference to a `Cons`, and an `i64`, can be stored where a `Value` is expected, if one
/// variant only has that type. With a second variant of an integer type, a literal needs a suffix (`1_i64`). A 64-bit integer has 61 bits
/// in a word, and one less for each doubling of the number of immediate variants: one that does not fit panics. `Value::fits_int(i)` says whether it does.
///
/// The first three types of objects are told apart by the bits of the word, and further ones by a load of
/// the object's header.
#[proc_macro_derive(Value)]
pub fn derive_value(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    value::derive(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// The argument of `Gc<…>` or `Slot<…>`, and which of the two it is.
enum HeapField<'a> {
    Gc(&'a syn::Type),
    Slot(&'a syn::Type),
}

/// Looks whether a type is written as a heap field.
fn heap_field(ty: &syn::Type) -> Option<HeapField<'_>> {
    let path = match ty {
        // A type that a macro has been given is in a group.
        syn::Type::Group(group) => return heap_field(&group.elem),
        syn::Type::Paren(paren) => return heap_field(&paren.elem),
        syn::Type::Path(path) => path,
        _ => return None,
    };
    let last = path.path.segments.last()?;
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    let Some(syn::GenericArgument::Type(argument)) = arguments.args.first() else { return None };
    match last.ident.to_string().as_str() {
        "Gc" => Some(HeapField::Gc(argument)),
        "Slot" => Some(HeapField::Slot(argument)),
        _ => None,
    }
}
