//! The machine.
//!
//! The stack is a frame of registers of the heap. A call puts two numbers on it, the instruction and the
//! frame to return to, and above them the function and its arguments. When the stack is full, or when a
//! program asks for its continuation, the stack below the current call moves into an object of the heap,
//! and comes back when it is returned to. So recursion is as deep as the heap is large.

use crate::compile::{Code, Compiler, Op};
use crate::expand::{Expander, Lambda};
use crate::natives::{Call, NATIVES, Native};
use crate::read::Reader;
use crate::value::*;
use lisle_heap::{Array, Local, Ref, Regs, Root, Scope, Source};
use std::iter::Peekable;
use std::ops::Range;
use std::rc::Rc;
use std::str::Chars;

/// The registers of the stack.
const STACK: usize = 1 << 14;

/// Where a call returns to if not to code: it ends the run, or goes on in the next continuation.
const END: i64 = -1;
const BELOW: i64 = -2;

pub(crate) struct Machine<'r> {
    pub(crate) regs: Regs<'r, Value>,
    top: usize,
    frame: usize,
    /// The rest of the stack, below the registers.
    below: Root<'r, Option<Continuation>>,
    codes: Vec<Rc<Code>>,
    /// The code that runs, or `None` at the end, and its next instruction.
    code: Option<Rc<Code>>,
    next: usize,
    pub(crate) expander: Expander,
    /// What `display` and `write` have printed.
    pub(crate) out: String,
}

impl<'r> Machine<'r> {
    pub(crate) fn new(s: &mut Scope<'r>) -> Self {
        let mut expander = Expander::new(s);
        for (number, (name, ..)) in (0_u16..).zip(NATIVES) {
            s.scope(|s| expander.symbols.intern(s, name).get(s).value.set(s, number));
        }
        let mut machine = Self {
            regs: s.regs(STACK, ValueView::Nil),
            top: 0,
            frame: 0,
            below: s.root(None),
            codes: Vec::new(),
            code: None,
            next: 0,
            expander,
            out: String::new(),
        };
        machine.run_text(s, include_str!("prelude.scm")).expect("the prelude is right");
        machine
    }

    /// Runs all forms of a text. Returns the last value as `write` prints it.
    pub(crate) fn run_text(&mut self, s: &mut Scope<'_>, text: &str) -> Result<String> {
        let mut text = text.chars().peekable();
        let mut last = String::new();
        while s.scope(|s| self.load(s, &mut text))? {
            self.run(s)?;
            last = show(self.regs.get(s, 0));
        }
        Ok(last)
    }

    /// Reads the next form, and puts a call of its code into the registers. Returns `false` at the end of the text.
    fn load(&mut self, s: &mut Scope<'_>, text: &mut Peekable<Chars<'_>>) -> Result<bool> {
        let mut reader = Reader { text, symbols: &mut self.expander.symbols };
        let Some(form) = reader.read(s)? else { return Ok(false) };
        let program = Lambda { parameters: Vec::new(), rest: None, body: self.expander.top(s, form)? };
        let assigned = &self.expander.assigned;
        let (code, constants, _) = Compiler { s, codes: &mut self.codes, assigned }.function(&program);
        let captured = s.array::<Value>(0, Value::nil());
        let closure = s.alloc::<Closure>(Closure::init(code, constants, captured));
        self.below.set(s, None);
        self.clear(s, END);
        self.push(s, closure);
        Ok(true)
    }

    /// Empties the stack but for the two numbers of a call.
    fn clear(&mut self, s: &Scope<'_>, to: i64) {
        self.top = 0;
        self.push(s, to);
        self.push(s, 0_i64);
    }

