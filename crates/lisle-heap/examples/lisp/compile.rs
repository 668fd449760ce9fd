//! The compiler: from [`Node`]s to code for the machine.
//!
//! A function's variables lie in registers above its frame, in the order of their scopes, so the compiler
//! knows the register of each. A variable that is assigned has a cell in its register. A closure has the
//! registers of the variables that it captures.

use crate::depth::go_deeper;
use crate::expand::{Lambda, Node, Variable};
use crate::value::*;
use lisle_heap::{Local, Scope};
use std::collections::HashMap;

/// An instruction. The result of an expression goes to the next free register.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Constant(u32),
    Local(u32),
    Captured(u32),
    /// Replaces a cell by its value.
    Unwrap,
    /// Stores a value into a cell, which lies below it.
    Store,
    /// Puts the value of a register into a new cell there.
    Wrap(u32),
    Global(u32),
    SetGlobal(u32),
    Define(u32),
    /// Makes a closure like a constant one, with so many captured values.
    Closure(u32, u32),
    Jump(u32),
    JumpIfFalse(u32),
    Drop,
    /// Removes so many values below the last one.
    Slide(u32),
    /// Begins a call that returns to an instruction.
    Frame(u32),
    Call(u32),
    TailCall(u32),
    Return,
}

/// The code of a function.
pub(crate) struct Code {
    pub(crate) ops: Vec<Op>,
    pub(crate) parameters: usize,
    pub(crate) has_rest: bool,
    /// The registers that it uses, with a few for the functions of Rust.
    pub(crate) registers: usize,
}

/// A function that is being compiled.
#[derive(Default)]
struct Function<'s> {
    ops: Vec<Op>,
    constants: Vec<Handle<'s>>,
    /// The registers of the variables.
    locals: HashMap<Variable, u32>,
    captured: Vec<Variable>,
    /// The number of registers in use, that of the function itself included, and the largest so far.
    depth: u32,
    deepest: u32,
}

impl<'s> Function<'s> {
    /// Adds an instruction that changes the number of registers in use by so much. Returns its number.
    fn emit(&mut self, op: Op, change: i32) -> usize {
        self.ops.push(op);
        self.depth = self.depth.wrapping_add_signed(change);
        self.deepest = self.deepest.max(self.depth);
        self.ops.len() - 1
    }

    /// Adds an instruction that names a constant.
    fn emit_with(&mut self, op: impl Fn(u32) -> Op, constant: Handle<'s>, change: i32) {
        self.emit(op(self.constants.len() as u32), change);
        self.constants.push(constant);
    }

    /// Adds the instruction that reads a variable, or its cell.
    fn emit_read(&mut self, variable: Variable) {
        if let Some(register) = self.locals.get(&variable) {
            self.emit(Op::Local(*register), 1);
            return;
        }
        let index = self.captured.iter().position(|captured| *captured == variable).unwrap_or_else(|| {
            self.captured.push(variable);
            self.captured.len() - 1
        });
        self.emit(Op::Captured(index as u32), 1);
    }

    fn here(&self) -> u32 {
        self.ops.len() as u32
    }
}

/// A function as a closure that has captured nothing yet, and the variables that it captures.
type Compiled<'s> = (Local<'s, Closure>, Vec<Variable>);

pub(crate) struct Compiler<'c, 's> {
    pub(crate) s: &'c mut Scope<'s>,
    /// For each variable, whether it is assigned.
    pub(crate) assigned: &'c [bool],
}

