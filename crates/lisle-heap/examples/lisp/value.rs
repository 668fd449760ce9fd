//! The values of Scheme: one word each.

use lisle_heap::{Array, Gc, Local, Object, Ref, Scope, Slot, Value};
use std::fmt;
use std::sync::Mutex;

#[derive(Value)]
pub(crate) enum Value {
    Nil,
    Unspecified,
    /// The value of a variable before its definition.
    Unassigned,
    Bool(bool),
    Char(char),
    Int(i64),
    /// A function of Rust, by its number.
    Native(u16),
    Pair(Gc<Pair>),
    Closure(Gc<Closure>),
    /// A variable that is assigned: closures share it.
    Cell(Gc<Cell>),
    Symbol(Gc<Symbol>),
    Float(Gc<Float>),
    Text(Gc<Text>),
    Vector(Gc<Array<Value>>),
    Table(Gc<Table>),
    Many(Gc<Many>),
    Template(Gc<Template>),
    Continuation(Gc<Continuation>),
    Alias(Gc<Alias>),
}

#[derive(Object)]
pub(crate) struct Pair {
    pub(crate) car: Slot<Value>,
    pub(crate) cdr: Slot<Value>,
}

/// A name, and the value of the global variable with that name. There is one symbol for each name.
#[derive(Object)]
pub(crate) struct Symbol {
    pub(crate) id: u32,
    pub(crate) name: String,
    pub(crate) value: Slot<Value>,
}

/// A name that a macro has inserted: it means what `of` means where the macro was defined.
#[derive(Object)]
pub(crate) struct Alias {
    pub(crate) id: u32,
    pub(crate) env: usize,
    pub(crate) of: Gc<Value>,
}

#[derive(Object)]
pub(crate) struct Cell {
    pub(crate) value: Slot<Value>,
}

#[derive(Object)]
pub(crate) struct Float {
    pub(crate) value: f64,
}

#[derive(Object)]
pub(crate) struct Text {
    pub(crate) text: Mutex<String>,
}

/// A hash table: lists of pairs of keys and values, by the hash of the key.
#[derive(Object)]
pub(crate) struct Table {
    pub(crate) buckets: Slot<Array<Value>>,
    pub(crate) count: Slot<Value>,
}

/// Several values that an expression returns.
#[derive(Object)]
pub(crate) struct Many {
    pub(crate) values: Gc<Value>,
}

/// The code of a `lambda`, by its number, and its constants.
#[derive(Object)]
pub(crate) struct Template {
    pub(crate) code: usize,
    pub(crate) constants: Gc<Array<Value>>,
}

#[derive(Object)]
pub(crate) struct Closure {
    pub(crate) template: Gc<Template>,
    pub(crate) captured: Gc<Array<Value>>,
}

/// A copy of the stack, and the rest of the stack below it.
#[derive(Object)]
pub(crate) struct Continuation {
    pub(crate) stack: Gc<Array<Value>>,
    pub(crate) below: Gc<Option<Continuation>>,
}

/// Why a program cannot go on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Error(pub String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

pub(crate) fn error<T>(text: impl Into<String>) -> Result<T> {
    Err(Error(text.into()))
}

pub(crate) fn is_true(value: ValueView<'_>) -> bool {
    value != ValueView::Bool(false)
}

/// Returns the parts of a pair.
pub(crate) fn pair(value: ValueView<'_>) -> Result<Ref<'_, Pair>> {
    match value {
        ValueView::Pair(pair) => Ok(pair),
        other => error(format!("not a pair: {}", show(other))),
    }
}

/// Returns the elements of a list.
pub(crate) fn elements<'a>(mut list: ValueView<'a>) -> Result<Vec<ValueView<'a>>> {
    let mut elements = Vec::new();
    loop {
        match list {
            ValueView::Nil => return Ok(elements),
            ValueView::Pair(pair) => {
                elements.push(pair.car());
                list = pair.cdr();
            }
            other => return error(format!("not a list: it ends in {}", show(other))),
        }
    }
}

