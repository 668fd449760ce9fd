//! The functions of Rust.

use crate::equal::{is_equal, is_eqv};
use crate::fibers;
use crate::machine::Machine;
use crate::tables;
use crate::value::*;
use lisle_heap::{Arg, Kind, Scope, Slot, Source};
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

/// A call of a function of Rust.
pub(crate) struct Call<'m, 'r> {
    pub(crate) machine: &'m mut Machine<'r>,
    /// The registers of the arguments. The value goes to the register before them.
    pub(crate) args: Range<usize>,
}

#[derive(Clone, Copy)]
pub(crate) enum Native {
    Plain(fn(&mut Call<'_, '_>, &mut Scope<'_>) -> Result<()>),
    Apply,
    CallWithContinuation,
}

const ANY: usize = usize::MAX;

/// A row for each function: its name, the least and the largest number of its arguments, and its body.
macro_rules! natives {
    ($($name:literal $least:literal $most:expr, |$c:ident, $s:ident| $does:expr;)*) => {
        pub(crate) const NATIVES: &[(&str, usize, usize, Native)] = &[
            ("apply", 2, ANY, Native::Apply),
            ("%call/cc", 1, 1, Native::CallWithContinuation),
            $(($name, $least, $most, Native::Plain(|$c, $s| $does)),)*
        ];
    };
}

natives! {
    "+" 0 ANY, |c, s| c.fold(s, 0, |x, y| x.with(y, i64::checked_add, |x, y| x + y));
    "*" 0 ANY, |c, s| c.fold(s, 1, |x, y| x.with(y, i64::checked_mul, |x, y| x * y));
    "-" 1 ANY, |c, s| c.fold(s, 0, |x, y| x.with(y, i64::checked_sub, |x, y| x - y));
    "/" 1 ANY, |c, s| c.fold(s, 1, |x, y| match (x, y) {
        (_, Number::Int(0)) => Err("a division by zero".into()),
        (Number::Int(x), Number::Int(y)) if x % y == 0 => Ok(Number::Int(x / y)),
        (x, y) => Ok(Number::Float(x.float() / y.float())),
    });
    "quotient" 2 2, |c, s| c.divide(s, |x, y| x / y);
    "remainder" 2 2, |c, s| c.divide(s, |x, y| x % y);
    "modulo" 2 2, |c, s| c.divide(s, |x, y| (x % y + y) % y);
    "=" 1 ANY, |c, s| c.compare(s, Ordering::is_eq);
    "<" 1 ANY, |c, s| c.compare(s, Ordering::is_lt);
    ">" 1 ANY, |c, s| c.compare(s, Ordering::is_gt);
    "<=" 1 ANY, |c, s| c.compare(s, Ordering::is_le);
    ">=" 1 ANY, |c, s| c.compare(s, Ordering::is_ge);
    "sqrt" 1 1, |c, s| { let x = number(c.view(s, 0))?.float(); c.give_number(s, Number::Float(x.sqrt())) };
    "exact->inexact" 1 1, |c, s| { let x = number(c.view(s, 0))?.float(); c.give_number(s, Number::Float(x)) };
    "inexact->exact" 1 1, |c, s| { let x = number(c.view(s, 0))?.float(); c.give_number(s, Number::Int(x.round() as i64)) };
    "number->string" 1 1, |c, s| { number(c.view(s, 0))?; let shown = show(c.view(s, 0)); c.give_text(s, shown) };

    "eq?" 2 2, |c, s| c.give(s, c.view(s, 0) == c.view(s, 1));
    "eqv?" 2 2, |c, s| c.give(s, is_eqv(c.view(s, 0), c.view(s, 1)));
    "equal?" 2 2, |c, s| c.give(s, is_equal(c.view(s, 0), c.view(s, 1)));
    "number?" 1 1, |c, s| c.give(s, matches!(c.view(s, 0), ValueView::Int(_) | ValueView::Float(_)));
    "integer?" 1 1, |c, s| match c.view(s, 0) {
        ValueView::Float(float) => c.give(s, float.0.fract() == 0.0),
        other => c.give(s, matches!(other, ValueView::Int(_))),
    };
    "pair?" 1 1, |c, s| c.give(s, matches!(c.view(s, 0), ValueView::Pair(_)));
    "null?" 1 1, |c, s| c.give(s, matches!(c.view(s, 0), ValueView::Nil));
    "symbol?" 1 1, |c, s| c.give(s, matches!(c.view(s, 0), ValueView::Symbol(_)));
    "string?" 1 1, |c, s| c.give(s, matches!(c.view(s, 0), ValueView::Text(_)));
    "char?" 1 1, |c, s| c.give(s, matches!(c.view(s, 0), ValueView::Char(_)));
    "boolean?" 1 1, |c, s| c.give(s, matches!(c.view(s, 0), ValueView::Bool(_)));
    "vector?" 1 1, |c, s| c.give(s, matches!(c.view(s, 0), ValueView::Vector(_)));
    "procedure?" 1 1, |c, s| c.give(s, matches!(c.view(s, 0), ValueView::Closure(_) | ValueView::Native(_) | ValueView::Continuation(_)));

    "cons" 2 2, |c, s| { let pair = s.alloc::<Pair>(Pair::init(c.arg(0), c.arg(1))); c.give(s, pair) };
    "car" 1 1, |c, s| c.give(s, pair(c.view(s, 0))?.car());
    "cdr" 1 1, |c, s| c.give(s, pair(c.view(s, 0))?.cdr());
    "set-car!" 2 2, |c, s| { pair(c.view(s, 0))?.car.set(s, c.view(s, 1)); c.give(s, ValueView::Unspecified) };
    "set-cdr!" 2 2, |c, s| { pair(c.view(s, 0))?.cdr.set(s, c.view(s, 1)); c.give(s, ValueView::Unspecified) };
    "list" 0 ANY, |c, s| { let list = c.machine.list(s, c.args.clone()); c.give(s, list) };
    "list?" 1 1, |c, s| c.give(s, elements(c.view(s, 0)).is_ok());
    "length" 1 1, |c, s| c.give(s, elements(c.view(s, 0))?.len() as i64);
    "append" 0 ANY, |c, s| {
        let Some(last) = c.args.len().checked_sub(1) else { return c.give(s, ValueView::Nil) };
        let mut all = s.local(c.view(s, last));
        for number in (0..last).rev() {
            let elements = handles(s, c.view(s, number))?;
            all = list(s, elements.into_iter(), all);
        }
        c.give(s, all)
    };

    "symbol->string" 1 1, |c, s| { let name = symbol(c.view(s, 0))?.name.clone(); c.give_text(s, name) };
    "string->symbol" 1 1, |c, s| {
        let name = text(c.view(s, 0))?.0.clone();
        let symbol = c.machine.program.clone().symbols.intern(s, &name);
        c.give(s, symbol)
    };
    "char->integer" 1 1, |c, s| c.give(s, i64::from(u32::from(letter(c.view(s, 0))?)));
    "integer->char" 1 1, |c, s| {
        let code = int(c.view(s, 0))?;
        let letter = u32::try_from(code).ok().and_then(char::from_u32);
        c.give(s, letter.ok_or_else(|| format!("no character has the number {code}"))?)
    };
    "string-length" 1 1, |c, s| c.give(s, text(c.view(s, 0))?.0.chars().count() as i64);
    "string-ref" 2 2, |c, s| {
        let (text, index) = (&text(c.view(s, 0))?.get().0, int(c.view(s, 1))?);
        let letter = usize::try_from(index).ok().and_then(|index| text.chars().nth(index));
        c.give(s, letter.ok_or_else(|| format!("there is no character {index} in {text:?}"))?)
    };
    "substring" 3 3, |c, s| {
        let (text, from, to) = (&text(c.view(s, 0))?.get().0, int(c.view(s, 1))?, int(c.view(s, 2))?);
        if from < 0 || to < from || to as usize > text.chars().count() {
            return Err(format!("there are no characters {from} to {to} in {text:?}"));
        }
        let part = text.chars().skip(from as usize).take((to - from) as usize).collect();
        c.give_text(s, part)
    };
    "string-append" 0 ANY, |c, s| {
        let all = (0..c.args.len()).map(|n| Ok(text(c.view(s, n))?.get().0.as_str())).collect::<Result<String>>()?;
        c.give_text(s, all)
    };
    "string=?" 2 2, |c, s| c.give(s, text(c.view(s, 0))?.0 == text(c.view(s, 1))?.0);
    "string<?" 2 2, |c, s| c.give(s, text(c.view(s, 0))?.0 < text(c.view(s, 1))?.0);
    "string->list" 1 1, |c, s| {
        let (text, nil) = (text(c.view(s, 0))?.0.clone(), s.local(ValueView::Nil));
        let list = list(s, text.chars(), nil);
        c.give(s, list)
    };
    "list->string" 1 1, |c, s| {
        let text = elements(c.view(s, 0))?.into_iter().map(letter).collect::<Result<String>>()?;
        c.give_text(s, text)
    };

    "make-vector" 1 2, |c, s| {
        let len = int(c.view(s, 0))?;
        let Ok(len) = usize::try_from(len) else { return Err(format!("not a length: {len}")) };
        let fill = if c.args.len() == 2 { c.arg(1) } else { Value::unspecified() };
        let vector = s.try_array::<Value>(len, fill).map_err(|full| full.to_string())?;
        c.give(s, vector)
    };
    "vector" 0 ANY, |c, s| { let vector = c.machine.array(s, c.args.clone()); c.give(s, vector) };
    "list->vector" 1 1, |c, s| { let elements = handles(s, c.view(s, 0))?; let vector = array(s, &elements); c.give(s, vector) };
    "vector->list" 1 1, |c, s| {
        vector(c.view(s, 0))?;
        let (elements, nil) = handles_of_parts(s, c.view(s, 0));
        let list = list(s, elements.into_iter(), nil);
        c.give(s, list)
    };
    "vector-length" 1 1, |c, s| c.give(s, vector(c.view(s, 0))?.len() as i64);
    "vector-ref" 2 2, |c, s| c.give(s, element(c.view(s, 0), c.view(s, 1))?.get());
    "vector-set!" 3 3, |c, s| {
        element(c.view(s, 0), c.view(s, 1))?.set(s, c.view(s, 2));
        c.give(s, ValueView::Unspecified)
    };

    "make-table" 0 0, |c, s| {
        let buckets = s.array::<Value>(16, Value::nil());
        let table = s.alloc::<Table>(Table::init(().into(), buckets, 0.into()));
        c.give(s, table)
    };
    "table-ref" 3 3, |c, s| {
        let found = tables::get(table(c.view(s, 0))?, c.view(s, 1));
        c.give(s, found.unwrap_or(c.view(s, 2)))
    };
    "table-set!" 3 3, |c, s| tables::set(c, s);
    "table-count" 1 1, |c, s| c.give(s, table(c.view(s, 0))?.count.load(Relaxed) as i64);

    // A list of one value is that value.
    "%list->values" 1 1, |c, s| match c.view(s, 0) {
        ValueView::Pair(pair) if pair.cdr() == ValueView::Nil => c.give(s, pair.car()),
        _ => { let many = s.alloc::<Many>(Many::init(c.arg(0))); c.give(s, many) }
    };
    "%values->list" 1 1, |c, s| match c.view(s, 0) {
        ValueView::Many(many) => c.give(s, many.get().0.get()),
        _ => { let list = c.machine.list(s, c.args.clone()); c.give(s, list) }
    };
    "display" 1 1, |c, s| c.print(s, false);
    "write" 1 1, |c, s| c.print(s, true);
    "error" 1 ANY, |c, s| Err(message((0..c.args.len()).map(|n| c.view(s, n))));
    "spawn-fiber" 1 1, |c, s| fibers::spawn(c, s);
    "make-channel" 0 0, |c, s| fibers::make_channel(c, s);
    "%perform" 1 1, |c, s| fibers::perform(c, s);
    "%pmap" 2 2, |c, s| fibers::pmap(c, s);
    "%winds" 0 0, |c, s| c.give(s, c.machine.winds.get(s));
    "%set-winds!" 1 1, |c, s| { c.machine.winds.set(s, c.machine.regs.get(s, c.args.start)); c.give(s, ValueView::Unspecified) };
    "collect" 0 0, |c, s| { s.collect(Kind::Full); c.give(s, ValueView::Unspecified) };
}

pub(crate) enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    pub(crate) fn float(&self) -> f64 {
        match self {
            Self::Int(number) => *number as f64,
            Self::Float(number) => *number,
        }
    }

    /// Combines two integers to an integer, and other numbers to a float.
    fn with(self, y: Self, ints: fn(i64, i64) -> Option<i64>, floats: fn(f64, f64) -> f64) -> Result<Self> {
        match (self, y) {
            (Self::Int(x), Self::Int(y)) => ints(x, y).map(Self::Int).ok_or_else(|| NO_ROOM.into()),
            (x, y) => Ok(Self::Float(floats(x.float(), y.float()))),
        }
    }
}

const NO_ROOM: &str = "the result has no room in an integer";

pub(crate) fn number(value: ValueView<'_>) -> Result<Number> {
    match value {
        ValueView::Int(number) => Ok(Number::Int(number)),
        ValueView::Float(float) => Ok(Number::Float(float.0)),
        other => Err(format!("not a number: {}", show(other))),
    }
}

/// Returns the element of a vector at an index.
fn element<'a>(value: ValueView<'a>, index: ValueView<'_>) -> Result<&'a Slot<Value>> {
    let (vector, index) = (vector(value)?, int(index)?);
    let slot = usize::try_from(index).ok().and_then(|index| vector.as_slice().get(index));
    slot.ok_or_else(|| format!("there is no element {index} in a vector of {}", vector.len()))
}

impl<'r> Call<'_, 'r> {
    /// Returns an argument.
    pub(crate) fn view<'a>(&self, s: &'a Scope<'_>, number: usize) -> ValueView<'a>
    where
        'r: 'a,
    {
        self.machine.regs.get(s, self.args.start + number)
    }

