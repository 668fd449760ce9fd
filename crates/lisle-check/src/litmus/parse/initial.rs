//! The block of initial values: `{ x=1; int y; 0:X1=x; uint64_t 1:X0=7; int *p=&x; }`.
//!
//! Types are read and have no meaning: each location and each register holds one value.

use std::ops::Range;

use super::cursor::Cursor;
use super::lexer::Token;
use super::registers;
use crate::litmus::error::{ParseError, Source};
use crate::litmus::program::{Architecture, Memory, Thread};

/// The value that a register has at the start.
#[derive(Debug)]
pub(crate) struct Initial {
    thread: usize,
    register: String,
    value: i64,
    span: Range<usize>,
}

impl Initial {
    /// Gives the register of its thread the value.
    pub(crate) fn give(
        self,
        architecture: Architecture,
        threads: &mut [Thread],
        source: Source<'_>,
    ) -> Result<(), ParseError> {
        let Some(thread) = threads.get_mut(self.thread) else {
            return Err(source.error(self.span, format!("there is no thread {}", self.thread)));
        };
        let name = register_name(architecture, &self.register).ok_or_else(|| {
            source.error(self.span, format!("`{}` is no register of {architecture}", self.register))
        })?;
        let register = thread.register(&name);
        thread.initial.push((register, self.value));
        Ok(())
    }
}

/// The name by which a thread knows a register; `None` if its architecture has none of this name.
pub(crate) fn register_name(architecture: Architecture, name: &str) -> Option<String> {
    match architecture {
        Architecture::C => Some(name.to_owned()),
        Architecture::X86 => registers::x86(name).map(|(name, _)| name.to_owned()),
        Architecture::AArch64 => registers::aarch64(name).map(|(name, _)| name),
    }
}

/// Reads the block. The locations go into `memory`.
pub(crate) fn block(cursor: &mut Cursor<'_>, memory: &mut Memory) -> Result<Vec<Initial>, ParseError> {
    cursor.symbol("{")?;
    let mut registers = Vec::new();
    while !cursor.takes("}") {
        if cursor.takes(";") {
            continue;
        }
        let mut entry = cursor.until(|token| matches!(token, Token::Symbol(";" | "}")));
        if cursor.peek().is_none() {
            return Err(cursor.expected("`;` or `}` after the initial values"));
        }
        registers.extend(initial(&mut entry, memory)?);
    }
    Ok(registers)
}

/// Reads one entry.
fn initial(entry: &mut Cursor<'_>, memory: &mut Memory) -> Result<Option<Initial>, ParseError> {
    let supported = "an entry is `x=1`, `int x=1`, `[x]=1`, `0:X1=x` or `0:r0=1`";
    let start = entry.span();
    skip_type(entry);
    if let Some(Token::Number(thread)) = entry.peek() {
        entry.take();
        entry.symbol(":")?;
        let register = entry.word("a register")?.to_owned();
        let value = if entry.takes("=") { value(entry, memory)? } else { 0 };
        entry.end()?;
        let thread = usize::try_from(thread).unwrap_or(usize::MAX);
        return Ok(Some(Initial { thread, register, value, span: start }));
    }
    let location = location(entry, memory).map_err(|error| error.help(supported))?;
    if entry.peek() == Some(Token::Symbol("[")) {
        return Err(entry.error("arrays are not supported").help("use one location for each element"));
    }
    if entry.takes("=") {
        memory.locations[location].initial = value(entry, memory)?;
    }
    entry.end().map_err(|error| error.help(supported))?;
    Ok(None)
}

/// Skips the words of a type: those that are followed by a name, a star or a thread's number.
fn skip_type(entry: &mut Cursor<'_>) {
    while matches!(
        (entry.peek(), entry.peek_second()),
        (Some(Token::Symbol("*")), _)
            | (Some(Token::Word(_)), Some(Token::Word(_) | Token::Number(_) | Token::Symbol("*")))
    ) {
        entry.take();
    }
}

/// Reads `x` or `[x]`.
fn location(cursor: &mut Cursor<'_>, memory: &mut Memory) -> Result<usize, ParseError> {
    let bracketed = cursor.takes("[");
    let name = cursor.word("the name of a location")?;
    if bracketed {
        cursor.symbol("]")?;
    }
    Ok(memory.location(name))
}

/// Reads a number, or a location, which stands for its address.
fn value(cursor: &mut Cursor<'_>, memory: &mut Memory) -> Result<i64, ParseError> {
    let address = cursor.takes("&");
    match cursor.peek() {
        Some(Token::Word(name)) => {
            cursor.take();
            Ok(Memory::address(memory.location(name)))
        }
        _ if address => Err(cursor.expected("a location after `&`")),
        _ => cursor.number(),
    }
}
