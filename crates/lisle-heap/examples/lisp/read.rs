//! The reader: from text to data.

use crate::depth::go_deeper;
use crate::value::*;
use lisle_heap::{Global, Local, Scope};
use std::collections::HashMap;
use std::iter::{Peekable, from_fn, once};
use std::str::Chars;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The symbols by their names.
#[derive(Default)]
pub(crate) struct Symbols {
    by_name: Mutex<HashMap<String, Global<Symbol>>>,
    last: AtomicU32,
}

impl Symbols {
    /// Returns a number that no symbol and no alias has.
    pub(crate) fn fresh(&self) -> u32 {
        self.last.fetch_add(1, Relaxed)
    }

    /// Returns the symbol with this name.
    pub(crate) fn intern<'s>(&self, s: &mut Scope<'s>, name: &str) -> Local<'s, Symbol> {
        let known = || self.by_name.lock().expect("no panic holds the lock");
        if let Some(symbol) = known().get(name) {
            return s.local(symbol);
        }
        // Memory is allocated without the lock: a thread that waits for it keeps others from a collection.
        let symbol = s.alloc::<Symbol>(Symbol::init(self.fresh(), name.into(), Value::unassigned()));
        s.local(known().entry(name.into()).or_insert_with(|| s.global(symbol)) as &_)
    }
}

/// Reads data from a text.
pub(crate) struct Reader<'r, 't> {
    pub(crate) text: &'r mut Peekable<Chars<'t>>,
    pub(crate) symbols: &'r Symbols,
}

impl Reader<'_, '_> {
    fn skip(&mut self) {
        while let Some(letter) = self.text.next_if(|letter| letter.is_whitespace() || *letter == ';') {
            if letter == ';' {
                while self.text.next().is_some_and(|letter| letter != '\n') {}
            }
        }
    }

    /// Reads the next datum, or returns `None` at the end of the text.
    pub(crate) fn read<'s>(&mut self, s: &mut Scope<'s>) -> Result<Option<Handle<'s>>> {
        go_deeper()?;
        self.skip();
        let Some(letter) = self.text.next() else { return Ok(None) };
        let short = match letter {
            '(' => return self.rest_of_list(s).map(Some),
            ')' => return Err("a `)` without its `(`".into()),
            '"' => return self.text(s).map(Some),
            '\'' => "quote",
            '`' => "quasiquote",
            ',' if self.text.next_if_eq(&'@').is_some() => "unquote-splicing",
            ',' => "unquote",
            '#' if self.text.next_if_eq(&'(').is_some() => {
                let list = self.rest_of_list(s)?;
                let vector = array(s, &handles(s, list.get(s))?);
                return Ok(Some(s.local(vector)));
            }
            '#' if self.text.next_if_eq(&'\\').is_some() => return self.letter(s).map(Some),
            _ => return self.word(s, letter).map(Some),
        };
        let Some(datum) = self.read(s)? else { return Err(format!("nothing follows `{letter}`")) };
        let (name, nil) = (self.symbols.intern(s, short), s.local(ValueView::Nil));
        Ok(Some(list(s, [s.local(name), datum].into_iter(), nil)))
    }

    fn rest_of_list<'s>(&mut self, s: &mut Scope<'s>) -> Result<Handle<'s>> {
        let mut elements = Vec::new();
        loop {
            self.skip();
            if self.text.next_if_eq(&')').is_some() {
                let nil = s.local(ValueView::Nil);
                return Ok(list(s, elements.into_iter(), nil));
            }
            let Some(element) = self.read(s)? else { return Err("a `(` without its `)`".into()) };
            if matches!(element.get(s), ValueView::Symbol(symbol) if symbol.name == ".") {
                let Some(end) = self.read(s)? else { return Err("nothing follows `.`".into()) };
                self.skip();
                if self.text.next() != Some(')') {
                    return Err("more than one datum follows `.`".into());
                }
                return Ok(list(s, elements.into_iter(), end));
            }
            elements.push(element);
        }
    }

    fn text<'s>(&mut self, s: &mut Scope<'s>) -> Result<Handle<'s>> {
        let mut text = String::new();
        while let Some(letter) = self.text.next() {
            match letter {
                '"' => {
                    let text = s.alloc::<Text>(Text::init(text));
                    return Ok(s.local(text));
                }
                '\\' => match self.text.next() {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some(other) => text.push(other),
                    None => return Err("nothing follows a `\\`".into()),
                },
                other => text.push(other),
            }
        }
        Err("a text without its closing `\"`".into())
    }

    /// Returns the word that begins with a letter.
    fn rest_of_word(&mut self, first: char) -> String {
        let rest = || self.text.next_if(|letter| !letter.is_whitespace() && !"()\";'`,".contains(*letter));
        once(first).chain(from_fn(rest)).collect()
    }

    fn letter<'s>(&mut self, s: &Scope<'s>) -> Result<Handle<'s>> {
        let Some(first) = self.text.next() else { return Err("nothing follows `#\\`".into()) };
        match self.rest_of_word(first).as_str() {
            "space" => Ok(s.local::<Value>(' ')),
            "newline" => Ok(s.local::<Value>('\n')),
            name if name.chars().count() == 1 => Ok(s.local::<Value>(first)),
            name => Err(format!("there is no character `#\\{name}`")),
        }
    }

    fn word<'s>(&mut self, s: &mut Scope<'s>, first: char) -> Result<Handle<'s>> {
        let word = self.rest_of_word(first);
        if let Ok(number) = word.parse::<i64>() {
            if !Value::fits_int(number) {
                return Err(format!("the integer {number} is too large"));
            }
            return Ok(s.local::<Value>(number));
        }
        // Words such as `inf` are numbers in Rust, and names here.
        if word.trim_start_matches(['+', '-', '.']).starts_with(|letter: char| letter.is_ascii_digit())
            && let Ok(value) = word.parse::<f64>()
        {
            let float = s.alloc::<Float>(Float::init(value));
            return Ok(s.local(float));
        }
        match word.as_str() {
            "#t" => Ok(s.local::<Value>(true)),
            "#f" => Ok(s.local::<Value>(false)),
            _ if word.starts_with('#') => Err(format!("cannot read `{word}`")),
            _ => {
                let symbol = self.symbols.intern(s, &word);
                Ok(s.local(symbol))
            }
        }
    }
}