    /// Returns an argument for an allocation.
    pub(crate) fn arg(&self, number: usize) -> Arg<'_, Value> {
        self.machine.regs.arg(self.args.start + number)
    }

    /// Sets the value of the call.
    pub(crate) fn give<'a>(&mut self, s: &'a Scope<'_>, value: impl Source<'a, Value>) -> Result<()> {
        self.machine.regs.set(s, self.args.start - 1, value);
        Ok(())
    }

    /// Prints the argument.
    fn print(&mut self, s: &mut Scope<'_>, quoted: bool) -> Result<()> {
        let mut text = String::new();
        print(&mut text, self.view(s, 0), quoted, MOST_PRINTED);
        // A terminal may make the program wait.
        s.outside(|| (self.machine.program.print)(&text));
        self.give(s, ValueView::Unspecified)
    }

    fn give_text(&mut self, s: &mut Scope<'_>, text: String) -> Result<()> {
        let text = s.alloc::<Text>(Text::init(text));
        self.give(s, text)
    }

    fn give_number(&mut self, s: &mut Scope<'_>, number: Number) -> Result<()> {
        match number {
            Number::Int(number) if Value::fits_int(number) => self.give(s, number),
            Number::Int(_) => Err(NO_ROOM.into()),
            Number::Float(number) => {
                let float = s.alloc::<Float>(Float::init(number));
                self.give(s, float)
            }
        }
    }

    /// Combines all arguments, and a single one with `start`.
    fn fold(&mut self, s: &mut Scope<'_>, start: i64, f: fn(Number, Number) -> Result<Number>) -> Result<()> {
        let (mut total, rest) =
            if self.args.len() < 2 { (Number::Int(start), 0) } else { (number(self.view(s, 0))?, 1) };
        for n in rest..self.args.len() {
            total = f(total, number(self.view(s, n))?)?;
        }
        self.give_number(s, total)
    }

    fn divide(&mut self, s: &mut Scope<'_>, f: fn(i64, i64) -> i64) -> Result<()> {
        match (int(self.view(s, 0))?, int(self.view(s, 1))?) {
            (_, 0) => Err("a division by zero".into()),
            (x, y) => self.give_number(s, Number::Int(f(x, y))),
        }
    }

    /// Says whether each argument and the next are in an order. Integers are not rounded.
    fn compare(&mut self, s: &Scope<'_>, is_right: fn(Ordering) -> bool) -> Result<()> {
        let (mut all, mut before) = (true, number(self.view(s, 0))?);
        for n in 1..self.args.len() {
            let next = number(self.view(s, n))?;
            let order = match (&before, &next) {
                (Number::Int(x), Number::Int(y)) => Some(x.cmp(y)),
                (x, y) => x.float().partial_cmp(&y.float()),
            };
            all &= order.is_some_and(is_right);
            before = next;
        }
        self.give(s, all)
    }
}
