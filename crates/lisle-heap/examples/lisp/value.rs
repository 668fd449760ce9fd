//! The values of Scheme: one word each.

use crate::compile::Code;
use lisle::channel::{Receiver, Sender};
use lisle::sync::IVar;
use lisle_heap::{Array, Gc, Global, IntoArg, Local, Object, Ref, Scope, Slot, Value};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};

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
    Continuation(Gc<Continuation>),
    Alias(Gc<Alias>),
    Channel(Gc<Channel>),
    Fiber(Gc<Fiber>),
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
pub(crate) struct Cell(pub(crate) Slot<Value>);

#[derive(Object)]
pub(crate) struct Float(pub(crate) f64);

#[derive(Object)]
pub(crate) struct Text(pub(crate) String);

/// A hash table: lists of pairs of keys and values, by the hash of the key. A thread that holds the lock comes to no safe point,
/// since a thread that waits for it comes to none.
#[derive(Object)]
pub(crate) struct Table {
    pub(crate) lock: Mutex<()>,
    pub(crate) buckets: Slot<Array<Value>>,
    pub(crate) count: AtomicUsize,
}

/// Several values that an expression returns.
#[derive(Object)]
pub(crate) struct Many(pub(crate) Gc<Value>);

/// A function: its code, the constants of the code, and the captured variables.
#[derive(Object)]
pub(crate) struct Closure {
    pub(crate) code: &'static Code,
    pub(crate) constants: Gc<Array<Value>>,
    pub(crate) captured: Gc<Array<Value>>,
}

/// A copy of the stack, the rest of the stack below it, and the number of registers that it needs.
#[derive(Object)]
pub(crate) struct Continuation {
    pub(crate) registers: usize,
    pub(crate) stack: Gc<Array<Value>>,
    pub(crate) below: Gc<Option<Continuation>>,
}

/// A channel, which has no room for messages: a sender and a receiver wait for each other.
#[derive(Object)]
pub(crate) struct Channel(pub(crate) Arc<Ends>);

pub(crate) type Ends = (Sender<Global<Value>>, Receiver<Global<Value>>);

/// A fiber: whether it has ended, and its result.
#[derive(Object)]
pub(crate) struct Fiber {
    pub(crate) end: Arc<IVar<Result<()>>>,
    pub(crate) result: Slot<Value>,
}

/// A value that the heap keeps alive to the end of a scope.
pub(crate) type Handle<'s> = Local<'s, Value>;

/// A result, or why the program cannot go on.
pub(crate) type Result<T> = std::result::Result<T, String>;

/// Functions that return what a value of one type holds. They say so if a value is of another type.
macro_rules! expect {
    ($($function:ident: $variant:ident($held:ty), $what:literal;)*) => { $(
        #[inline]
        pub(crate) fn $function(value: ValueView<'_>) -> Result<$held> {
            match value {
                ValueView::$variant(held) => Ok(held),
                other => Err(format!(concat!("not ", $what, ": {}"), show(other))),
            }
        }
    )* };
}