    fn push<'a>(&mut self, s: &'a Scope<'_>, value: impl Source<'a, Value>) {
        self.regs.set(s, self.top, value);
        self.top += 1;
    }

    /// Returns a number of a frame.
    fn int(&self, s: &Scope<'_>, register: usize) -> i64 {
        int(self.regs.get(s, register)).expect("a frame has two numbers")
    }

    /// Returns the closure whose code runs.
    fn closure<'a>(&self, s: &'a Scope<'_>) -> Ref<'a, Closure>
    where
        'r: 'a,
    {
        closure(self.regs.get(s, self.frame)).expect("code is a closure's")
    }

    fn constant<'a>(&self, s: &'a Scope<'_>, index: u32) -> ValueView<'a>
    where
        'r: 'a,
    {
        self.closure(s).constants().at(index as usize).get()
    }

    fn run(&mut self, s: &mut Scope<'_>) -> Result<()> {
        self.enter(s, 0)?;
        while let Some(code) = &self.code {
            let op = code.ops[self.next];
            self.next += 1;
            match op {
                Op::Constant(index) => self.push(s, self.constant(s, index)),
                Op::Local(register) => {
                    self.regs.copy(s, self.frame + register as usize, self.top);
                    self.top += 1;
                }
                Op::Captured(index) => self.push(s, self.closure(s).captured().at(index as usize).get()),
                Op::Unwrap => match cell(self.regs.get(s, self.top - 1))?.get().0.get() {
                    ValueView::Unassigned => return Err("a variable is used before its definition".into()),
                    value => self.regs.set(s, self.top - 1, value),
                },
                Op::Store => {
                    cell(self.regs.get(s, self.top - 2))?.0.set(s, self.regs.get(s, self.top - 1));
                    self.top -= 1;
                    self.regs.set(s, self.top - 1, ValueView::Unspecified);
                }
                Op::Wrap(register) => {
                    let register = self.frame + register as usize;
                    s.scope(|s| {
                        let cell = s.alloc::<Cell>(Cell::init(self.regs.arg(register)));
                        self.regs.set(s, register, cell);
                    });
                }
                Op::Global(index) => {
                    let symbol = symbol(self.constant(s, index)).expect("a global has a symbol");
                    match symbol.value() {
                        ValueView::Unassigned => return Err(format!("`{}` is not defined", symbol.name)),
                        value => self.push(s, value),
                    }
                }
                Op::SetGlobal(index) | Op::Define(index) => {
                    let symbol = symbol(self.constant(s, index)).expect("a global has a symbol");
                    if matches!(op, Op::SetGlobal(_)) && symbol.value() == ValueView::Unassigned {
                        return Err(format!("`{}` is not defined", symbol.name));
                    }
                    symbol.value.set(s, self.regs.get(s, self.top - 1));
                    self.regs.set(s, self.top - 1, ValueView::Unspecified);
                }
                Op::Closure(index, code, count) => s.scope(|s| {
                    let captured = self.array(s, self.top - count as usize..self.top);
                    let constants = s.local(vector(self.constant(s, index)).expect("constants are a vector"));
                    let closure = s.alloc::<Closure>(Closure::init(code as usize, constants, captured));
                    self.top -= count as usize;
                    self.push(s, closure);
                }),
                Op::Jump(to) => self.next = to as usize,
                Op::JumpIfFalse(to) => {
                    self.top -= 1;
                    if self.regs.get(s, self.top) == ValueView::Bool(false) {
                        self.next = to as usize;
                    }
                }
                Op::Drop => self.top -= 1,
                Op::Slide(count) => self.move_last(s, self.top - 1 - count as usize),
                Op::Frame(to) => {
                    self.push(s, i64::from(to));
                    self.push(s, self.frame as i64);
                }
                Op::Call(count) => self.enter(s, count as usize)?,
                Op::TailCall(count) => {
                    self.move_call(s, count as usize, self.frame);
                    self.enter(s, count as usize)?;
                }
                Op::Return => {
                    self.move_last(s, self.frame);
                    self.return_value(s);
                }
            }
        }
        Ok(())
    }

    /// Moves the last value down to a register, and drops the values between them.
    fn move_last(&mut self, s: &Scope<'_>, to: usize) {
        self.regs.copy(s, self.top - 1, to);
        self.top = to + 1;
    }

    /// Moves the function and the arguments of a call down to a register.
    fn move_call(&mut self, s: &Scope<'_>, count: usize, to: usize) {
        let from = self.top - 1 - count;
        for index in 0..=count {
            self.regs.copy(s, from + index, to + index);
        }
        self.top = to + count + 1;
    }

    /// Calls the function that lies below its arguments at the top.
    fn enter(&mut self, s: &mut Scope<'_>, mut count: usize) -> Result<()> {
        loop {
            let function = self.top - 1 - count;
            match self.regs.get(s, function) {
                ValueView::Closure(closure) => {
                    let code = self.codes[closure.code].clone();
                    if !self.has_room(s, count, code.registers) {
                        return Err("a function has too many variables, or a call too many arguments".into());
                    }
                    self.frame = self.top - 1 - count;
                    self.arguments(s, count, &code)?;
                    (self.code, self.next) = (Some(code), 0);
                    return Ok(());
                }
                ValueView::Continuation(continuation) if count == 1 => {
                    self.below.set(s, continuation);
                    self.clear(s, BELOW);
                    self.regs.copy(s, function + 1, self.top);
                    self.top += 1;
                    break;
                }
                ValueView::Native(number) => match NATIVES[usize::from(number)] {
                    (name, least, most, _) if count < least || count > most => {
                        return Err(format!("{name}: wrong number of arguments: {count}"));
                    }
                    (name, _, _, Native::Plain(native)) => {
                        let args = function + 1..self.top;
                        s.scope(|s| native(&mut Call { machine: self, args }, s))
                            .map_err(|why| format!("{name}: {why}"))?;
                        self.top = function + 1;
                        break;
                    }
                    (_, _, _, Native::Apply) => count = self.spread(s, count)?,
                    (_, _, _, Native::CallWithContinuation) => {
                        self.spill(s, count);
                        // The function is called in the place of this one, with the continuation.
                        self.regs.copy(s, self.top - 1, self.top - 2);
                        self.regs.set(s, self.top - 1, self.below.get(s).expect("the stack has moved"));
                    }
                },
                other => return Err(format!("not a function: {}", show(other))),
            }
        }
        self.return_value(s);
        Ok(())
    }

    /// Fits the arguments to the parameters.
    fn arguments(&mut self, s: &mut Scope<'_>, count: usize, code: &Code) -> Result<()> {
        let parameters = code.parameters;
        if count < parameters || (count > parameters && !code.has_rest) {
            let more = if code.has_rest { " or more" } else { "" };
            return Err(format!(
                "a function of {parameters}{more} parameters is called with {count} arguments"
            ));
        }
        if code.has_rest {
            let first = self.frame + 1 + parameters;
            s.scope(|s| {
                let rest = self.list(s, first..self.top);
                self.regs.set(s, first, rest);
            });
            self.top = first + 1;
        }
        Ok(())
    }

    /// Returns a list of the values of registers.
    pub(crate) fn list<'s>(&self, s: &mut Scope<'s>, registers: Range<usize>) -> Handle<'s> {
        let nil = s.local(ValueView::Nil);
        list(s, registers.map(|register| self.regs.arg(register)), nil)
    }

    /// Returns an array of the values of registers.
    pub(crate) fn array<'s>(&self, s: &mut Scope<'s>, registers: Range<usize>) -> Local<'s, Array<Value>> {
        let array = s.array::<Value>(registers.len(), Value::nil());
        for (slot, register) in array.get(s).iter().zip(registers) {
            slot.set(s, self.regs.get(s, register));
        }
        array
    }

    /// Puts the elements of the last argument of `apply` in its place, and drops `apply`. Returns the number of
    /// arguments.
    fn spread(&mut self, s: &mut Scope<'_>, count: usize) -> Result<usize> {
        let len = elements(self.regs.get(s, self.top - 1))?.len();
        if !self.has_room(s, count, len) {
            return Err(format!("apply: a list of {len} elements is too long"));
        }
        self.top -= 1;
        for value in elements(self.regs.get(s, self.top))? {
            self.push(s, value);
        }
        let count = count - 2 + len;
        self.move_call(s, count, self.top - 2 - count);
        Ok(count)
    }

    /// Returns `true` if so many registers are free above a call. Moves the stack below it if need be.
    fn has_room(&mut self, s: &mut Scope<'_>, count: usize, registers: usize) -> bool {
        if self.top + registers > STACK {
            self.spill(s, count);
        }
        self.top + registers <= STACK
    }

    /// Moves the stack below the current call into the heap.
    fn spill(&mut self, s: &mut Scope<'_>, count: usize) {
        let function = self.top - 1 - count;
        if function > 2 || self.int(s, 0) != BELOW {
            s.scope(|s| {
                let stack = self.array(s, 0..function);
                let continuation = s.alloc::<Continuation>(Continuation::init(stack, &self.below));
                self.below.set(s, continuation);
            });
            self.move_call(s, count, 2);
        }
        self.regs.set(s, 0, BELOW);
        self.regs.set(s, 1, 0_i64);
    }

    /// Returns the value at the top, above the two numbers of its frame.
    fn return_value(&mut self, s: &Scope<'_>) {
        loop {
            match self.int(s, self.top - 3) {
                END => {
                    self.move_last(s, 0);
                    self.code = None;
                    return;
                }
                BELOW => {
                    let below = self.below.get(s).expect("a continuation is below");
                    let stack = below.stack();
                    // The value is out of the way of the stack, and then above it.
                    let out_of_the_way = stack.len().max(self.top);
                    self.regs.copy(s, self.top - 1, out_of_the_way);
                    for (register, slot) in stack.iter().enumerate() {
                        self.regs.set(s, register, slot.get());
                    }
                    self.regs.copy(s, out_of_the_way, stack.len());
                    self.top = stack.len() + 1;
                    self.below.set(s, below.below());
                    // None of its frames is that of the code that runs.
                    self.frame = 0;
                }
                to => {
                    let frame = self.int(s, self.top - 2) as usize;
                    self.move_last(s, self.top - 3);
                    self.next = to as usize;
                    // A function of Rust returns to the code that runs.
                    if frame != self.frame {
                        self.frame = frame;
                        self.code = Some(self.codes[self.closure(s).code].clone());
                    }
                    return;
                }
            }
        }
    }
}
