//! The reader: from text to data.

use crate::value::{Error, Float, Result, Symbol, Text, Value, ValueView, error, list};
use lisle_heap::{Global, Local, Scope};
use std::collections::HashMap;
use std::iter::Peekable;
use std::str::Chars;
use std::sync::Mutex;

/// The symbols by their names.
#[derive(Default)]
pub(crate) struct Symbols {
    by_name: HashMap<String, Global<Symbol>>,
    next: u32,
}

impl Symbols {
    /// Returns a number that no symbol and no alias has.
    pub(crate) fn fresh(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    /// Returns the symbol with this name.
    pub(crate) fn intern<'s>(&mut self, s: &mut Scope<'s>, name: &str) -> Local<'s, Symbol> {
        if let Some(symbol) = self.by_name.get(name) {
            return s.local(symbol);
        }
        let id = self.fresh();
        let symbol = s.alloc::<Symbol>(Symbol::init(id, name.into(), Value::unassigned()));
        self.by_name.insert(name.into(), s.global(symbol));
        symbol
    }
}

/// Reads data from a text.
pub(crate) struct Reader<'t> {
    text: Peekable<Chars<'t>>,
}

fn ends_a_word(letter: char) -> bool {
    letter.is_whitespace() || "()\";'`,".contains(letter)
}

impl<'t> Reader<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text: text.chars().peekable() }
    }

    fn skip(&mut self) {
        while let Some(&letter) = self.text.peek() {
            if letter == ';' {
                while self.text.next().is_some_and(|letter| letter != '\n') {}
            } else if letter.is_whitespace() {
                self.text.next();
            } else {
                return;
            }
        }
    }

    /// Reads the next datum, or returns `None` at the end of the text.
    pub(crate) fn read<'s>(
        &mut self,
        s: &mut Scope<'s>,
        symbols: &mut Symbols,
    ) -> Result<Option<Local<'s, Value>>> {
        self.skip();
        let Some(letter) = self.text.next() else { return Ok(None) };
        let short = match letter {
            '(' => return self.rest_of_list(s, symbols).map(Some),
            ')' => return error("a `)` without its `(`"),
            '"' => return self.text(s).map(Some),
            '\'' => "quote",
            '`' => "quasiquote",
            ',' if self.text.next_if_eq(&'@').is_some() => "unquote-splicing",
            ',' => "unquote",
            '#' if self.text.peek() == Some(&'(') => {
                self.text.next();
                let list = self.rest_of_list(s, symbols)?;
                return vector(s, list).map(Some);
            }
            '#' if self.text.next_if_eq(&'\\').is_some() => return self.letter(s).map(Some),
            _ => return self.word(s, symbols, letter).map(Some),
        };
        let Some(datum) = self.read(s, symbols)? else { return error(format!("nothing follows `{letter}`")) };
        let name = symbols.intern(s, short);
        let (name, nil) = (s.local(name.get(s)), s.local(ValueView::Nil));
        Ok(Some(list(s, &[name, datum], nil)))
    }

    fn rest_of_list<'s>(&mut self, s: &mut Scope<'s>, symbols: &mut Symbols) -> Result<Local<'s, Value>> {
        let mut elements = Vec::new();
        loop {
            self.skip();
            if self.text.next_if_eq(&')').is_some() {
                let nil = s.local(ValueView::Nil);
                return Ok(list(s, &elements, nil));
            }
            let Some(element) = self.read(s, symbols)? else { return error("a `(` without its `)`") };
            if matches!(element.get(s), ValueView::Symbol(symbol) if symbol.name == ".") {
                let Some(end) = self.read(s, symbols)? else { return error("nothing follows `.`") };
                self.skip();
                if self.text.next() != Some(')') {
                    return error("more than one datum follows `.`");
                }
                return Ok(list(s, &elements, end));
            }
            elements.push(element);
        }
    }

    fn text<'s>(&mut self, s: &mut Scope<'s>) -> Result<Local<'s, Value>> {
        let mut text = String::new();
        loop {
            match self.text.next() {
                None => return error("a text without its closing `\"`"),
                Some('"') => break,
                Some('\\') => match self.text.next() {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some(other) => text.push(other),
                    None => return error("nothing follows a `\\`"),
                },
                Some(other) => text.push(other),
            }
        }
        let text = s.alloc::<Text>(Text::init(Mutex::new(text)));
        Ok(s.local(text.get(s)))
    }

    fn letter<'s>(&mut self, s: &mut Scope<'s>) -> Result<Local<'s, Value>> {
        let Some(first) = self.text.next() else { return error("nothing follows `#\\`") };
        let mut name = String::from(first);
        while let Some(letter) = self.text.next_if(|letter| !ends_a_word(*letter)) {
            name.push(letter);
        }
        match name.as_str() {
            "space" => Ok(s.local::<Value>(' ')),
            "newline" => Ok(s.local::<Value>('\n')),
            _ if name.chars().count() == 1 => Ok(s.local::<Value>(first)),
            _ => error(format!("there is no character `#\\{name}`")),
        }
    }

    fn word<'s>(
        &mut self,
        s: &mut Scope<'s>,
        symbols: &mut Symbols,
        first: char,
    ) -> Result<Local<'s, Value>> {
        let mut word = String::from(first);
        while let Some(letter) = self.text.next_if(|letter| !ends_a_word(*letter)) {
            word.push(letter);
        }
        match word.as_str() {
            "#t" => return Ok(s.local::<Value>(true)),
            "#f" => return Ok(s.local::<Value>(false)),
            _ => {}
        }
        if let Ok(number) = word.parse::<i64>() {
            return if Value::fits_int(number) {
                Ok(s.local::<Value>(number))
            } else {
                error(format!("the integer {number} is too large"))
            };
        }
        if word.starts_with(|letter: char| letter.is_ascii_digit() || "+-.".contains(letter))
            && word.contains(|letter: char| letter.is_ascii_digit())
            && let Ok(value) = word.parse::<f64>()
        {
            let float = s.alloc::<Float>(Float::init(value));
            return Ok(s.local(float.get(s)));
        }
        if word.starts_with('#') {
            return Err(Error(format!("cannot read `{word}`")));
        }
        let symbol = symbols.intern(s, &word);
        Ok(s.local(symbol.get(s)))
    }
}

/// Returns the vector of a list's elements.
pub(crate) fn vector<'s>(s: &mut Scope<'s>, list: Local<'_, Value>) -> Result<Local<'s, Value>> {
    let len = crate::value::elements(list.get(s))?.len();
    let vector = s.array::<Value>(len, Value::unspecified());
    for (slot, element) in vector.get(s).iter().zip(crate::value::elements(list.get(s))?) {
        slot.set(s, element);
    }
    Ok(s.local(vector.get(s)))
}
