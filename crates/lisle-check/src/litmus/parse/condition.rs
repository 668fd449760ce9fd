//! The end of a test: `locations [x; 0:r0;]`, `filter P`, and `exists P`, `~exists P` or
//! `forall P`.

use super::cursor::Cursor;
use super::initial::register_name;
use super::lexer::Token;
use crate::litmus::condition::{Condition, Item, Proposition, Quantifier};
use crate::litmus::error::ParseError;
use crate::litmus::program::{Architecture, Memory, Thread};

const SUPPORTED: &str = "supported: locations [...], filter P, exists P, ~exists P, forall P; \
                         P is made of 0:r0=1, x=1, [x]=1, not, /\\, \\/, => and parentheses";

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
) -> Result<Condition, ParseError> {
    let mut reader = Reader { cursor: *cursor, architecture, threads, memory, items: Vec::new() };
    let condition = reader.condition().map_err(|error| error.help(SUPPORTED));
    *cursor = reader.cursor;
    condition
}

struct Reader<'a, 'b> {
    cursor: Cursor<'a>,
    architecture: Architecture,
    threads: &'b mut [Thread],
    memory: &'b Memory,
    items: Vec<Item>,
}

impl Reader<'_, '_> {
    fn condition(&mut self) -> Result<Condition, ParseError> {
        if self.cursor.takes_word("locations") {
            self.cursor.symbol("[")?;
            while !self.cursor.takes("]") {
                self.item()?;
                if !self.cursor.takes(";") && self.cursor.peek() != Some(Token::Symbol("]")) {
                    return Err(self.cursor.expected("`;` or `]`"));
                }
            }
        }
        let filter = if self.cursor.takes_word("filter") { Some(self.implication()?) } else { None };
        let (quantifier, proposition) = if self.cursor.peek().is_none() {
            (Quantifier::ForAll, Proposition::Known(true))
        } else {
            (self.quantifier()?, self.implication()?)
        };
        self.cursor.takes(";");
        self.cursor.end()?;
        let mut condition =
            Condition { quantifier, proposition, filter, items: std::mem::take(&mut self.items) };
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
        let item = self.item()?;
        let differs = self.cursor.takes("!=");
        if !differs && !self.cursor.takes("==") {
            self.cursor.symbol("=")?;
        }
        let equal = Proposition::Equal(item, self.value()?);
        Ok(if differs { Proposition::Not(Box::new(equal)) } else { equal })
    }

    /// Reads a part of the state and returns its index.
    fn item(&mut self) -> Result<usize, ParseError> {
        let item = match self.cursor.peek() {
            Some(Token::Number(_)) => self.register()?,
            Some(Token::Word(_)) => self.location()?,
            Some(Token::Symbol("[")) => {
                self.cursor.take();
                let location = self.location()?;
                self.cursor.symbol("]")?;
                location
            }
            _ => return Err(self.cursor.expected("a register, such as 0:r0, or a location")),
        };
        let known = self.items.iter().position(|known| *known == item);
        Ok(known.unwrap_or_else(|| {
            self.items.push(item);
            self.items.len() - 1
        }))
    }

    fn register(&mut self) -> Result<Item, ParseError> {
        let at = self.cursor;
        let thread = usize::try_from(self.cursor.number()?).unwrap_or(usize::MAX);
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
        Ok(Item::Register { thread, register, name })
    }

    fn location(&mut self) -> Result<Item, ParseError> {
        self.known_location().map(Item::Location)
    }

    fn known_location(&mut self) -> Result<usize, ParseError> {
        let at = self.cursor;
        let name = self.cursor.word("a location")?;
        self.memory.known(name).ok_or_else(|| at.error(format!("there is no location `{name}`")))
    }

    fn value(&mut self) -> Result<i64, ParseError> {
        let address = self.cursor.takes("&");
        match self.cursor.peek() {
            Some(Token::Word(_)) => self.known_location().map(Memory::address),
            _ if address => Err(self.cursor.expected("a location after `&`")),
            _ => self.cursor.number(),
        }
    }
}
