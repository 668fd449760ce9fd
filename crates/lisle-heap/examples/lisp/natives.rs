//! The functions of Rust.

use crate::equal::{is_equal, is_eqv};
use crate::machine::Machine;
use crate::tables;
use crate::value::{
    Float, Many, ManyRef as _, Pair, PairRef as _, Result, TableRef as _, Text, Value, ValueView, elements,
    error, handles, list, pair, print, show,
};
use lisle_heap::{Arg, Array, Kind, Ref, Scope};
use std::ops::Range;
use std::sync::Mutex;

/// A call of a function of Rust.
pub(crate) struct Call<'m, 'r> {
    pub(crate) machine: &'m mut Machine<'r>,
    /// The registers of the arguments. The value goes to the register before them.
    pub(crate) args: Range<usize>,
}

pub(crate) type Plain = fn(&mut Call<'_, '_>, &mut Scope<'_>) -> Result<()>;

#[derive(Clone, Copy)]
pub(crate) enum Native {
    Plain(Plain),
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
    "+" 0 ANY, |c, s| c.fold(s, 0, i64::checked_add, |x, y| x + y);
    "*" 0 ANY, |c, s| c.fold(s, 1, i64::checked_mul, |x, y| x * y);
    "-" 1 ANY, |c, s| c.reduce(s, 0, |x, y| match (x, y) {
        (Number::Int(x), Number::Int(y)) => Ok(Number::Int(x - y)),
        (x, y) => Ok(Number::Float(x.float() - y.float())),
    });
    "/" 1 ANY, |c, s| c.reduce(s, 1, |x, y| match (x, y) {
        (_, Number::Int(0)) => error("a division by zero"),
        (Number::Int(x), Number::Int(y)) if x % y == 0 => Ok(Number::Int(x / y)),
        (x, y) => Ok(Number::Float(x.float() / y.float())),
    });
    "quotient" 2 2, |c, s| c.divide(s, |x, y| x / y);
    "remainder" 2 2, |c, s| c.divide(s, |x, y| x % y);
    "modulo" 2 2, |c, s| c.divide(s, |x, y| if x % y != 0 && (x < 0) != (y < 0) { x % y + y } else { x % y });
    "=" 1 ANY, |c, s| c.compare(s, |x, y| x == y);
    "<" 1 ANY, |c, s| c.compare(s, |x, y| x < y);
    ">" 1 ANY, |c, s| c.compare(s, |x, y| x > y);
    "<=" 1 ANY, |c, s| c.compare(s, |x, y| x <= y);
    ">=" 1 ANY, |c, s| c.compare(s, |x, y| x >= y);
    "sqrt" 1 1, |c, s| { let x = c.number(s, 0)?.float(); c.give_number(s, Number::Float(x.sqrt())) };
    "exact->inexact" 1 1, |c, s| { let x = c.number(s, 0)?.float(); c.give_number(s, Number::Float(x)) };
    "inexact->exact" 1 1, |c, s| { let x = c.number(s, 0)?.float(); c.give_number(s, Number::Int(x.round() as i64)) };
    "number->string" 1 1, |c, s| { c.number(s, 0)?; let shown = show(c.view(s, 0)); c.give_text(s, shown) };

    "eq?" 2 2, |c, s| { let same = c.view(s, 0) == c.view(s, 1); c.give(s, ValueView::Bool(same)) };
    "eqv?" 2 2, |c, s| { let same = is_eqv(c.view(s, 0), c.view(s, 1)); c.give(s, ValueView::Bool(same)) };
    "equal?" 2 2, |c, s| { let same = is_equal(c.view(s, 0), c.view(s, 1)); c.give(s, ValueView::Bool(same)) };
    "number?" 1 1, |c, s| c.test(s, |v| matches!(v, ValueView::Int(_) | ValueView::Float(_)));
    "integer?" 1 1, |c, s| c.test(s, |v| match v { ValueView::Float(f) => f.value.fract() == 0.0, v => matches!(v, ValueView::Int(_)) });
    "pair?" 1 1, |c, s| c.test(s, |v| matches!(v, ValueView::Pair(_)));
    "null?" 1 1, |c, s| c.test(s, |v| v == ValueView::Nil);
    "symbol?" 1 1, |c, s| c.test(s, |v| matches!(v, ValueView::Symbol(_)));
    "string?" 1 1, |c, s| c.test(s, |v| matches!(v, ValueView::Text(_)));
    "char?" 1 1, |c, s| c.test(s, |v| matches!(v, ValueView::Char(_)));
    "boolean?" 1 1, |c, s| c.test(s, |v| matches!(v, ValueView::Bool(_)));
    "vector?" 1 1, |c, s| c.test(s, |v| matches!(v, ValueView::Vector(_)));
    "procedure?" 1 1, |c, s| c.test(s, |v| matches!(v, ValueView::Closure(_) | ValueView::Native(_) | ValueView::Continuation(_)));

    "cons" 2 2, |c, s| { let pair = s.alloc::<Pair>(Pair::init(c.arg(0), c.arg(1))); c.give(s, ValueView::Pair(pair.get(s))) };
    "car" 1 1, |c, s| { let value = pair(c.view(s, 0))?.car(); c.give(s, value) };
    "cdr" 1 1, |c, s| { let value = pair(c.view(s, 0))?.cdr(); c.give(s, value) };
    "set-car!" 2 2, |c, s| { pair(c.view(s, 0))?.get().car.set(s, c.view(s, 1)); c.give(s, ValueView::Unspecified) };
    "set-cdr!" 2 2, |c, s| { pair(c.view(s, 0))?.get().cdr.set(s, c.view(s, 1)); c.give(s, ValueView::Unspecified) };
    "list" 0 ANY, |c, s| { let list = c.machine.list_of(s, c.args.clone()); c.give(s, list.get(s)) };
    "length" 1 1, |c, s| { let len = elements(c.view(s, 0))?.len(); c.give(s, ValueView::Int(len as i64)) };
    "append" 0 ANY, |c, s| c.append(s);

    "symbol->string" 1 1, |c, s| match c.view(s, 0) {
        ValueView::Symbol(symbol) => { let name = symbol.name.clone(); c.give_text(s, name) }
        other => error(format!("not a symbol: {}", show(other))),
    };
    "string->symbol" 1 1, |c, s| {
        let name = c.text(s, 0)?;
        let symbol = c.machine.symbols().intern(s, &name);
        c.give(s, ValueView::Symbol(symbol.get(s)))
    };
    "char->integer" 1 1, |c, s| { let letter = letter(c.view(s, 0))?; c.give(s, ValueView::Int(i64::from(u32::from(letter)))) };
    "integer->char" 1 1, |c, s| {
        let code = c.int(s, 0)?;
        let Some(letter) = u32::try_from(code).ok().and_then(char::from_u32) else { return error(format!("no character has the number {code}")) };
        c.give(s, ValueView::Char(letter))
    };
    "string-length" 1 1, |c, s| { let len = c.text(s, 0)?.chars().count(); c.give(s, ValueView::Int(len as i64)) };
    "string-ref" 2 2, |c, s| {
        let (text, index) = (c.text(s, 0)?, c.int(s, 1)?);
        let Some(letter) = usize::try_from(index).ok().and_then(|index| text.chars().nth(index)) else {
            return error(format!("there is no character {index} in {text:?}"));
        };
        c.give(s, ValueView::Char(letter))
    };
    "substring" 3 3, |c, s| {
        let (text, from, to) = (c.text(s, 0)?, c.int(s, 1)?, c.int(s, 2)?);
        if from < 0 || to < from || to as usize > text.chars().count() {
            return error(format!("there are no characters {from} to {to} in {text:?}"));
        }
        c.give_text(s, text.chars().skip(from as usize).take((to - from) as usize).collect())
    };
    "string-append" 0 ANY, |c, s| { let all = (0..c.args.len()).map(|n| c.text(s, n)).collect::<Result<String>>()?; c.give_text(s, all) };
    "string=?" 2 2, |c, s| { let same = c.text(s, 0)? == c.text(s, 1)?; c.give(s, ValueView::Bool(same)) };
    "string<?" 2 2, |c, s| { let less = c.text(s, 0)? < c.text(s, 1)?; c.give(s, ValueView::Bool(less)) };
    "string->list" 1 1, |c, s| {
        let letters: Vec<_> = c.text(s, 0)?.chars().map(|letter| s.local::<Value>(letter)).collect();
        let end = s.local(ValueView::Nil);
        let list = list(s, &letters, end);
        c.give(s, list.get(s))
    };
    "list->string" 1 1, |c, s| { let text = elements(c.view(s, 0))?.into_iter().map(letter).collect::<Result<String>>()?; c.give_text(s, text) };

    "make-vector" 1 2, |c, s| {
        let len = c.int(s, 0)?;
        let Ok(len) = usize::try_from(len) else { return error(format!("not a length: {len}")) };
        let fill = if c.args.len() == 2 { c.arg(1) } else { Value::unspecified() };
        match s.try_array::<Value>(len, fill) {
            Ok(vector) => c.give(s, ValueView::Vector(vector.get(s))),
            Err(full) => error(full.to_string()),
        }
    };
    "vector" 0 ANY, |c, s| { let list = c.machine.list_of(s, c.args.clone()); let vector = crate::read::vector(s, list)?; c.give(s, vector.get(s)) };
    "list->vector" 1 1, |c, s| { let list = s.local(c.view(s, 0)); let vector = crate::read::vector(s, list)?; c.give(s, vector.get(s)) };
    "vector->list" 1 1, |c, s| {
        let all: Vec<_> = vector(c.view(s, 0))?.iter().map(|slot| s.local::<Value>(slot.get())).collect();
        let end = s.local(ValueView::Nil);
        let list = list(s, &all, end);
        c.give(s, list.get(s))
    };
    "vector-length" 1 1, |c, s| { let len = vector(c.view(s, 0))?.len(); c.give(s, ValueView::Int(len as i64)) };
    "vector-ref" 2 2, |c, s| { let (vector, index) = c.element(s)?; c.give(s, vector.at(index).get()) };
    "vector-set!" 3 3, |c, s| { let (vector, index) = c.element(s)?; vector.at(index).set(s, c.view(s, 2)); c.give(s, ValueView::Unspecified) };

    "make-table" 0 0, |c, s| tables::make(c, s);
    "table-ref" 3 3, |c, s| tables::get(c, s);
    "table-set!" 3 3, |c, s| tables::set(c, s);
    "table-count" 1 1, |c, s| { let count = tables::table(c.view(s, 0))?.count(); c.give(s, count) };

    "values" 0 ANY, |c, s| {
        if c.args.len() == 1 {
            let value = c.view(s, 0);
            return c.give(s, value);
        }
        let values = c.machine.list_of(s, c.args.clone());
        let many = s.alloc::<Many>(Many::init(values));
        c.give(s, ValueView::Many(many.get(s)))
    };
    "%values->list" 1 1, |c, s| {
        if let ValueView::Many(many) = c.view(s, 0) {
            return c.give(s, many.values());
        }
        let list = c.machine.list_of(s, c.args.clone());
        c.give(s, list.get(s))
    };
    "display" 1 1, |c, s| { print(&mut c.machine.out, c.machine.regs.get(s, c.args.start), false, 0); c.give(s, ValueView::Unspecified) };
    "write" 1 1, |c, s| { print(&mut c.machine.out, c.machine.regs.get(s, c.args.start), true, 0); c.give(s, ValueView::Unspecified) };
    "newline" 0 0, |c, s| { c.machine.out.push('\n'); c.give(s, ValueView::Unspecified) };
    "error" 1 ANY, |c, s| {
        let mut said = String::new();
        for n in 0..c.args.len() {
            said.push_str(if n > 0 { " " } else { "" });
            print(&mut said, c.view(s, n), n > 0, 0);
        }
        error(said)
    };
    "collect" 0 0, |c, s| { s.collect(Kind::Full); c.give(s, ValueView::Unspecified) };
}

pub(crate) enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    fn float(&self) -> f64 {
        match self {
            Self::Int(number) => *number as f64,
            Self::Float(number) => *number,
        }
    }
}

