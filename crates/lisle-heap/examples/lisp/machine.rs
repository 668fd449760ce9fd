//! The machine.
//!
//! The stack is a frame of registers of the heap. A call puts two numbers on it, the instruction and the
//! frame to return to, and above them the function and its arguments. When the stack is full, or when a
//! program asks for its continuation, the stack below the current call moves into an object of the heap,
//! and comes back when it is returned to. So recursion is as deep as the heap is large.

use crate::compile::{Code, Constant, Op, Program};
use crate::expand::Expander;
use crate::natives::{Call, NATIVES, Native};
use crate::read::Reader;
use crate::value::{
    Cell, CellRef as _, Closure, ClosureRef as _, Continuation, ContinuationRef as _, Error, Many, Pair,
    Result, SymbolRef as _, Template, TemplateRef as _, Value, ValueView, elements, error, is_true, show,
};
use lisle_heap::{Local, Regs, Root, Scope};
use std::rc::Rc;

/// The registers of the stack, and how many of them may be in use when a call begins.
const STACK: usize = 1 << 14;
const LIMIT: usize = STACK - 256;

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
    program: Program,
    expander: Expander,
    /// What `display` and `write` have printed.
    pub(crate) out: String,
}

const PRELUDE: &str = include_str!("prelude.scm");

impl<'r> Machine<'r> {
    pub(crate) fn new(s: &mut Scope<'r>) -> Self {
        let expander = Expander::new(s);
        let mut machine = Self {
            regs: s.regs(STACK, ValueView::Nil),
            top: 0,
            frame: 0,
            below: s.root(None),
            codes: Vec::new(),
            program: Program::default(),
            expander,
            out: String::new(),
        };
        for (number, (name, ..)) in NATIVES.iter().enumerate() {
            s.scope(|s| {
                let symbol = machine.expander.symbols.intern(s, name);
                symbol.get(s).value.set(s, ValueView::Native(number as u16));
            });
        }
        machine.run_text(s, PRELUDE).expect("the prelude is right");
        machine
    }

    /// Runs all forms of a text. Returns the last value as `write` prints it.
    pub(crate) fn run_text(&mut self, s: &mut Scope<'_>, text: &str) -> Result<String> {
        let mut reader = Reader::new(text);
        let mut last = String::new();
        loop {
            let shown = s.scope(|s| match reader.read(s, &mut self.expander.symbols)? {
                Some(form) => {
                    let value = self.eval(s, form)?;
                    Ok(Some(show(value.get(s))))
                }
                None => Ok(None),
            })?;
            match shown {
                Some(shown) => last = shown,
                None => return Ok(last),
            }
        }
    }

    /// Evaluates a form.
    pub(crate) fn eval<'s>(&mut self, s: &mut Scope<'s>, form: Local<'_, Value>) -> Result<Local<'s, Value>> {
        // The constants of earlier forms lie in their templates.
        self.expander.constants.clear();
        let node = self.expander.top(s, form)?;
        let code = self.program.compile(&node, &self.expander.assigned);
        self.codes.extend(self.program.codes.drain(self.codes.len()..).map(Rc::new));
        // The program keeps its numbers, so an empty place stays for each code.
        self.program.codes.resize_with(self.codes.len(), Code::empty);
        let template = self.template(s, code);
        let captured = s.array::<Value>(0, Value::nil());
        let closure = s.alloc::<Closure>(Closure::init(template, captured));
        let closure = s.local(closure.get(s));
        self.call(s, closure)
    }

