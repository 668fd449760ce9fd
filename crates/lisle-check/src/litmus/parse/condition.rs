//! The end of a test: `locations [x; 0:r0;]`, `filter P`, and `exists P`, `~exists P` or
//! `forall P`.

use super::cursor::Cursor;
use super::initial::{RegisterTypes, register_name};
use super::lexer::Token;
use super::registers;
use crate::litmus::condition::{Condition, Item, Proposition, Quantifier};
use crate::litmus::error::ParseError;
use crate::litmus::program::expression::Extension;
use crate::litmus::program::memory::{Location, Range};
use crate::litmus::program::{Architecture, Memory, Thread, Type};

const SUPPORTED: &str = "supported: locations [...], filter P, exists P, ~exists P, forall P; \
                         P is made of 0:r0=1, x=1, [x]=1, a[0]=1, a={1,2}, 0:r0=1:r1, not, /\\, \\/, => and parentheses";

/// Returns `true` if the end of a test begins with this token.
pub(crate) fn begins(token: Token<'_>) -> bool {
    matches!(token, Token::Word("exists" | "forall" | "locations" | "filter") | Token::Symbol("~"))
}

/// Reads the end of a test. Without a condition it is `forall (true)`.
pub(crate) fn condition(
    cursor: &mut Cursor<'_>,
    architecture: Architecture,
    threads: &mut [Thread],
    memory: &Memory,
    types: &RegisterTypes,
) -> Result<Condition, ParseError> {
    let mut reader = Reader { cursor: *cursor, architecture, threads, memory, types, items: Vec::new() };
    let condition = reader.condition().map_err(|error| error.help(SUPPORTED));
    *cursor = reader.cursor;
    condition
}

struct Reader<'a, 'b> {
    cursor: Cursor<'a>,
    architecture: Architecture,
    threads: &'b mut [Thread],
    memory: &'b Memory,
    types: &'b RegisterTypes,
    items: Vec<Item>,
}

impl Reader<'_, '_> {
    fn condition(&mut self) -> Result<Condition, ParseError> {
        if self.cursor.takes_word("locations") {
            self.cursor.symbol("[")?;
            while !self.cursor.takes("]") {
                self.listed()?;
                if !self.cursor.takes(";") && self.cursor.peek() != Some(Token::Symbol("]")) {
                    return Err(self.cursor.expected("`;` or `]`"));
                }
            }
        }
        let filter_position = self.cursor.position();
        let filter = if self.cursor.takes_word("filter") { Some(self.implication()?) } else { None };
        let filter_position = filter.is_some().then_some(filter_position);
        let position = self.cursor.position();
        let (quantifier, proposition) = if self.cursor.peek().is_none() {
            (Quantifier::ForAll, Proposition::Known(true))
        } else {
            (self.quantifier()?, self.implication()?)
        };
        self.cursor.takes(";");
        self.cursor.end()?;
        let mut condition = Condition {
            quantifier,
            proposition,
            filter,
            position,
            filter_position,
            items: std::mem::take(&mut self.items),
        };
        condition.sort();
        Ok(condition)
    }

    fn quantifier(&mut self) -> Result<Quantifier, ParseError> {
        let negated = self.cursor.takes("~");
        if self.cursor.takes_word("exists") {
            Ok(if negated { Quantifier::NotExists } else { Quantifier::Exists })
        } else if !negated && self.cursor.takes_word("forall") {
            Ok(Quantifier::ForAll)
        } else {
            Err(self.cursor.expected("the condition"))
        }
    }

    fn implication(&mut self) -> Result<Proposition, ParseError> {
        self.cursor.enter()?;
        let mut result = self.any()?;
        if self.cursor.takes("=>") {
            result = Proposition::Any(vec![Proposition::Not(Box::new(result)), self.implication()?]);
        }
        self.cursor.leave();
        Ok(result)
    }

    fn any(&mut self) -> Result<Proposition, ParseError> {
        let mut parts = vec![self.all()?];
        while self.cursor.takes("\\/") {
            parts.push(self.all()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Proposition::Any(parts) })
    }