impl<'s> Compiler<'_, 's> {
    pub(crate) fn function(&mut self, lambda: &Lambda<'s>) -> Result<Compiled<'s>> {
        let mut function = Function::default();
        let variables = lambda.parameters.iter().chain(&lambda.rest);
        function.depth = 1 + variables.clone().count() as u32;
        for (variable, register) in variables.zip(1..) {
            self.bind(&mut function, *variable, register);
        }
        self.expression(&mut function, &lambda.body, true)?;
        function.emit(Op::Return, -1);
        let (parameters, has_rest) = (lambda.parameters.len(), lambda.rest.is_some());
        let registers = function.deepest as usize + 4;
        // Code stays to the end of the process, so closures refer to it without counting.
        let code = Box::leak(Box::new(Code { ops: function.ops, parameters, has_rest, registers }));
        let constants = array(self.s, &function.constants);
        let captured = array(self.s, &[]);
        Ok((self.s.alloc::<Closure>(Closure::init(code, constants, captured)), function.captured))
    }

    /// Says that a variable has a register from here on, and puts its value into a cell if it is assigned.
    fn bind(&self, function: &mut Function<'s>, variable: Variable, register: u32) {
        if self.assigned[variable] {
            function.emit(Op::Wrap(register), 0);
        }
        function.locals.insert(variable, register);
    }

    /// Compiles an expression. `is_last` says that the function returns its value.
    fn expression(&mut self, function: &mut Function<'s>, node: &Node<'s>, is_last: bool) -> Result<()> {
        go_deeper()?;
        match node {
            Node::Constant(constant) => function.emit_with(Op::Constant, *constant, 1),
            Node::Local(variable) => {
                function.emit_read(*variable);
                if self.assigned[*variable] {
                    function.emit(Op::Unwrap, 0);
                }
            }
            Node::SetLocal(variable, value) => {
                function.emit_read(*variable);
                self.expression(function, value, false)?;
                function.emit(Op::Store, -1);
            }
            Node::Global(symbol) => function.emit_with(Op::Global, *symbol, 1),
            Node::SetGlobal(symbol, value) | Node::Define(symbol, value) => {
                self.expression(function, value, false)?;
                let op = if matches!(node, Node::Define(..)) { Op::Define } else { Op::SetGlobal };
                function.emit_with(op, *symbol, 0);
            }
            Node::If(parts) => {
                self.expression(function, &parts[0], false)?;
                let to_otherwise = function.emit(Op::JumpIfFalse(0), -1);
                self.expression(function, &parts[1], is_last)?;
                let to_end = function.emit(Op::Jump(0), -1);
                function.ops[to_otherwise] = Op::JumpIfFalse(function.here());
                self.expression(function, &parts[2], is_last)?;
                function.ops[to_end] = Op::Jump(function.here());
            }
            Node::Let(bindings, body) => {
                for (variable, value) in bindings {
                    let register = function.depth;
                    self.expression(function, value, false)?;
                    self.bind(function, *variable, register);
                }
                self.expression(function, body, is_last)?;
                if !bindings.is_empty() {
                    function.emit(Op::Slide(bindings.len() as u32), -(bindings.len() as i32));
                }
            }
            Node::Sequence(nodes) => match &nodes[..] {
                [] => function.emit_with(Op::Constant, self.s.local(ValueView::Unspecified), 1),
                [before @ .., last] => {
                    for node in before {
                        self.expression(function, node, false)?;
                        function.emit(Op::Drop, -1);
                    }
                    self.expression(function, last, is_last)?;
                }
            },
            Node::Lambda(lambda) => self.closure(function, lambda)?,
            Node::Call(parts) => self.call(function, parts, is_last)?,
        }
        Ok(())
    }

    fn closure(&mut self, function: &mut Function<'s>, lambda: &Lambda<'s>) -> Result<()> {
        let (closure, captured) = self.function(lambda)?;
        for variable in &captured {
            function.emit_read(*variable);
        }
        let count = captured.len();
        let op = |constant| Op::Closure(constant, count as u32);
        function.emit_with(op, self.s.local(closure), 1 - count as i32);
        Ok(())
    }

    fn call(&mut self, function: &mut Function<'s>, parts: &[Node<'s>], is_last: bool) -> Result<()> {
        let frame = (!is_last).then(|| function.emit(Op::Frame(0), 2));
        for part in parts {
            self.expression(function, part, false)?;
        }
        let count = parts.len() as i32 - 1;
        if let Some(frame) = frame {
            function.emit(Op::Call(count as u32), -count - 2);
            function.ops[frame] = Op::Frame(function.here());
        } else {
            function.emit(Op::TailCall(count as u32), -count);
        }
        Ok(())
    }
}
