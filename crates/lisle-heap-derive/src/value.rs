//! `#[derive(Value)]`.
//!
//! An immediate has the number of its variant in the bits above the lowest, and its payload above that. A
//! pointer has the number of its type as its tag. From the fourth type on, the tag is 3, and the header
//! of the object tells the type.

use crate::{HeapField, heap_field};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use std::collections::HashMap;
use syn::{Data, DeriveInput, Error, Fields, Ident, Result, Type, Variant};

enum Content<'a> {
    Nothing,
    Object(&'a Type),
    Immediate(&'a Type),
}

struct Case<'a> {
    variant: &'a Variant,
    content: Content<'a>,
    /// The number among the objects, or among the immediates.
    number: usize,
}

/// The largest tag.
const LAST_TAG: usize = 3;

fn cases(input: &DeriveInput) -> Result<Vec<Case<'_>>> {
    let Data::Enum(data) = &input.data else {
        return Err(Error::new_spanned(
            &input.ident,
            "a value is an enum of objects and immediates. For a struct use `#[derive(Object)]`",
        ));
    };
    if !input.generics.params.is_empty() {
        return Err(Error::new_spanned(&input.generics, "a value has no parameters"));
    }
    let (mut objects, mut immediates) = (0, 0);
    let mut cases = Vec::new();
    for variant in &data.variants {
        let content = match &variant.fields {
            Fields::Unit => Content::Nothing,
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                let ty = &fields.unnamed[0].ty;
                match heap_field(ty) {
                    Some(HeapField::Gc(object)) => Content::Object(object),
                    Some(HeapField::Slot(_)) => {
                        return Err(Error::new_spanned(
                            ty,
                            "a value points to an object by a `Gc`; slots are fields of objects",
                        ));
                    }
                    None => Content::Immediate(ty),
                }
            }
            fields => {
                return Err(Error::new_spanned(
                    fields,
                    "a variant of a value has no field, or one without a name: a `Gc<T>`, or a number, `bool` or `char`. \
                     Put more into an object",
                ));
            }
        };
        let count = if matches!(content, Content::Object(_)) { &mut objects } else { &mut immediates };
        cases.push(Case { variant, content, number: *count });
        *count += 1;
    }
    if cases.is_empty() {
        return Err(Error::new_spanned(&input.ident, "a value has at least one variant"));
    }
    Ok(cases)
}