    fn all(&mut self) -> Result<Proposition, ParseError> {
        let mut parts = vec![self.one()?];
        while self.cursor.takes("/\\") {
            parts.push(self.one()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Proposition::All(parts) })
    }

    fn one(&mut self) -> Result<Proposition, ParseError> {
        if self.cursor.takes("~") || self.cursor.takes_word("not") {
            self.cursor.enter()?;
            let inner = self.one()?;
            self.cursor.leave();
            return Ok(Proposition::Not(Box::new(inner)));
        }
        if self.cursor.takes("(") {
            let inner = self.implication()?;
            self.cursor.symbol(")")?;
            return Ok(inner);
        }
        for (word, truth) in [("true", true), ("false", false)] {
            if self.cursor.takes_word(word) {
                return Ok(Proposition::Known(truth));
            }
        }
        if let Some(array) = self.array_here() {
            return self.compared_array(array);
        }
        let item = self.item()?;
        let differs = self.cursor.takes("!=");
        if !differs && !self.cursor.takes("==") {
            self.cursor.symbol("=")?;
        }
        let equal = self.compared(item)?;
        Ok(if differs { Proposition::Not(Box::new(equal)) } else { equal })
    }

    /// The array that the next token names, if it is to be compared as a whole.
    fn array_here(&self) -> Option<usize> {
        let (Some(Token::Word(name)), Some(Token::Symbol("=" | "=="))) =
            (self.cursor.peek(), self.cursor.peek_second())
        else {
            return None;
        };
        self.memory.known(name).filter(|location| self.memory.locations[*location].array)
    }

    /// Reads `a={1,2}`.
    fn compared_array(&mut self, array: usize) -> Result<Proposition, ParseError> {
        self.cursor.take();
        self.cursor.take();
        let mut parts = Vec::new();
        for element in 0..self.memory.locations[array].initial.len() {
            self.cursor.symbol(if element == 0 { "{" } else { "," })?;
            let item = self.element(array, element);
            let item = self.add(item);
            parts.push(self.compared(item)?);
        }
        self.cursor.symbol("}")?;
        Ok(Proposition::All(parts))
    }

    /// Reads the value for comparison with the item.
    fn compared(&mut self, item: usize) -> Result<Proposition, ParseError> {
        let at = self.cursor;
        if let (Some(Token::Number(_)), Some(Token::Symbol(":"))) =
            (self.cursor.peek(), self.cursor.peek_second())
        {
            return Ok(Proposition::Same(item, self.item()?));
        }
        let value = self.value()?;
        let bits = self.items[item].bits();
        if [Extension::Signed, Extension::Zero].iter().all(|extension| extension.apply(bits, value) != value)
        {
            let message =
                format!("`{}` has {bits} bits, so it never has this value", self.items[item].show());
            return Err(at.error(message));
        }
        Ok(Proposition::Equal(item, self.items[item].view(value)))
    }

    /// Reads a part of the state, or an array, which stands for all of its elements.
    fn listed(&mut self) -> Result<(), ParseError> {
        if let (Some(Token::Word(name)), Some(Token::Symbol(";" | "]"))) =
            (self.cursor.peek(), self.cursor.peek_second())
            && let Some(location) = self.memory.known(name)
            && self.memory.locations[location].array
        {
            self.cursor.take();
            for element in 0..self.memory.locations[location].initial.len() {
                let item = self.element(location, element);
                self.add(item);
            }
            return Ok(());
        }
        self.item().map(drop)
    }

    /// Reads a part of the state and returns its index.
    fn item(&mut self) -> Result<usize, ParseError> {
        let item = match self.cursor.peek() {
            Some(Token::Number(_)) => self.register()?,
            Some(Token::Word(_)) if self.cursor.peek_second() == Some(Token::Symbol(":")) => {
                self.register()?
            }
            Some(Token::Word(_)) => self.location()?,
            Some(Token::Symbol("[")) => {
                self.cursor.take();
                let location = self.location()?;
                self.cursor.symbol("]")?;
                location
            }
            _ => return Err(self.cursor.expected("a register, such as 0:r0, or a location")),
        };
        Ok(self.add(item))
    }

