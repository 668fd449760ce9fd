//! The compiler: from [`Node`]s to code for the machine.
//!
//! A function's variables lie in registers above its frame, in the order of their scopes, so the compiler
//! knows the register of each. A variable that is assigned has a cell in its register. A closure has the
//! registers of the variables that it captures.

use crate::expand::{Lambda, Node, Variable};

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
    /// Makes a closure of a template and so many captured values.
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

/// A constant of a function.
pub(crate) enum Constant {
    /// The constant with this number.
    Value(usize),
    /// The code with this number, which has constants of its own.
    Template(usize),
}

/// All code. For each function there is code, and its constants.
#[derive(Default)]
pub(crate) struct Program {
    pub(crate) codes: Vec<Code>,
    pub(crate) constants: Vec<Vec<Constant>>,
}

/// A function that is being compiled.
struct Function {
    ops: Vec<Op>,
    constants: Vec<Constant>,
    locals: Vec<(Variable, u32)>,
    captured: Vec<Variable>,
    /// The number of registers in use, that of the function itself included, and the largest so far.
    depth: u32,
    deepest: u32,
}

enum Place {
    Local(u32),
    Captured(u32),
}

impl Program {
    /// Compiles an expression as a function without parameters, and returns its number.
    pub(crate) fn compile(&mut self, node: &Node, assigned: &[bool]) -> usize {
        let mut compiler = Compiler { program: self, assigned };
        let mut function = Function::new();
        compiler.expression(&mut function, node, true);
        compiler.end(function, 0, false).0
    }
}

impl Function {
    fn new() -> Self {
        Function {
            ops: Vec::new(),
            constants: Vec::new(),
            locals: Vec::new(),
            captured: Vec::new(),
            depth: 1,
            deepest: 1,
        }
    }

    fn place(&mut self, variable: Variable) -> Place {
        if let Some((_, register)) = self.locals.iter().rev().find(|(local, _)| *local == variable) {
            return Place::Local(*register);
        }
        let index = self.captured.iter().position(|captured| *captured == variable).unwrap_or_else(|| {
            self.captured.push(variable);
            self.captured.len() - 1
        });
        Place::Captured(index as u32)
    }

    fn constant(&mut self, constant: Constant) -> u32 {
        self.constants.push(constant);
        self.constants.len() as u32 - 1
    }

    /// Adds an instruction that changes the number of registers in use by so much.
    fn emit(&mut self, op: Op, change: i32) {
        self.ops.push(op);
        self.depth = self.depth.wrapping_add_signed(change);
        self.deepest = self.deepest.max(self.depth);
    }

    /// Adds the instruction that reads a variable, or its cell.
    fn read(&mut self, variable: Variable) {
        match self.place(variable) {
            Place::Local(register) => self.emit(Op::Local(register), 1),
            Place::Captured(index) => self.emit(Op::Captured(index), 1),
        }
    }

    fn here(&self) -> u32 {
        self.ops.len() as u32
    }
}

struct Compiler<'p> {
    program: &'p mut Program,
    assigned: &'p [bool],
}

impl Compiler<'_> {
    /// Adds a function to the program. Returns its number and the variables that it captures.
    fn end(&mut self, mut function: Function, parameters: usize, has_rest: bool) -> (usize, Vec<Variable>) {
        function.emit(Op::Return, -1);
        self.program.codes.push(Code {
            ops: function.ops,
            parameters,
            has_rest,
            registers: function.deepest as usize + 4,
        });
        self.program.constants.push(function.constants);
        (self.program.codes.len() - 1, function.captured)
    }

    /// Compiles an expression. `is_last` says that the function returns its value.
    fn expression(&mut self, function: &mut Function, node: &Node, is_last: bool) {
        match node {
            Node::Constant(constant) => {
                let constant = function.constant(Constant::Value(*constant));
                function.emit(Op::Constant(constant), 1);
            }
            Node::Local(variable) => {
                function.read(*variable);
                if self.assigned[*variable] {
                    function.emit(Op::Unwrap, 0);
                }
            }
            Node::SetLocal(variable, value) => {
                function.read(*variable);
                self.expression(function, value, false);
                function.emit(Op::Store, -1);
            }
            Node::Global(symbol) => {
                let symbol = function.constant(Constant::Value(*symbol));
                function.emit(Op::Global(symbol), 1);
            }
            Node::SetGlobal(symbol, value) | Node::Define(symbol, value) => {
                self.expression(function, value, false);
                let symbol = function.constant(Constant::Value(*symbol));
                let is_definition = matches!(node, Node::Define(..));
                function.emit(if is_definition { Op::Define(symbol) } else { Op::SetGlobal(symbol) }, 0);
            }
            Node::If(parts) => {
                let [condition, then, otherwise] = &**parts;
                self.expression(function, condition, false);
                let to_otherwise = function.here();
                function.emit(Op::JumpIfFalse(0), -1);
                self.expression(function, then, is_last);
                let to_end = function.here();
                function.emit(Op::Jump(0), -1);
                function.ops[to_otherwise as usize] = Op::JumpIfFalse(function.here());
                self.expression(function, otherwise, is_last);
                function.ops[to_end as usize] = Op::Jump(function.here());
            }
            Node::Let(bindings, body) => {
                let (before, locals) = (function.depth, function.locals.len());
                for (variable, value) in bindings {
                    let register = function.depth;
                    self.expression(function, value, false);
                    if self.assigned[*variable] {
                        function.emit(Op::Wrap(register), 0);
                    }
                    function.locals.push((*variable, register));
                }
                self.expression(function, body, is_last);
                function.locals.truncate(locals);
                let below = function.depth - before - 1;
                function.emit(Op::Slide(below), -(below as i32));
            }
            Node::Sequence(nodes) => {
                for (index, node) in nodes.iter().enumerate() {
                    let last = index + 1 == nodes.len();
                    self.expression(function, node, is_last && last);
                    if !last {
                        function.emit(Op::Drop, -1);
                    }
                }
            }
            Node::Lambda(lambda) => self.lambda(function, lambda),
            Node::Call(nodes) => {
                let arguments = nodes.len() as u32 - 1;
                let frame = function.here();
                if !is_last {
                    function.emit(Op::Frame(0), 2);
                }
                for node in nodes {
                    self.expression(function, node, false);
                }
                if is_last {
                    function.emit(Op::TailCall(arguments), -(arguments as i32));
                } else {
                    function.emit(Op::Call(arguments), -(arguments as i32) - 2);
                    function.ops[frame as usize] = Op::Frame(function.here());
                }
            }
        }
    }

    fn lambda(&mut self, outer: &mut Function, lambda: &Lambda) {
        let mut function = Function::new();
        for variable in lambda.parameters.iter().chain(&lambda.rest) {
            function.locals.push((*variable, function.depth));
            function.depth += 1;
        }
        for (variable, register) in function.locals.clone() {
            if self.assigned[variable] {
                function.emit(Op::Wrap(register), 0);
            }
        }
        self.expression(&mut function, &lambda.body, true);
        let (code, captured) = self.end(function, lambda.parameters.len(), lambda.rest.is_some());
        for variable in &captured {
            outer.read(*variable);
        }
        let template = outer.constant(Constant::Template(code));
        outer.emit(Op::Closure(template, captured.len() as u32), 1 - captured.len() as i32);
    }
}