    fn template<'s>(&mut self, s: &mut Scope<'s>, code: usize) -> Local<'s, Template> {
        let constants = std::mem::take(&mut self.program.constants[code]);
        let array = s.array::<Value>(constants.len(), Value::nil());
        for (index, constant) in constants.iter().enumerate() {
            s.scope(|s| match constant {
                Constant::Value(number) => array.get(s).at(index).set(s, &self.expander.constants[*number]),
                Constant::Template(code) => {
                    let template = self.template(s, *code);
                    array.get(s).at(index).set(s, template);
                }
            });
        }
        s.alloc::<Template>(Template::init(code, array))
    }

    /// Calls a function without arguments, and returns its value.
    fn call<'s>(&mut self, s: &mut Scope<'s>, function: Local<'_, Value>) -> Result<Local<'s, Value>> {
        self.top = 0;
        self.below.set(s, None);
        self.push(s, ValueView::Int(END));
        self.push(s, ValueView::Int(0));
        self.push(s, function.get(s));
        self.run(s)?;
        Ok(s.local(self.regs.get(s, 0)))
    }

    fn push<'a>(&mut self, s: &'a Scope<'_>, value: ValueView<'a>) {
        self.regs.set(s, self.top, value);
        self.top += 1;
    }

    fn int(&self, s: &Scope<'_>, register: usize) -> i64 {
        match self.regs.get(s, register) {
            ValueView::Int(number) => number,
            _ => unreachable!("a frame has two numbers"),
        }
    }

    fn run(&mut self, s: &mut Scope<'_>) -> Result<()> {
        let mut code = None;
        let mut next = 0;
        self.enter(s, 0, &mut code, &mut next)?;
        while let Some(current) = &code {
            let op = current.ops[next];
            next += 1;
            match op {
                Op::Constant(index) => self.push(s, self.constant(s, index)),
                Op::Local(register) => {
                    self.regs.copy(s, self.frame + register as usize, self.top);
                    self.top += 1;
                }
                Op::Captured(index) => {
                    let ValueView::Closure(closure) = self.regs.get(s, self.frame) else {
                        unreachable!("code is a closure's")
                    };
                    self.push(s, closure.captured().at(index as usize).get());
                }
                Op::Unwrap => {
                    let ValueView::Cell(cell) = self.regs.get(s, self.top - 1) else {
                        unreachable!("an assigned variable has a cell")
                    };
                    match cell.value() {
                        ValueView::Unassigned => return error("a variable is used before its definition"),
                        value => self.regs.set(s, self.top - 1, value),
                    }
                }
                Op::Store => {
                    let ValueView::Cell(cell) = self.regs.get(s, self.top - 2) else {
                        unreachable!("an assigned variable has a cell")
                    };
                    cell.get().value.set(s, self.regs.get(s, self.top - 1));
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
                    let ValueView::Symbol(symbol) = self.constant(s, index) else {
                        unreachable!("a global has a symbol")
                    };
                    match symbol.value() {
                        ValueView::Unassigned => return error(format!("`{}` is not defined", symbol.name)),
                        value => self.push(s, value),
                    }
                }
                Op::SetGlobal(index) | Op::Define(index) => {
                    let ValueView::Symbol(symbol) = self.constant(s, index) else {
                        unreachable!("a global has a symbol")
                    };
                    if matches!(op, Op::SetGlobal(_)) && symbol.value() == ValueView::Unassigned {
                        return error(format!("`{}` is not defined", symbol.name));
                    }
                    symbol.get().value.set(s, self.regs.get(s, self.top - 1));
                    self.regs.set(s, self.top - 1, ValueView::Unspecified);
                }
                Op::Closure(index, count) => self.make_closure(s, index, count as usize),
                Op::Jump(to) => next = to as usize,
                Op::JumpIfFalse(to) => {
                    self.top -= 1;
                    if !is_true(self.regs.get(s, self.top)) {
                        next = to as usize;
                    }
                }
                Op::Drop => self.top -= 1,
                Op::Slide(count) => {
                    let count = count as usize;
                    self.regs.copy(s, self.top - 1, self.top - 1 - count);
                    self.top -= count;
                }
                Op::Frame(to) => {
                    self.push(s, ValueView::Int(i64::from(to)));
                    self.push(s, ValueView::Int(self.frame as i64));
                }
                Op::Call(count) => self.enter(s, count as usize, &mut code, &mut next)?,
                Op::TailCall(count) => {
                    let (count, from) = (count as usize, self.top - 1 - count as usize);
                    for index in 0..=count {
                        self.regs.copy(s, from + index, self.frame + index);
                    }
                    self.top = self.frame + count + 1;
                    self.enter(s, count, &mut code, &mut next)?;
                }
                Op::Return => {
                    self.regs.copy(s, self.top - 1, self.frame);
                    self.top = self.frame + 1;
                    self.return_value(s, &mut code, &mut next);
                }
            }
        }
        Ok(())
    }

    fn constant<'a>(&self, s: &'a Scope<'_>, index: u32) -> ValueView<'a>
    where
        'r: 'a,
    {
        let ValueView::Closure(closure) = self.regs.get(s, self.frame) else {
            unreachable!("code is a closure's")
        };
        closure.get().template.get().constants().at(index as usize).get()
    }

    fn make_closure(&mut self, s: &mut Scope<'_>, index: u32, count: usize) {
        s.scope(|s| {
            let captured = s.array::<Value>(count, Value::nil());
            for (number, slot) in captured.get(s).iter().enumerate() {
                slot.set(s, self.regs.get(s, self.top - count + number));
            }
            self.top -= count;
            let ValueView::Template(template) = self.constant(s, index) else {
                unreachable!("a closure has a template")
            };
            let template = s.local::<Template>(template);
            let closure = s.alloc::<Closure>(Closure::init(template, captured));
            self.push(s, ValueView::Closure(closure.get(s)));
        });
    }

    /// Calls the function that lies below its arguments at the top.
    fn enter(
        &mut self,
        s: &mut Scope<'_>,
        mut count: usize,
        code: &mut Option<Rc<Code>>,
        next: &mut usize,
    ) -> Result<()> {
        loop {
            if self.top > LIMIT {
                self.spill(s, count);
                if self.top > LIMIT {
                    return error(format!("a call with {count} arguments has no room"));
                }
            }
            let function = self.top - 1 - count;
            match self.regs.get(s, function) {
                ValueView::Closure(closure) => {
                    let entered = self.codes[closure.get().template.code].clone();
                    if function + entered.registers > STACK {
                        self.spill(s, count);
                        if 2 + entered.registers > STACK {
                            return error("a function has too many variables");
                        }
                        continue;
                    }
                    self.arguments(s, function, count, &entered)?;
                    (self.frame, *next, *code) = (function, 0, Some(entered));
                    return Ok(());
                }
                ValueView::Continuation(_) => {
                    self.several(s, function + 1, count);
                    let ValueView::Continuation(continuation) = self.regs.get(s, function) else {
                        unreachable!("as above")
                    };
                    self.below.set(s, continuation);
                    self.regs.copy(s, function + 1, 2);
                    self.regs.set(s, 0, ValueView::Int(BELOW));
                    self.regs.set(s, 1, ValueView::Int(0));
                    self.top = 3;
                    self.return_value(s, code, next);
                    return Ok(());
                }
                ValueView::Native(number) => match NATIVES[usize::from(number)] {
                    (name, least, most, native) if count >= least && count <= most => match native {
                        Native::Plain(native) => {
                            let args = function + 1..self.top;
                            s.scope(|s| native(&mut Call { machine: self, args }, s))
                                .map_err(|why| Error(format!("{name}: {why}")))?;
                            self.top = function + 1;
                            self.return_value(s, code, next);
                            return Ok(());
                        }
                        Native::Apply => count = self.spread(s, function, count)?,
                        Native::CallWithContinuation => {
                            self.spill(s, count);
                            // The function is called in the place of this one, with the continuation.
                            self.regs.copy(s, 3, 2);
                            let ValueView::Int(_) = self.regs.get(s, 1) else {
                                unreachable!("a frame has two numbers")
                            };
                            match self.below.get(s) {
                                Some(below) => self.regs.set(s, 3, ValueView::Continuation(below)),
                                None => unreachable!("the stack has moved"),
                            }
                        }
                    },
                    (name, ..) => return error(format!("{name}: wrong number of arguments: {count}")),
                },
                other => return error(format!("not a function: {}", show(other))),
            }
        }
    }

    /// Fits the arguments to the parameters.
    fn arguments(&mut self, s: &mut Scope<'_>, function: usize, count: usize, code: &Code) -> Result<()> {
        if count < code.parameters || (count > code.parameters && !code.has_rest) {
            let more = if code.has_rest { " or more" } else { "" };
            return error(format!(
                "a function of {}{more} parameters is called with {count} arguments",
                code.parameters
            ));
        }
        if code.has_rest {
            let first = function + 1 + code.parameters;
            s.scope(|s| {
                let rest = self.list_of(s, first..self.top);
                self.regs.set(s, first, rest);
            });
            self.top = first + 1;
        }
        Ok(())
    }

    /// Returns a list of the values of registers.
    pub(crate) fn list_of<'s>(&self, s: &mut Scope<'s>, range: std::ops::Range<usize>) -> Local<'s, Value> {
        s.escape(|s| {
            let mut rest = s.root::<Value>(ValueView::Nil);
            for register in range.rev() {
                s.scope(|s| {
                    let pair = s.alloc::<Pair>(Pair::init(self.regs.arg(register), &rest));
                    rest.set(s, pair);
                });
            }
            s.local(rest.get(s))
        })
    }

    /// Puts the elements of the last argument of `apply` in its place, and drops `apply`. Returns the number of arguments.
    fn spread(&mut self, s: &Scope<'_>, function: usize, count: usize) -> Result<usize> {
        let list = elements(self.regs.get(s, self.top - 1))?;
        if self.top + list.len() >= STACK {
            return error(format!("apply: a list of {} elements is too long", list.len()));
        }
        self.top -= 1;
        let len = list.len();
        for value in list {
            self.push(s, value);
        }
        for register in function + 1..self.top {
            self.regs.copy(s, register, register - 1);
        }
        self.top -= 1;
        Ok(count - 2 + len)
    }

    /// Puts several values into one register: one as it is, others as an object.
    fn several(&mut self, s: &mut Scope<'_>, first: usize, count: usize) {
        if count != 1 {
            s.scope(|s| {
                let values = self.list_of(s, first..first + count);
                let many = s.alloc::<Many>(Many::init(values));
                self.regs.set(s, first, many);
            });
        }
    }

    /// Moves the stack below the current call into the heap.
    fn spill(&mut self, s: &mut Scope<'_>, count: usize) {
        let function = self.top - 1 - count;
        if function > 2 || self.int(s, 0) != BELOW {
            s.scope(|s| {
                let stack = s.array::<Value>(function, Value::nil());
                for (register, slot) in stack.get(s).iter().enumerate() {
                    slot.set(s, self.regs.get(s, register));
                }
                let continuation = s.alloc::<Continuation>(Continuation::init(stack, &self.below));
                self.below.set(s, continuation);
            });
            for index in 0..=count {
                self.regs.copy(s, function + index, 2 + index);
            }
        }
        self.regs.set(s, 0, ValueView::Int(BELOW));
        self.regs.set(s, 1, ValueView::Int(0));
        self.top = 3 + count;
    }

    /// Returns the value at the top, above the two numbers of its frame.
    fn return_value(&mut self, s: &Scope<'_>, code: &mut Option<Rc<Code>>, next: &mut usize) {
        loop {
            let to = self.int(s, self.top - 3);
            match to {
                END => {
                    self.regs.copy(s, self.top - 1, 0);
                    *code = None;
                    return;
                }
                BELOW => {
                    let Some(below) = self.below.get(s) else { unreachable!("a continuation is below") };
                    let stack = below.stack();
                    let len = stack.len();
                    self.regs.copy(s, self.top - 1, len.max(self.top));
                    let value = len.max(self.top);
                    for (register, slot) in stack.iter().enumerate() {
                        self.regs.set(s, register, slot.get());
                    }
                    self.regs.copy(s, value, len);
                    self.top = len + 1;
                    let next_below = below.below();
                    self.below.set(s, next_below);
                }
                to => {
                    self.frame = self.int(s, self.top - 2) as usize;
                    self.regs.copy(s, self.top - 1, self.top - 3);
                    self.top -= 2;
                    let ValueView::Closure(closure) = self.regs.get(s, self.frame) else {
                        unreachable!("code is a closure's")
                    };
                    *next = to as usize;
                    *code = Some(self.codes[closure.get().template.code].clone());
                    return;
                }
            }
        }
    }

    /// Returns the symbols of the program.
    pub(crate) fn symbols(&mut self) -> &mut crate::read::Symbols {
        &mut self.expander.symbols
    }
}

impl Code {
    fn empty() -> Self {
        Self { ops: Vec::new(), parameters: 0, has_rest: false, registers: 0 }
    }
}