    fn add(&mut self, item: Item) -> usize {
        let known = self.items.iter().position(|known| *known == item);
        known.unwrap_or_else(|| {
            self.items.push(item);
            self.items.len() - 1
        })
    }

    /// Reads `0` or `P0`.
    fn thread(&mut self) -> Result<usize, ParseError> {
        let at = self.cursor;
        let number = match self.cursor.peek() {
            Some(Token::Word(word)) => word.strip_prefix('P').and_then(|digits| digits.parse().ok()),
            _ => return Ok(usize::try_from(self.cursor.number()?).unwrap_or(usize::MAX)),
        };
        self.cursor.take();
        number.ok_or_else(|| at.error("expected the number of a thread"))
    }

    fn register(&mut self) -> Result<Item, ParseError> {
        let at = self.cursor;
        let thread = self.thread()?;
        self.cursor.symbol(":")?;
        let on_register = self.cursor;
        let name = self.cursor.word("a register")?.to_owned();
        let Some(code) = self.threads.get_mut(thread) else {
            return Err(at.error(format!("there is no thread {thread}")));
        };
        let wrong = || on_register.error(format!("thread {thread} has no register `{name}`"));
        let known_as = register_name(self.architecture, &name).ok_or_else(wrong)?;
        let register = match self.architecture {
            Architecture::C => code.known(&known_as).ok_or_else(wrong)?,
            _ => code.register(&known_as),
        };
        let wide = match self.architecture {
            Architecture::C => true,
            Architecture::X86 => registers::x86(&name).is_none_or(|(_, wide)| wide),
            Architecture::AArch64 => registers::aarch64(&name).is_none_or(|(_, wide)| wide),
        };
        let declared = self.types.iter().find(|(number, name, _)| *number == thread && *name == known_as);
        let ty = match declared {
            Some((_, _, ty)) if wide => Some(*ty),
            _ if self.architecture == Architecture::C => Some(Type::LONG),
            _ if wide => None,
            _ => Some(Type::INT),
        };
        Ok(Item::Register { thread, register, name, ty })
    }

    fn location(&mut self) -> Result<Item, ParseError> {
        let at = self.cursor;
        let location = self.known_location()?;
        let Location { name, array, initial, .. } = &self.memory.locations[location];
        let is_array = *array;
        if !self.cursor.takes("[") {
            if is_array {
                let message = format!("`{name}` is an array, which is not compared as a whole");
                return Err(at.error(message).help(format!("compare its elements, as in `{name}[0]=1`")));
            }
            return Ok(self.element(location, 0));
        }
        let at = self.cursor;
        let element = usize::try_from(self.cursor.number()?).ok().filter(|number| *number < initial.len());
        self.cursor.symbol("]")?;
        match element {
            Some(element) if is_array => Ok(self.element(location, element)),
            _ => Err(at.error(format!("there is no such element of `{name}`"))),
        }
    }

    fn element(&self, location: usize, element: usize) -> Item {
        let Location { name, array, ty, .. } = &self.memory.locations[location];
        let name = if *array { format!("{name}[{element}]") } else { name.clone() };
        Item::Location { range: Range { location, offset: element * ty.size, size: ty.size }, name, ty: *ty }
    }

    fn known_location(&mut self) -> Result<usize, ParseError> {
        let at = self.cursor;
        let name = self.cursor.word("a location")?;
        self.memory.known(name).ok_or_else(|| at.error(format!("there is no location `{name}`")))
    }

    fn value(&mut self) -> Result<i64, ParseError> {
        let address = self.cursor.takes("&");
        match self.cursor.peek() {
            Some(Token::Word("NULL")) if !address => {
                self.cursor.take();
                Ok(0)
            }
            Some(Token::Word(_)) => self.known_location().map(Memory::address),
            _ if address => Err(self.cursor.expected("a location after `&`")),
            _ => self.cursor.number(),
        }
    }
}