/// The name of a variant as that of a function.
fn function(variant: &Ident) -> Ident {
    let mut name = String::new();
    for (index, letter) in variant.to_string().chars().enumerate() {
        if letter.is_uppercase() && index > 0 {
            name.push('_');
        }
        name.extend(letter.to_lowercase());
    }
    syn::parse_str(&name).unwrap_or_else(|_| format_ident!("r#{name}"))
}

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let cases = cases(input)?;
    let (name, vis) = (&input.ident, &input.vis);
    let view = format_ident!("{name}View");
    let objects: Vec<_> = cases.iter().filter(|case| matches!(case.content, Content::Object(_))).collect();
    let immediates = cases.len() - objects.len();
    // The bits that tell the immediate variants apart, and those that are left of 63.
    let selector = immediates.next_power_of_two().trailing_zeros();
    let payload = 63 - selector;

    let mut uses: HashMap<String, usize> = HashMap::new();
    for case in &cases {
        if let Content::Object(ty) | Content::Immediate(ty) = case.content {
            *uses.entry(quote!(#ty).to_string()).or_default() += 1;
        }
    }
    let only = |ty: &Type| uses[&quote!(#ty).to_string()] == 1;

    let mut variants = Vec::new();
    let mut immediate_arms = Vec::new();
    let mut tag_arms = Vec::new();
    let mut rest = Vec::new();
    let mut raw_arms = Vec::new();
    let mut functions = Vec::new();
    let mut conversions = Vec::new();
    let mut uses_of_variants = Vec::new();
    for Case { variant, content, number } in &cases {
        let ident = &variant.ident;
        let make = function(ident);
        let docs = variant.attrs.iter().filter(|attr| attr.path().is_ident("doc"));
        let docs = quote!(#(#docs)*);
        let doc = format!("Returns the word of a [`{view}::{ident}`].");
        let select = *number as u64;
        match content {
            Content::Nothing => {
                variants.push(quote!(#docs #ident));
                immediate_arms.push(quote!(#select => #view::#ident));
                raw_arms.push(quote!(#view::#ident => ::lisle_heap::derived::immediate(#select)));
                functions.push(quote! {
                    #[doc = #doc]
                    #[inline]
                    #vis fn #make<'x>() -> ::lisle_heap::Arg<'x, Self> {
                        // SAFETY: it is the immediate of this variant.
                        unsafe { ::lisle_heap::Arg::immediate(::lisle_heap::derived::immediate(#select)) }
                    }
                });
                uses_of_variants.push(quote!(#name::#ident => ()));
            }
            Content::Immediate(ty) => {
                let pack = format_ident!("pack_{}", make.to_string().trim_start_matches("r#"));
                let fits = format_ident!("fits_{}", make.to_string().trim_start_matches("r#"));
                let too_wide =
                    format!("`{name}::{ident}` has room for {payload} bits, and the type needs more");
                let no_room = format!(
                    "has no room in a `{name}::{ident}`, which has {payload} bits. Put it into an object"
                );
                let fits_doc = format!("Returns `true` if the value has room in a [`{view}::{ident}`].");
                variants.push(quote!(#docs #ident(#ty)));
                immediate_arms.push(
                    quote!(#select => #view::#ident(<#ty as ::lisle_heap::Immediate>::unpack(bits >> #selector, #payload))),
                );
                raw_arms.push(quote!(#view::#ident(value) => #name::#pack(value)));
                functions.push(quote! {
                    #[doc = #doc]
                    ///
                    /// # Panics
                    ///
                    /// If it is an integer that needs more bits than the word has.
                    #[inline]
                    #[track_caller]
                    #vis fn #make<'x>(value: #ty) -> ::lisle_heap::Arg<'x, Self> {
                        // SAFETY: it is an immediate of this variant.
                        unsafe { ::lisle_heap::Arg::immediate(Self::#pack(value)) }
                    }

                    #[doc = #fits_doc]
                    #[inline]
                    #vis fn #fits(value: #ty) -> ::core::primitive::bool {
                        ::lisle_heap::Immediate::pack(value, #payload).is_some()
                    }

                    #[inline]
                    #[track_caller]
                    fn #pack(value: #ty) -> ::lisle_heap::derived::Raw {
                        const { assert!(<#ty as ::lisle_heap::Immediate>::BITS <= #payload, #too_wide) };
                        match ::lisle_heap::Immediate::pack(value, #payload) {
                            ::core::option::Option::Some(bits) => {
                                let bits = bits & (::core::primitive::u64::MAX >> (64 - #payload));
                                ::lisle_heap::derived::immediate(bits << #selector | #select)
                            }
                            ::core::option::Option::None => ::core::panic!("{value:?} {}", #no_room),
                        }
                    }
                });
                uses_of_variants.push(quote!(#name::#ident(value) => { let _ = value; }));
                if only(ty) {
                    conversions.push(quote! {
                        // SAFETY: the word is one of the variant's.
                        unsafe impl ::lisle_heap::HoldsImmediate<#ty> for #name {
                            #[inline]
                            #[track_caller]
                            fn word(value: #ty) -> ::lisle_heap::derived::Raw { #name::#pack(value) }
                        }
                    });
                }
            }
            Content::Object(ty) => {
                let shares = objects.len() > LAST_TAG + 1 && *number >= LAST_TAG;
                let tag = (*number).min(LAST_TAG);
                variants.push(quote!(#docs #ident(::lisle_heap::Ref<'a, #ty>)));
                let read = quote!(#view::#ident(unsafe { ::lisle_heap::Ref::new(raw) }));
                if shares {
                    rest.push(quote!(if unsafe { ::lisle_heap::derived::is_a::<#ty>(raw) } { #read } else));
                } else {
                    tag_arms.push(quote!(#tag => #read));
                }
                raw_arms.push(quote!(#view::#ident(object) => ::lisle_heap::derived::tagged(::lisle_heap::Ref::raw(object), #tag)));
                functions.push(quote! {
                    #[doc = #doc]
                    #[inline]
                    #vis fn #make<'x>(object: impl ::lisle_heap::IntoArg<'x, #ty>) -> ::lisle_heap::Arg<'x, Self> {
                        // SAFETY: the object's type, with its tag, is this variant's.
                        unsafe { ::lisle_heap::Arg::with_tag(::lisle_heap::IntoArg::into_arg(object), #tag) }
                    }
                });
                uses_of_variants.push(quote!(#name::#ident(object) => { let _ = object; }));
                if only(ty) {
                    conversions.push(quote! {
                        // SAFETY: the tag is the variant's.
                        unsafe impl ::lisle_heap::Holds<#ty> for #name {
                            const TAG: ::core::primitive::usize = #tag;
                        }
                    });
                }
            }
        }
    }
    let mask = (1u64 << selector) - 1;
    let no_immediate = quote!(::core::unreachable!("a word of this type has one of its variants"));
    // The types that the header tells apart are not part of the code that is inlined everywhere.
    let (read_rest, rest) = if rest.is_empty() {
        (quote!(_ => #no_immediate), quote!())
    } else {
        let function = quote! {
            #[inline(never)]
            unsafe fn of_header<'a>(raw: ::lisle_heap::derived::Raw) -> #view<'a> {
                #(#rest)* { #no_immediate }
            }
        };
        (quote!(_ => unsafe { of_header(raw) }), function)
    };
    let view_doc = format!("The view of a [`{name}`]: one word of the heap, to be matched on.");
    // An enum without objects needs no lifetime, but has one.
    let lifetime = objects.is_empty().then(
        || quote!(#[doc(hidden)] _Never(::core::convert::Infallible, ::core::marker::PhantomData<&'a ()>),),
    );
    let never = objects.is_empty().then(|| quote!(#view::_Never(never, _) => match never {},));
    let pointers = objects.iter().filter_map(|case| match case.content {
        Content::Object(ty) => Some(ty),
        _ => None,
    });
    let constructed = cases.iter().map(|Case { variant, content, .. }| {
        let ident = &variant.ident;
        match content {
            Content::Nothing => quote!(#name::#ident),
            _ => quote!(#name::#ident(::core::unreachable!())),
        }
    });

    Ok(quote! {
        #[doc = #view_doc]
        #[derive(Clone, Copy, PartialEq)]
        #vis enum #view<'a> { #(#variants,)* #lifetime }

        // SAFETY: `view` reads what `raw` and the functions below write.
        unsafe impl ::lisle_heap::Word for #name {
            type View<'a> = #view<'a>;
            #[inline(always)]
            unsafe fn view<'a>(raw: ::lisle_heap::derived::Raw) -> #view<'a> {
                #rest
                match ::lisle_heap::derived::immediate_bits(raw) {
                    ::core::option::Option::Some(bits) => match bits & #mask { #(#immediate_arms,)* _ => #no_immediate },
                    ::core::option::Option::None => match ::lisle_heap::derived::tag(raw) { #(#tag_arms,)* #read_rest },
                }
            }
        }

        // SAFETY: the word is one of the variant's.
        unsafe impl<'a> ::lisle_heap::Source<'a, #name> for #view<'a> {
            #[inline]
            #[track_caller]
            fn raw(&self, _: &::lisle_heap::derived::Table) -> ::lisle_heap::derived::Raw {
                match *self { #(#raw_arms,)* #never }
            }
        }

        #[allow(dead_code)]
        impl #name { #(#functions)* }

        #(#conversions)*

        // The variants only name what a word can be.
        #[allow(dead_code, unreachable_code, clippy::diverging_sub_expression)]
        const _: () = {
            // A value or an `Option` has tags or immediates of its own.
            #(const _: () = ::lisle_heap::derived::pointer::<#pointers>();)*
            fn constructed() -> [#name; 0] { let _ = || [#(#constructed),*]; [] }
            fn read(value: #name) { match value { #(#uses_of_variants,)* } }
        };
    })
}