expect! {
    letter: Char(char), "a character";
    int: Int(i64), "an integer";
    pair: Pair(Ref<'_, Pair>), "a pair";
    symbol: Symbol(Ref<'_, Symbol>), "a symbol";
    text: Text(Ref<'_, Text>), "a text";
    vector: Vector(Ref<'_, Array<Value>>), "a vector";
    table: Table(Ref<'_, Table>), "a table";
    cell: Cell(Ref<'_, Cell>), "a variable";
    closure: Closure(Ref<'_, Closure>), "a closure";
}

/// Returns the first elements of a list, at most so many, and the rest of it, which is a pair if the list is circular.
pub(crate) fn split(mut list: ValueView<'_>, most: usize) -> (Vec<ValueView<'_>>, ValueView<'_>) {
    let (mut elements, mut passed) = (Vec::new(), list);
    while let ValueView::Pair(pair) = list
        && elements.len() < most
    {
        elements.push(pair.car());
        list = pair.cdr();
        // The walk along a circle comes again to where it was after the last power of two.
        if list == passed {
            break;
        }
        if elements.len().is_power_of_two() {
            passed = list;
        }
    }
    (elements, list)
}

/// Returns the elements of a list.
pub(crate) fn elements(list: ValueView<'_>) -> Result<Vec<ValueView<'_>>> {
    match split(list, usize::MAX) {
        (elements, ValueView::Nil) => Ok(elements),
        (_, ValueView::Pair(_)) => Err("not a list: it is circular".into()),
        (_, end) => Err(format!("not a list: it ends in {}", show(end))),
    }
}

/// Returns the elements of a list as handles.
pub(crate) fn handles<'s>(s: &Scope<'s>, list: ValueView<'_>) -> Result<Vec<Handle<'s>>> {
    Ok(elements(list)?.into_iter().map(|element| s.local(element)).collect())
}

pub(crate) fn is_vector(value: ValueView<'_>) -> bool {
    matches!(value, ValueView::Vector(_))
}

/// Returns the elements of a vector, or at most so many elements of a list and the rest of it. Another value has no
/// elements, and is the rest.
pub(crate) fn parts(value: ValueView<'_>, most: usize) -> (Vec<ValueView<'_>>, ValueView<'_>) {
    match value {
        ValueView::Vector(vector) => (vector.iter().map(Slot::get).collect(), ValueView::Nil),
        list => split(list, most),
    }
}

/// Returns the parts of a value as handles.
pub(crate) fn handles_of_parts<'s>(s: &Scope<'s>, value: ValueView<'_>) -> (Vec<Handle<'s>>, Handle<'s>) {
    let (elements, end) = parts(value, usize::MAX);
    (elements.into_iter().map(|element| s.local(element)).collect(), s.local(end))
}

/// Returns a list of these elements, which ends in `end`.
pub(crate) fn list<'s, 'x, E: IntoArg<'x, Value>>(
    s: &mut Scope<'s>,
    elements: impl DoubleEndedIterator<Item = E>,
    end: Handle<'_>,
) -> Handle<'s> {
    s.escape(|s| {
        let mut list = s.root::<Value>(end);
        for element in elements.rev().map(IntoArg::into_arg) {
            s.scope(|s| {
                let longer = s.alloc::<Pair>(Pair::init(element, &list));
                list.set(s, longer);
            });
        }
        s.local(&list)
    })
}

/// Returns an array of these elements.
pub(crate) fn array<'s>(s: &mut Scope<'s>, elements: &[Handle<'_>]) -> Local<'s, Array<Value>> {
    let array = s.array::<Value>(elements.len(), Value::nil());
    for (slot, element) in array.get(s).iter().zip(elements) {
        slot.set(s, *element);
    }
    array
}

/// Returns the value as `write` prints it in a message: a large value is cut short.
pub(crate) fn show(value: ValueView<'_>) -> String {
    let mut out = String::new();
    print(&mut out, value, true, 200);
    out
}

/// Returns the message of an error: its first part as `display` prints it, and the others as `write` does.
pub(crate) fn message<'a>(parts: impl IntoIterator<Item = ValueView<'a>>) -> String {
    let mut said = String::new();
    for (number, part) in parts.into_iter().enumerate() {
        said += if number > 0 { " " } else { "" };
        print(&mut said, part, number > 0, 1_000);
    }
    said
}

/// The parts of a value that programs print.
pub(crate) const MOST_PRINTED: usize = 100_000;

/// Prints at most so many parts of a value, and at most 100 levels of it: as `write` does, or as `display` does.
pub(crate) fn print(out: &mut String, value: ValueView<'_>, quoted: bool, most: usize) {
    Printer { out, quoted, left: most }.print(value, 100);
}

struct Printer<'o> {
    out: &'o mut String,
    quoted: bool,
    /// The number of parts that may still be printed.
    left: usize,
}

impl Printer<'_> {
    fn print(&mut self, value: ValueView<'_>, levels: usize) {
        if self.left == 0 || levels == 0 {
            return *self.out += "...";
        }
        self.left -= 1;
        match value {
            ValueView::Nil => *self.out += "()",
            ValueView::Unspecified => *self.out += "#<unspecified>",
            ValueView::Unassigned => *self.out += "#<unassigned>",
            ValueView::Bool(truth) => *self.out += if truth { "#t" } else { "#f" },
            ValueView::Char(' ') if self.quoted => *self.out += "#\\space",
            ValueView::Char('\n') if self.quoted => *self.out += "#\\newline",
            ValueView::Char(letter) => {
                *self.out += if self.quoted { "#\\" } else { "" };
                self.out.push(letter);
            }
            ValueView::Int(number) => *self.out += &number.to_string(),
            ValueView::Float(float) if float.0.fract() == 0.0 && float.0.abs() < 1e15 => {
                *self.out += &format!("{:.1}", float.0);
            }
            ValueView::Float(float) => *self.out += &float.0.to_string(),
            ValueView::Symbol(symbol) => *self.out += &symbol.name,
            ValueView::Alias(alias) => self.print(alias.of(), levels - 1),
            ValueView::Text(text) if self.quoted => *self.out += &format!("{:?}", text.0),
            ValueView::Text(text) => *self.out += &text.0,
            ValueView::Pair(_) | ValueView::Vector(_) => self.print_parts(value, levels - 1),
            ValueView::Many(many) => self.print(many.get().0.get(), levels - 1),
            ValueView::Closure(_) | ValueView::Native(_) | ValueView::Continuation(_) => {
                *self.out += "#<procedure>"
            }
            ValueView::Table(_) => *self.out += "#<table>",
            ValueView::Channel(_) => *self.out += "#<channel>",
            ValueView::Fiber(_) => *self.out += "#<fiber>",
            ValueView::Cell(_) => *self.out += "#<internal>",
        }
    }

    fn print_parts(&mut self, value: ValueView<'_>, levels: usize) {
        let (elements, end) = parts(value, self.left);
        *self.out += if is_vector(value) { "#(" } else { "(" };
        for (index, element) in elements.into_iter().enumerate() {
            *self.out += if index > 0 { " " } else { "" };
            if self.left == 0 {
                return *self.out += "...)";
            }
            self.print(element, levels);
        }
        match end {
            ValueView::Nil => {}
            ValueView::Pair(_) => *self.out += " ...",
            end => {
                *self.out += " . ";
                self.print(end, levels);
            }
        }
        *self.out += ")";
    }
}
