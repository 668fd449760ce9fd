//! `#[derive(Object)]`.

use crate::{HeapField, heap_field};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{
    Data, DeriveInput, Error, Expr, Fields, GenericParam, Ident, Index, Lifetime, LifetimeParam, Result, Type,
};

struct Field<'a> {
    /// The name of the argument of `init`.
    name: Ident,
    /// How the field is named in the struct: by name, or by number.
    member: TokenStream,
    ty: &'a Type,
    kind: Option<HeapField<'a>>,
    /// The function in its attribute `external`.
    external: Option<Expr>,
}

/// Returns the function in the attribute `external` of a field.
fn external(field: &syn::Field, kind: Option<&HeapField<'_>>) -> Result<Option<Expr>> {
    let mut attributes = field.attrs.iter().filter(|attribute| attribute.path().is_ident("external"));
    let Some(attribute) = attributes.next() else { return Ok(None) };
    if let Some(second) = attributes.next() {
        return Err(Error::new_spanned(second, "a field has one attribute `external` at most"));
    }
    if kind.is_some() {
        return Err(Error::new_spanned(
            attribute,
            "`external` is for plain fields: objects of the heap are counted anyway",
        ));
    }
    attribute.parse_args().map(Some).map_err(|_| {
        Error::new_spanned(
            attribute,
            "`external` takes a function that returns the bytes that the field owns elsewhere, such as `#[external(String::capacity)]`",
        )
    })
}

