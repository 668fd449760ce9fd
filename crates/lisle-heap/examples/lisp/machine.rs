//! The machine.
//!
//! The stack is a frame of registers of the heap. A call puts two numbers on it, the instruction and the
//! frame to return to, and above them the function and its arguments. When the stack is full, or when a
//! program asks for its continuation, the stack below the current call moves into an object of the heap,
//! and comes back when it is returned to. So recursion is as deep as the heap is large. Each fiber has its own machine.

use crate::compile::{Code, Op};
use crate::natives::{Call, NATIVES, Native};
use crate::program::Program;
use crate::value::*;
use lisle::fiber::checkpoint;
use lisle_heap::{Array, Local, Ref, Regs, Root, Scope, Source};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// The most registers of a stack. It begins with a few, so that fibers are small.
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
    /// The code that runs, or `None` at the end, and its next instruction.
    code: Option<&'static Code>,
    next: usize,
    /// The calls so far.
    calls: u32,
    /// The winds of the fiber, see the prelude.
    pub(crate) winds: Root<'r, Value>,
    pub(crate) program: Arc<Program>,
}

impl<'r> Machine<'r> {
    pub(crate) fn new(s: &mut Scope<'r>, program: &Arc<Program>) -> Self {
        Self {
            regs: s.regs(1 << 8, ValueView::Nil),
            top: 0,
            frame: 0,
            below: s.root(None),
            code: None,
            next: 0,
            calls: 0,
            winds: s.root(ValueView::Nil),
            program: program.clone(),
        }
    }

    /// Begins a call, whose arguments are pushed next.
    pub(crate) fn begin<'a>(&mut self, s: &'a Scope<'_>, function: impl Source<'a, Value>) {
        self.below.set(s, None);
        self.clear(s, END);
        self.push(s, function);
    }

    /// Empties the stack but for the two numbers of a call.
    fn clear(&mut self, s: &Scope<'_>, to: i64) {
        self.top = 0;
        self.push(s, to);
        self.push(s, 0_i64);
    }

    pub(crate) fn push<'a>(&mut self, s: &'a Scope<'_>, value: impl Source<'a, Value>) {
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

    /// Runs a call with so many arguments. Its value is in the first register then.
    pub(crate) fn run(&mut self, s: &mut Scope<'r>, count: usize) -> Result<()> {
        self.enter(s, count)?;
        while let Some(code) = self.code {
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
                Op::Closure(index, count) => s.scope(|s| {
                    let captured = self.array(s, self.top - count as usize..self.top);
                    let like = closure(self.constant(s, index)).expect("the constant is a closure");
                    let (code, constants) = (like.code, s.local(like.constants()));
                    let closure = s.alloc::<Closure>(Closure::init(code, constants, captured));
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
    fn enter(&mut self, s: &mut Scope<'r>, mut count: usize) -> Result<()> {
        // Now and then a fiber lets others of its domain run. Others may collect more often.
        self.calls = self.calls.wrapping_add(1);
        if self.calls.is_multiple_of(100) {
            s.outside(checkpoint);
            if self.program.has_ended.load(Relaxed) {
                return Err("the program has ended".into());
            }
        }
        s.poll();
        loop {
            let function = self.top - 1 - count;
            match self.regs.get(s, function) {
                ValueView::Closure(closure) => {
                    let code = closure.code;
                    if !self.has_room(s, count, code.registers) {
                        return Err("a function has too many variables, or a call too many arguments".into());
                    }
                    self.frame = self.top - 1 - count;
                    self.arguments(s, count, code)?;
                    (self.code, self.next) = (Some(code), 0);
                    return Ok(());
                }
                ValueView::Continuation(continuation) if count == 1 => {
                    self.below.set(s, continuation);
                    self.grow(s, continuation.registers);
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
                            .map_err(|why| format!("{}: {why}", name.trim_start_matches('%')))?;
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
    fn spread(&mut self, s: &mut Scope<'r>, count: usize) -> Result<usize> {
        let len = elements(self.regs.get(s, self.top - 1))?.len();
        if !self.has_room(s, count, len) {
            return Err(format!("apply: a list of {len} elements is too long"));
        }
        self.top -= 1;
        // Another fiber may have made the list longer meanwhile.
        let values = split(self.regs.get(s, self.top), len).0;
        let count = count - 2 + values.len();
        for value in values {
            self.push(s, value);
        }
        self.move_call(s, count, self.top - 2 - count);
        Ok(count)
    }

    /// Returns `true` if so many registers are free above a call. Makes more, or moves the stack below it if need be.
    fn has_room(&mut self, s: &mut Scope<'r>, count: usize, registers: usize) -> bool {
        let needed = self.top + registers;
        if needed > self.regs.len() {
            self.grow(s, needed.next_power_of_two().min(STACK));
            if needed > STACK {
                self.spill(s, count);
            }
        }
        self.top + registers <= STACK
    }

    /// Makes more registers.
    fn grow(&mut self, s: &Scope<'r>, len: usize) {
        if len > self.regs.len() {
            let more = s.regs(len, ValueView::Nil);
            let mut less = std::mem::replace(&mut self.regs, more);
            for register in 0..less.len() {
                self.regs.set(s, register, less.get(s, register));
                less.set(s, register, ValueView::Nil);
            }
        }
    }

    /// Moves the stack below the current call into the heap.
    fn spill(&mut self, s: &mut Scope<'_>, count: usize) {
        let function = self.top - 1 - count;
        if function > 2 || self.int(s, 0) != BELOW {
            s.scope(|s| {
                let stack = self.array(s, 0..function);
                let registers = self.regs.len();
                let continuation = s.alloc::<Continuation>(Continuation::init(registers, stack, &self.below));
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
                        self.code = Some(self.closure(s).code);
                    }
                    return;
                }
            }
        }
    }
}
