//! The block of initial values: `{ x=1; int y; 0:X1=x; uint64_t 1:X0=7; int *p=&x; int a[2]={1,2}; }`.

use std::ops::Range;

use super::cursor::Cursor;
use super::lexer::Token;
use super::{registers, types};
use crate::litmus::error::{ParseError, Source};
use crate::litmus::program::memory::STRIDE;
use crate::litmus::program::{Architecture, Memory, Thread, Type};

const SUPPORTED: &str =
    "an entry is `x=1`, `int x=1`, `[x]=1`, `int a[2]={1,2}`, `0:X1=x` or `uint64_t 0:X1=1`";

/// The entry of the block for a register.
#[derive(Debug)]
pub(crate) struct Initial {
    thread: usize,
    register: String,
    value: i64,
    declared: Option<Type>,
    span: Range<usize>,
}

/// The types that the block gives registers, by the names that their threads know them by.
pub(crate) type RegisterTypes = Vec<(usize, String, Type)>;

impl Initial {
    /// Gives the register of its thread the value.
    pub(crate) fn give(
        self,
        architecture: Architecture,
        threads: &mut [Thread],
        types: &mut RegisterTypes,
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
        types.extend(self.declared.map(|ty| (self.thread, name, ty)));
        Ok(())
    }
}

/// The name by which a thread knows a register; `None` if its architecture has no register of this
/// name.
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
        registers.extend(initial(cursor, memory).map_err(|error| error.help(SUPPORTED))?);
        if !matches!(cursor.peek(), Some(Token::Symbol(";" | "}"))) {
            return Err(cursor.expected("`;` or `}` after an initial value").help(SUPPORTED));
        }
    }
    cursor.takes(";");
    Ok(registers)
}

/// Reads one entry.
fn initial(cursor: &mut Cursor<'_>, memory: &mut Memory) -> Result<Option<Initial>, ParseError> {
    let span = cursor.span();
    let declared = types::before_name(cursor)?;
    if let Some(Token::Number(thread)) = cursor.peek() {
        cursor.take();
        cursor.symbol(":")?;
        let register = cursor.word("a register")?.to_owned();
        let value = if cursor.takes("=") { value(cursor, memory)?.0 } else { 0 };
        let value = declared.map_or(value, |ty| ty.wrap(value));
        let thread = usize::try_from(thread).unwrap_or(usize::MAX);
        return Ok(Some(Initial { thread, register, value, declared, span }));
    }
    let bracketed = cursor.takes("[");
    let at = *cursor;
    let name = cursor.word("the name of a location")?;
    if bracketed {
        cursor.symbol("]")?;
    }
    if is_of_page_tables(name) {
        return Err(at.error(PAGE_TABLES));
    }
    let known = memory.known(name);
    let location = memory.location(name);
    if declared.is_some() && known.is_some_and(|known| memory.locations[known].declared.is_some()) {
        return Err(at.error(format!("`{name}` has a type already")));
    }
    let length = if !bracketed && cursor.takes("[") { Some(length(cursor)?) } else { None };
    let values = if cursor.takes("=") { values(cursor, memory)? } else { Vec::new() };
    let count = length.unwrap_or(1);
    let is_list = values.len() > 1 || length.is_some();
    if is_list && values.len() > count {
        return Err(at.error(format!("`{name}` has {count} elements, and {} values", values.len())));
    }
    let entry = &mut memory.locations[location];
    let is_address = values.iter().any(|(_, is_address)| *is_address);
    entry.declared = declared.or(entry.declared).or(is_address.then_some(Type::LONG));
    entry.ty = entry.declared.unwrap_or(Type::INT);
    if length.is_some() {
        entry.array = true;
        entry.initial = vec![0; count];
    }
    for (element, (value, _)) in entry.initial.iter_mut().zip(values) {
        *element = value;
    }
    if entry.size() > STRIDE {
        return Err(at.error(format!("`{name}` has more than {STRIDE} bytes")));
    }
    Ok(None)
}

/// Reads `2]`.
fn length(cursor: &mut Cursor<'_>) -> Result<usize, ParseError> {
    let at = *cursor;
    let length = usize::try_from(cursor.number()?).ok().filter(|length| (1..=STRIDE).contains(length));
    cursor.symbol("]")?;
    length.ok_or_else(|| at.error(format!("an array has 1 to {STRIDE} elements")))
}

/// Reads a value, or `{1,2}`.
fn values(cursor: &mut Cursor<'_>, memory: &mut Memory) -> Result<Vec<(i64, bool)>, ParseError> {
    if !cursor.takes("{") {
        return Ok(vec![value(cursor, memory)?]);
    }
    let mut values = Vec::new();
    while !cursor.takes("}") {
        values.push(value(cursor, memory)?);
        if !cursor.takes(",") && cursor.peek() != Some(Token::Symbol("}")) {
            return Err(cursor.expected("`,` or `}`"));
        }
    }
    Ok(values)
}

/// Reads a number, or a location, which stands for its address. Says whether it was an address.
fn value(cursor: &mut Cursor<'_>, memory: &mut Memory) -> Result<(i64, bool), ParseError> {
    let address = cursor.takes("&");
    match cursor.peek() {
        Some(Token::Word("NULL")) if !address => {
            cursor.take();
            Ok((0, true))
        }
        Some(Token::Word(name)) if is_of_page_tables(name) => Err(cursor.error(PAGE_TABLES)),
        Some(Token::Word(name)) => {
            cursor.take();
            if name == "ATOMIC_INIT" && cursor.takes("(") {
                let inner = cursor.number()?;
                cursor.symbol(")")?;
                return Ok((inner, false));
            }
            if let Some(Token::Symbol("(")) = cursor.peek() {
                return Err(cursor.error(format!("`{name}(...)` is no value that is supported")));
            }
            Ok((Memory::address(memory.location(name)), true))
        }
        _ if address => Err(cursor.expected("a location after `&`")),
        Some(Token::Symbol("(")) => {
            let at = *cursor;
            cursor.take();
            if let Some(Token::Word(_)) = cursor.peek() {
                return Err(at.error(PAGE_TABLES));
            }
            cursor.enter()?;
            let inner = value(cursor, memory)?;
            cursor.leave();
            cursor.symbol(")")?;
            Ok(inner)
        }
        _ => cursor.number().map(|value| (value, false)),
    }
}

const PAGE_TABLES: &str = "entries of page tables are not supported";

/// Returns `true` for the names that herd7 gives the parts of a page table: `pte_x` is the entry for
/// `x`, and no location of its own.
fn is_of_page_tables(name: &str) -> bool {
    ["pte_", "pa_", "phy_", "PTE", "TTD", "PA"].iter().any(|prefix| match prefix.ends_with('_') {
        true => name.starts_with(prefix),
        false => name == *prefix,
    })
}