fn fields(input: &DeriveInput) -> Result<Vec<Field<'_>>> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(
            &input.ident,
            "only a struct can be an object of the heap. For an enum of objects and immediates use `#[derive(Value)]`",
        ));
    };
    let fields = match &data.fields {
        Fields::Named(fields) => &fields.named,
        Fields::Unnamed(fields) => &fields.unnamed,
        Fields::Unit => return Ok(Vec::new()),
    };
    fields
        .iter()
        .enumerate()
        .map(|(index, field)| {
            let (name, member) = match &field.ident {
                Some(name) => (name.clone(), quote!(#name)),
                None => {
                    let index = Index::from(index);
                    (format_ident!("field_{}", index.index), quote!(#index))
                }
            };
            let kind = heap_field(&field.ty);
            let external = external(field, kind.as_ref())?;
            Ok(Field { name, member, ty: &field.ty, kind, external })
        })
        .collect()
}

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    if let Some(lifetime) = input.generics.lifetimes().next() {
        return Err(Error::new_spanned(
            lifetime,
            "an object of the heap cannot borrow: it must be `'static`",
        ));
    }
    let fields = fields(input)?;
    let (name, vis) = (&input.ident, &input.vis);
    let (init, accessors) = (format_ident!("{name}Init"), format_ident!("{name}Ref"));

    let mut generics = input.generics.clone();
    for param in generics.type_params_mut() {
        param.default = None;
        param.bounds.push(syn::parse_quote!('static));
    }
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    let mut with_x = generics.clone();
    with_x.params.insert(0, GenericParam::Lifetime(LifetimeParam::new(Lifetime::new("'x", name.span()))));
    let (init_impl, init_ty, _) = with_x.split_for_impl();
    let mut with_a = generics.clone();
    with_a.params.insert(0, GenericParam::Lifetime(LifetimeParam::new(Lifetime::new("'a", name.span()))));
    let (ref_impl, ref_ty, _) = with_a.split_for_impl();

    let stored = fields.iter().map(|Field { name, ty, kind, .. }| match kind {
        Some(HeapField::Gc(word) | HeapField::Slot(word)) => quote!(#name: ::lisle_heap::Arg<'x, #word>),
        None => quote!(#name: #ty),
    });
    let parameters = fields.iter().map(|Field { name, ty, kind, .. }| match kind {
        Some(HeapField::Gc(word) | HeapField::Slot(word)) => {
            quote!(#name: impl ::lisle_heap::IntoArg<'x, #word>)
        }
        None => quote!(#name: #ty),
    });
    let converted = fields.iter().map(|Field { name, kind, .. }| match kind {
        Some(_) => quote!(#name: ::lisle_heap::IntoArg::into_arg(#name)),
        None => quote!(#name),
    });
    let written = fields.iter().map(|Field { name, member, kind, .. }| match kind {
        // The type of the word is named, since an alias called `Gc` could mean another than `init` was given.
        Some(HeapField::Gc(word)) => {
            quote!(#member: unsafe { ::lisle_heap::Gc::<#word>::new(::lisle_heap::Arg::read(&init.#name)) })
        }
        Some(HeapField::Slot(word)) => {
            quote!(#member: unsafe { ::lisle_heap::Slot::<#word>::new(::lisle_heap::Arg::read(&init.#name)) })
        }
        None => quote!(#member: init.#name),
    });
    let heap_fields: Vec<_> = fields.iter().filter(|field| field.kind.is_some()).collect();
    let offsets = heap_fields.iter().map(|Field { member, .. }| {
        quote!((::core::mem::offset_of!(#name #ty_generics, #member) / 8) as ::core::primitive::u16)
    });
    let names = heap_fields.iter().map(|Field { member, .. }| quote!(::core::stringify!(#member)));
    let plain = fields.iter().filter(|field| field.kind.is_none()).map(|field| field.ty);
    let externals: Vec<_> =
        fields.iter().filter_map(|field| Some((field, field.external.as_ref()?))).collect();
    let turbofish = ty_generics.as_turbofish();
    // Each is called by a function of its own: in the body of `external`, which is unsafe, the user's code could be so, too.
    let callers = externals.iter().enumerate().map(|(index, (Field { ty, .. }, external))| {
        let caller = format_ident!("external_of_{index}");
        quote! {
            fn #caller #impl_generics (field: &#ty) -> ::core::primitive::usize #where_clause {
                let external: fn(&#ty) -> ::core::primitive::usize = #external;
                external(field)
            }
        }
    });
    let calls = externals.iter().enumerate().map(|(index, (Field { member, .. }, _))| {
        let caller = format_ident!("external_of_{index}");
        quote!(#caller #turbofish (unsafe { &(*at).#member }))
    });
    let (has_external, external) = if externals.is_empty() {
        (quote!(), quote!())
    } else {
        let sum = quote! {
            unsafe fn external(at: *const Self) -> ::core::primitive::usize {
                #(#callers)*
                let all: ::core::primitive::usize = 0;
                #(let all = all.saturating_add(#calls);)*
                all
            }
        };
        (quote!(.with_external::<Self>()), sum)
    };
    let no_drop = (!heap_fields.is_empty()).then(|| {
        quote!(impl #impl_generics ::lisle_heap::derived::HasHeapFieldsAndDrop for #name #ty_generics #where_clause {})
    });
    let signatures = heap_fields.iter().map(|Field { name, kind, .. }| {
        let Some(HeapField::Gc(word) | HeapField::Slot(word)) = kind else { return quote!() };
        let doc = format!("Returns the value of the field `{name}`.");
        quote!(#[doc = #doc] fn #name(self) -> <#word as ::lisle_heap::Word>::View<'a>;)
    });
    let bodies = heap_fields.iter().map(|Field { name, member, kind, .. }| {
        let Some(HeapField::Gc(word) | HeapField::Slot(word)) = kind else { return quote!() };
        quote!(#[inline] fn #name(self) -> <#word as ::lisle_heap::Word>::View<'a> { ::lisle_heap::Ref::get(self).#member.get() })
    });
    let trait_doc = format!("The heap fields of a [`{name}`], read through a reference to it.");
    let init_doc = format!("The arguments of an allocation of a [`{name}`].");
    let fn_doc = format!("Returns the arguments of an allocation of a [`{name}`].");
    let accessor_trait = (!heap_fields.is_empty()).then(|| {
        quote! {
            #[doc = #trait_doc]
            #[allow(dead_code)]
            #vis trait #accessors #ref_impl: ::core::marker::Copy #where_clause { #(#signatures)* }
            impl #ref_impl #accessors #ref_ty for ::lisle_heap::Ref<'a, #name #ty_generics> #where_clause { #(#bodies)* }
        }
    });

    Ok(quote! {
        #[doc = #init_doc]
        #vis struct #init #init_impl #where_clause {
            #(#stored,)*
            _roots: ::core::marker::PhantomData<(&'x (), fn() -> #name #ty_generics)>,
        }

        impl #init_impl ::core::fmt::Debug for #init #init_ty #where_clause {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(::core::stringify!(#init))
            }
        }

        impl #impl_generics #name #ty_generics #where_clause {
            #[doc = #fn_doc]
            #[inline]
            #[allow(clippy::too_many_arguments, dead_code)]
            #vis fn init<'x>(#(#parameters),*) -> #init #init_ty {
                #init { #(#converted,)* _roots: ::core::marker::PhantomData }
            }
        }

        #no_drop
        #accessor_trait

        const _: () = {
            // SAFETY: the description has the offsets of all heap fields, and `write` makes all fields.
            unsafe impl #impl_generics ::lisle_heap::Object for #name #ty_generics #where_clause {
                type Init<'x> = #init #init_ty;
                const DESC: &'static ::lisle_heap::derived::Desc = {
                    #(::lisle_heap::derived::plain::<#plain>();)*
                    &::lisle_heap::derived::Desc::fields::<Self>(&[#(#offsets),*], &[#(#names),*]) #has_external
                };
                #[inline]
                unsafe fn write(at: *mut Self, init: Self::Init<'_>) {
                    unsafe { at.write(#name { #(#written,)* }) }
                }
                #external
            }
        };
    })
}
