//! In place of `languages.rs` where the entries of frames are in another form: all are taken for
//! Rust's.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Rust,
    #[expect(dead_code, reason = "the variants of `languages.rs`")]
    Cpp,
    #[expect(dead_code, reason = "as above")]
    Other,
}

pub(super) fn language_at(_: usize) -> Language {
    Language::Rust
}