/// Returns the elements of a list as handles.
pub(crate) fn handles<'s>(s: &Scope<'s>, list: Local<'_, Value>) -> Result<Vec<Local<'s, Value>>> {
    Ok(elements(list.get(s))?.into_iter().map(|element| s.local(element)).collect())
}

pub(crate) fn cons<'s>(s: &mut Scope<'s>, car: Local<'_, Value>, cdr: Local<'_, Value>) -> Local<'s, Value> {
    let pair = s.alloc::<Pair>(Pair::init(car, cdr));
    s.local(pair.get(s))
}

/// Returns a list of these elements, which ends in `end`.
pub(crate) fn list<'s>(
    s: &mut Scope<'s>,
    elements: &[Local<'_, Value>],
    end: Local<'_, Value>,
) -> Local<'s, Value> {
    s.escape(|s| {
        let mut list = s.root::<Value>(end);
        for element in elements.iter().rev() {
            s.scope(|s| {
                let rest = s.local(list.get(s));
                let longer = cons(s, *element, rest);
                list.set(s, longer);
            });
        }
        s.local(list.get(s))
    })
}

/// Returns the value as `write` prints it.
pub(crate) fn show(value: ValueView<'_>) -> String {
    let mut out = String::new();
    print(&mut out, value, true, 0);
    out
}

/// Prints a value: as `write` does, or as `display` does.
pub(crate) fn print(out: &mut String, value: ValueView<'_>, quoted: bool, depth: usize) {
    use std::fmt::Write as _;
    if depth > 200 {
        return out.push_str("...");
    }
    let _ = match value {
        ValueView::Nil => write!(out, "()"),
        ValueView::Unspecified => write!(out, "#<unspecified>"),
        ValueView::Unassigned => write!(out, "#<unassigned>"),
        ValueView::Bool(truth) => write!(out, "{}", if truth { "#t" } else { "#f" }),
        ValueView::Char(' ') if quoted => write!(out, "#\\space"),
        ValueView::Char('\n') if quoted => write!(out, "#\\newline"),
        ValueView::Char(letter) if quoted => write!(out, "#\\{letter}"),
        ValueView::Char(letter) => write!(out, "{letter}"),
        ValueView::Int(number) => write!(out, "{number}"),
        ValueView::Float(float) if float.value.fract() == 0.0 && float.value.abs() < 1e15 => {
            write!(out, "{:.1}", float.value)
        }
        ValueView::Float(float) => write!(out, "{}", float.value),
        ValueView::Symbol(symbol) => write!(out, "{}", symbol.name),
        ValueView::Alias(alias) => {
            print(out, alias.of(), quoted, depth + 1);
            Ok(())
        }
        ValueView::Text(text) => {
            let text = text.text.lock().expect("no printing of a text panics");
            if quoted { write!(out, "{:?}", *text) } else { write!(out, "{text}") }
        }
        ValueView::Pair(_) => {
            let (mut rest, mut before, mut count) = (value, "(", 0);
            while let ValueView::Pair(pair) = rest {
                out.push_str(before);
                before = " ";
                count += 1;
                if count > 10_000 {
                    out.push_str("...");
                    break;
                }
                print(out, pair.car(), quoted, depth + 1);
                rest = pair.cdr();
            }
            if !matches!(rest, ValueView::Nil | ValueView::Pair(_)) {
                out.push_str(" . ");
                print(out, rest, quoted, depth + 1);
            }
            write!(out, ")")
        }
        ValueView::Vector(vector) => {
            out.push_str("#(");
            for (index, slot) in vector.iter().enumerate() {
                if index > 0 {
                    out.push(' ');
                }
                print(out, slot.get(), quoted, depth + 1);
            }
            write!(out, ")")
        }
        ValueView::Many(many) => {
            print(out, many.values(), quoted, depth + 1);
            Ok(())
        }
        ValueView::Closure(_) | ValueView::Native(_) | ValueView::Continuation(_) => {
            write!(out, "#<procedure>")
        }
        ValueView::Table(_) => write!(out, "#<table>"),
        ValueView::Cell(_) | ValueView::Template(_) => write!(out, "#<internal>"),
    };
}
