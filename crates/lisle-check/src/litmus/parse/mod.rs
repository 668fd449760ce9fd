//! Reads the litmus format of herd7.
//!
//! A test is a line with its architecture and name, a block of initial values, the code of the
//! threads (columns for a processor, functions for C), and a condition on the final state.
//!
//! Source of the format: the documentation of herdtools7 (diy.inria.fr/doc/herd.html).
//!
//! Invariant: an unknown construct is an error. Nothing is skipped that could change the meaning of
//! a test.

mod aarch64;
mod c;
mod c_expression;
mod columns;
mod condition;
mod cursor;
mod initial;
mod lexer;
mod linux;
mod registers;
mod settle;
mod types;
mod x86;

use super::condition::Condition;
use super::error::{ParseError, Source, SourcePosition};
use super::execution::relation::EVENTS;
use super::program::path::Path;
use super::program::unfold::unfold;
use super::program::{Architecture, Memory, Thread};
use cursor::Cursor;

/// A test as its text gives it.
#[derive(Debug, Clone)]
pub(crate) struct Parsed {
    pub(crate) architecture: Architecture,
    pub(crate) name: String,
    /// Where the first word of Linux stands.
    pub(crate) linux: Option<SourcePosition>,
    pub(crate) memory: Memory,
    /// The paths of each thread.
    pub(crate) paths: Vec<Vec<Path>>,
    pub(crate) condition: Condition,
}

/// Reads a test.
pub(crate) fn parse(text: &str) -> Result<Parsed, ParseError> {
    let (architecture, is_att, name) = header(text)?;
    metadata(text)?;
    let blanked = lexer::without_comments(text, architecture == Architecture::C)?;
    let source = Source(text);
    let Some(start) = blanked.find('{') else {
        let message = "there is no block of initial values";
        return Err(source
            .error(text.len()..text.len(), message)
            .help("a test has one, as in `{ x=0; y=0; }`"));
    };
    let tokens = lexer::tokens(&blanked, start, source)?;
    let mut cursor = Cursor::new(source, &tokens);
    let mut memory = Memory::default();
    let initial = initial::block(&mut cursor, &mut memory)?;
    let mut linux = None;
    let mut threads = match architecture {
        Architecture::C => {
            let (threads, words) = c::threads(&mut cursor, &mut memory)?;
            linux = words;
            threads
        }
        Architecture::X86 => columns::threads(&mut cursor, &mut memory, &mut x86::X86 { is_att })?,
        Architecture::AArch64 => columns::threads(&mut cursor, &mut memory, &mut aarch64::AArch64)?,
    };
    let mut types = Vec::new();
    for register in initial {
        register.give(architecture, &mut threads, &mut types, source)?;
    }
    let paths = paths(&threads, architecture, source)?;
    settle::settle(&mut memory, architecture, &paths);
    let condition = condition::condition(&mut cursor, architecture, &mut threads, &memory, &types)?;
    let events: usize =
        paths.iter().filter_map(|paths| paths.iter().map(|path| path.events.len()).max()).sum();
    if events + memory.locations.len() >= EVENTS {
        let message = format!("more than {EVENTS} accesses, fences and locations in all threads");
        return Err(source
            .error(start..start + 1, message)
            .help("make a smaller test of what this one is about"));
    }
    Ok(Parsed { architecture, name, linux, memory, paths, condition })
}

fn paths(
    threads: &[Thread],
    architecture: Architecture,
    source: Source<'_>,
) -> Result<Vec<Vec<Path>>, ParseError> {
    let single = architecture != Architecture::C;
    threads
        .iter()
        .map(|thread| {
            unfold(thread, single)
                .map_err(|endless| source.error_at(endless.position, endless.message).help(endless.help))
        })
        .collect()
}

/// The architecture, whether the operands of x86 come source first, and the name.
fn header(text: &str) -> Result<(Architecture, bool, String), ParseError> {
    let source = Source(text);
    let start = text.len() - text.trim_start().len();
    let line = text[start..].lines().next().unwrap_or_default();
    let mut words = line.split_whitespace();
    let first = words.next().unwrap_or_default();
    let span = start..start + first.len();
    let (architecture, is_att) = match first {
        "C" => (Architecture::C, false),
        "X86" => (Architecture::X86, false),
        "X86_64" => (Architecture::X86, true),
        "AArch64" => (Architecture::AArch64, false),
        "" => return Err(source.error(span, "the file is empty").help("a test begins with `C NAME`")),
        other => {
            let error = source.error(span, format!("`{other}` is no architecture that is supported"));
            return Err(error.help("supported: C, X86, X86_64, AArch64; it is the first word of the file"));
        }
    };
    match words.next() {
        Some(name) => Ok((architecture, is_att, name.to_owned())),
        None => {
            Err(source.error(span, "the test has no name").help("the name stands after the architecture"))
        }
    }
}

/// Refuses lines between the first line and the initial values that change the meaning of the test.
/// The other lines there are for readers and for other tools.
fn metadata(text: &str) -> Result<(), ParseError> {
    let end = text.find('{').unwrap_or(text.len());
    let mut start = 0;
    for line in text[..end].split_inclusive('\n') {
        let span = start..start + line.trim_end().len();
        start += line.len();
        let Some((key, value)) = line.trim().split_once('=') else { continue };
        let known = match key.trim().to_ascii_lowercase().as_str() {
            // Accesses of different sizes are always looked at part by part.
            "variant" | "variants" => value.split(',').all(|variant| {
                matches!(
                    variant.trim().to_ascii_lowercase().as_str(),
                    "mixed" | "" | "checkmixed" | "dontcheckmixed"
                )
            }),
            "tthm" | "el0" | "iommu" => false,
            _ => true,
        };
        if !known {
            let message = format!("`{}` is not supported", line.trim());
            let help = "supported: Variant=mixed; page tables, tags and faults are not";
            return Err(Source(text).error(span, message).help(help));
        }
    }
    Ok(())
}