fn letter(value: ValueView<'_>) -> Result<char> {
    match value {
        ValueView::Char(letter) => Ok(letter),
        other => error(format!("not a character: {}", show(other))),
    }
}

fn vector(value: ValueView<'_>) -> Result<Ref<'_, Array<Value>>> {
    match value {
        ValueView::Vector(vector) => Ok(vector),
        other => error(format!("not a vector: {}", show(other))),
    }
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
    pub(crate) fn give<'a>(&mut self, s: &'a Scope<'_>, value: ValueView<'a>) -> Result<()> {
        self.machine.regs.set(s, self.args.start - 1, value);
        Ok(())
    }

    fn give_text(&mut self, s: &mut Scope<'_>, text: String) -> Result<()> {
        let text = s.alloc::<Text>(Text::init(Mutex::new(text)));
        self.give(s, ValueView::Text(text.get(s)))
    }

    fn give_number(&mut self, s: &mut Scope<'_>, number: Number) -> Result<()> {
        match number {
            Number::Int(number) if Value::fits_int(number) => self.give(s, ValueView::Int(number)),
            Number::Int(_) => error("the result has no room in an integer"),
            Number::Float(number) => {
                let float = s.alloc::<Float>(Float::init(number));
                self.give(s, ValueView::Float(float.get(s)))
            }
        }
    }

    fn number(&self, s: &Scope<'_>, number: usize) -> Result<Number> {
        match self.view(s, number) {
            ValueView::Int(number) => Ok(Number::Int(number)),
            ValueView::Float(float) => Ok(Number::Float(float.value)),
            other => error(format!("not a number: {}", show(other))),
        }
    }

    fn int(&self, s: &Scope<'_>, number: usize) -> Result<i64> {
        match self.view(s, number) {
            ValueView::Int(number) => Ok(number),
            other => error(format!("not an integer: {}", show(other))),
        }
    }

    fn text(&self, s: &Scope<'_>, number: usize) -> Result<String> {
        match self.view(s, number) {
            ValueView::Text(text) => Ok(text.text.lock().expect("no use of a text panics").clone()),
            other => error(format!("not a text: {}", show(other))),
        }
    }

    /// Returns the vector and the index that are the first arguments.
    fn element<'a>(&self, s: &'a Scope<'_>) -> Result<(Ref<'a, Array<Value>>, usize)>
    where
        'r: 'a,
    {
        let (vector, index) = (vector(self.view(s, 0))?, self.int(s, 1)?);
        match usize::try_from(index) {
            Ok(at) if at < vector.len() => Ok((vector, at)),
            _ => error(format!("there is no element {index} in a vector of {}", vector.len())),
        }
    }

    fn test(&mut self, s: &Scope<'_>, is: fn(ValueView<'_>) -> bool) -> Result<()> {
        let holds = is(self.view(s, 0));
        self.give(s, ValueView::Bool(holds))
    }

    /// Combines all arguments, the first with `start`.
    fn fold(
        &mut self,
        s: &mut Scope<'_>,
        start: i64,
        ints: fn(i64, i64) -> Option<i64>,
        floats: fn(f64, f64) -> f64,
    ) -> Result<()> {
        let mut total = Number::Int(start);
        for number in 0..self.args.len() {
            total = match (total, self.number(s, number)?) {
                (Number::Int(x), Number::Int(y)) => match ints(x, y) {
                    Some(both) => Number::Int(both),
                    None => return error("the result has no room in an integer"),
                },
                (x, y) => Number::Float(floats(x.float(), y.float())),
            };
        }
        self.give_number(s, total)
    }

    /// Combines all arguments: the first with the others, or `start` with the only one.
    fn reduce(
        &mut self,
        s: &mut Scope<'_>,
        start: i64,
        f: fn(Number, Number) -> Result<Number>,
    ) -> Result<()> {
        let (mut total, from) =
            if self.args.len() == 1 { (Number::Int(start), 0) } else { (self.number(s, 0)?, 1) };
        for number in from..self.args.len() {
            total = f(total, self.number(s, number)?)?;
        }
        self.give_number(s, total)
    }

    fn divide(&mut self, s: &mut Scope<'_>, f: fn(i64, i64) -> i64) -> Result<()> {
        match (self.int(s, 0)?, self.int(s, 1)?) {
            (_, 0) => error("a division by zero"),
            (x, y) => self.give_number(s, Number::Int(f(x, y))),
        }
    }

    fn compare(&mut self, s: &Scope<'_>, holds: fn(f64, f64) -> bool) -> Result<()> {
        let mut all = true;
        for number in 0..self.args.len() {
            let next = self.number(s, number)?;
            let before = self.number(s, number.saturating_sub(1))?;
            all &= number == 0
                || match (&before, &next) {
                    // A difference of integers is not rounded.
                    (Number::Int(x), Number::Int(y)) => holds((x - y).signum() as f64, 0.0),
                    (x, y) => holds(x.float(), y.float()),
                };
        }
        self.give(s, ValueView::Bool(all))
    }

    fn append(&mut self, s: &mut Scope<'_>) -> Result<()> {
        let mut all = s.local(ValueView::Nil);
        for number in (0..self.args.len()).rev() {
            let next = s.local(self.view(s, number));
            let is_last = number + 1 == self.args.len();
            all = if is_last {
                next
            } else {
                let elements = handles(s, next)?;
                list(s, &elements, all)
            };
        }
        self.give(s, all.get(s))
    }
}
