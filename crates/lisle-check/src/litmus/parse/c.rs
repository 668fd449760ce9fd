//! The functions of a C test: `P0 (atomic_int* x, int* y) { ... }`.
//!
//! A parameter is a pointer to the location of its name. As in herd7, `*x` is a plain access
//! whatever the type that `x` is declared with, and an operation on `x` by a function is atomic.
//! Expressions are evaluated from left to right.

use super::cursor::Cursor;
use super::lexer::Token;
use super::{condition, linux, types};
use crate::litmus::error::{ParseError, SourcePosition};
use crate::litmus::program::expression::{Expression, Extension, Operator};
use crate::litmus::program::{Fence, Instruction, Memory, Operand, Order, Register, Thread, Type};

const SUPPORTED: &str = "supported in C: declarations, assignments, *x, if, else, while, \
    + - * & | ^ << >> == != < <= > >= && || ! ~; \
    atomic_{load, store, exchange, fetch_add, fetch_sub, fetch_or, fetch_and, fetch_xor, \
    compare_exchange_strong, compare_exchange_weak} with and without _explicit; atomic_thread_fence; \
    memory_order_{relaxed, consume, acquire, release, acq_rel, seq_cst}";

/// Reads all functions. Returns also where the first word of Linux stands.
pub(super) fn threads(
    cursor: &mut Cursor<'_>,
    memory: &mut Memory,
) -> Result<(Vec<Thread>, Option<SourcePosition>), ParseError> {
    let (mut threads, mut linux) = (Vec::new(), None);
    while cursor.peek().is_some_and(|token| !condition::begins(token)) {
        let number = threads.len();
        let (thread, words) = function(cursor, memory, number)
            .map_err(|error| error.help(format!("{SUPPORTED}; {}", linux::SUPPORTED)))?;
        threads.push(thread);
        linux = linux.or(words);
    }
    if threads.is_empty() {
        return Err(cursor.expected("`P0 (...) { ... }`, the first thread"));
    }
    Ok((threads, linux))
}

fn function(
    cursor: &mut Cursor<'_>,
    memory: &mut Memory,
    number: usize,
) -> Result<(Thread, Option<SourcePosition>), ParseError> {
    cursor.takes_word("void");
    let at = *cursor;
    let name = cursor.word("the name of a thread")?;
    if name != format!("P{number}") {
        return Err(at.error(format!("expected `P{number}`, found `{name}`")));
    }
    let mut function = Function {
        cursor: *cursor,
        memory,
        thread: Thread::default(),
        parameters: Vec::new(),
        types: Vec::new(),
        linux: None,
    };
    function.cursor.symbol("(")?;
    while !function.cursor.takes(")") {
        function.declare_parameter()?;
    }
    function.block()?;
    *cursor = function.cursor;
    Ok((function.thread, function.linux))
}

/// The function that is being read.
pub(super) struct Function<'a, 'b> {
    pub(super) cursor: Cursor<'a>,
    pub(super) memory: &'b mut Memory,
    pub(super) thread: Thread,
    parameters: Vec<(&'a str, usize)>,
    /// The types of the local variables.
    types: Vec<(Register, Type)>,
    /// Where the first word of Linux stands.
    pub(super) linux: Option<SourcePosition>,
}

/// Where a value is assigned to.
enum Target {
    Variable(Register),
    Memory(Operand),
}

impl<'a> Function<'a, '_> {
    fn declare_parameter(&mut self) -> Result<(), ParseError> {
        let at = self.cursor;
        let declared = self.parameter_type()?;
        let name = self.cursor.word("a parameter, such as `atomic_int* x`")?;
        let location = self.memory.location(name);
        let Some(ty) = declared else { return Err(at.expected("a parameter, such as `atomic_int* x`")) };
        let known = &mut self.memory.locations[location];
        if known.array {
            return Err(at.error("arrays are not supported in C").help("use one location for each element"));
        }
        match known.declared {
            Some(other) if other.size != ty.size => {
                let message = format!(
                    "`{name}` has {} bytes by this, and {} by what stands above",
                    ty.size, other.size
                );
                return Err(at.error(message).help("give it one type"));
            }
            Some(_) => {}
            None => (known.declared, known.ty) = (Some(ty), ty),
        }
        self.parameters.push((name, location));
        if !self.cursor.takes(",") && self.cursor.peek() != Some(Token::Symbol(")")) {
            return Err(self.cursor.expected("`,` or `)`"));
        }
        Ok(())
    }

    /// Reads the type of a parameter, which is a pointer, and returns the type of its target.
    fn parameter_type(&mut self) -> Result<Option<Type>, ParseError> {
        let mut ahead = self.cursor;
        let mut words = ahead.until(|token| !matches!(token, Token::Word(_)));
        let mut stars = 0;
        while ahead.takes("*") {
            stars += 1;
        }
        if stars == 0 {
            return Ok(None);
        }
        let ty = types::pointed_to(&mut words, stars)?;
        while ahead.takes_word("volatile") || ahead.takes_word("const") {}
        self.cursor = ahead;
        self.only_if_supported(ty)?;
        Ok(Some(ty))
    }

    fn only_if_supported(&self, ty: Type) -> Result<(), ParseError> {
        if is_supported(ty) { Ok(()) } else { Err(self.cursor.error(UNSIGNED)) }
    }

    fn block(&mut self) -> Result<(), ParseError> {
        self.cursor.symbol("{")?;
        while !self.cursor.takes("}") {
            self.statement()?;
        }
        Ok(())
    }

    fn statement(&mut self) -> Result<(), ParseError> {
        self.cursor.enter()?;
        self.inner_statement()?;
        self.cursor.leave();
        Ok(())
    }

    fn inner_statement(&mut self) -> Result<(), ParseError> {
        match (self.cursor.peek(), self.cursor.peek_second()) {
            (Some(Token::Symbol("{")), _) => self.block(),
            (Some(Token::Symbol(";")), _) => self.cursor.symbol(";"),
            (Some(Token::Word("if")), _) => self.conditional(),
            (Some(Token::Word("while")), _) => self.repetition(),
            (
                Some(Token::Word(
                    word @ ("for" | "do" | "return" | "goto" | "switch" | "break" | "continue"),
                )),
                _,
            ) => Err(self.cursor.error(format!("`{word}` is not supported"))),
            (Some(Token::Word(_)), Some(Token::Word(_) | Token::Symbol("*")))
                if self.variable_here().is_none() && self.parameter_here().is_none() =>
            {
                self.declaration()
            }
            (Some(Token::Word("atomic_store" | "atomic_store_explicit" | "atomic_thread_fence")), _) => {
                self.action()?;
                self.cursor.symbol(";")
            }
            (Some(Token::Word(name)), Some(Token::Symbol("("))) if self.linux_action(name)? => {
                self.cursor.symbol(";")
            }
            _ => {
                let (start, length) = (self.cursor, self.thread.code.len());
                let target = self.target();
                match target {
                    Ok(target) if self.cursor.peek() == Some(Token::Symbol("=")) => {
                        self.assignment(target)?
                    }
                    // It is no target, or nothing is assigned to it: an expression.
                    _ => {
                        self.cursor = start;
                        self.thread.code.truncate(length);
                        self.expression()?;
                    }
                }
                self.cursor.symbol(";")
            }
        }
    }

    /// `atomic_store(x, v);` and `atomic_thread_fence(o);`, which have no value.
    fn action(&mut self) -> Result<(), ParseError> {
        let position = self.cursor.position();
        let name = self.cursor.word("a function")?;
        self.cursor.symbol("(")?;
        if name == "atomic_thread_fence" {
            let order = self.order(|_| true)?;
            let fence = if order == Order::Relaxed { Fence::Compiler } else { Fence::Thread(order) };
            self.thread.push(position, Instruction::Fence(fence));
            return self.cursor.symbol(")");
        }
        let address = self.expression()?;
        self.cursor.symbol(",")?;
        let value = self.expression()?;
        let order =
            self.order_argument(name, |order| !order.acquires() || order == Order::SequentiallyConsistent)?;
        self.thread.push(position, Instruction::Store { address, size: 0, value, order });
        self.cursor.symbol(")")
    }

    /// The order of a function whose name says whether it has one: `, memory_order_acquire`.
    pub(super) fn order_argument(
        &mut self,
        name: &str,
        allowed: fn(Order) -> bool,
    ) -> Result<Order, ParseError> {
        if !name.ends_with("_explicit") {
            return Ok(Order::SequentiallyConsistent);
        }
        self.cursor.symbol(",")?;
        self.order(allowed)
    }

    fn order(&mut self, allowed: fn(Order) -> bool) -> Result<Order, ParseError> {
        let at = self.cursor;
        let order = match self.cursor.word("a memory order")? {
            "memory_order_relaxed" => Order::Relaxed,
            // As all compilers do.
            "memory_order_consume" | "memory_order_acquire" => Order::Acquire,
            "memory_order_release" => Order::Release,
            "memory_order_acq_rel" => Order::AcquireRelease,
            "memory_order_seq_cst" => Order::SequentiallyConsistent,
            other => return Err(at.error(format!("`{other}` is no memory order"))),
        };
        if allowed(order) { Ok(order) } else { Err(at.error("this operation cannot have this order")) }
    }

    /// `int r0 = e, r1;`
    fn declaration(&mut self) -> Result<(), ParseError> {
        let mut ty = types::before_name(&mut self.cursor)?.unwrap_or(Type::INT);
        self.only_if_supported(ty)?;
        loop {
            while self.cursor.takes("*") {
                ty = Type::LONG;
            }
            let at = self.cursor;
            let name = self.cursor.word("the name of a variable")?;
            if self.parameter(name).is_some() {
                return Err(at.error(format!("`{name}` is a parameter already")));
            }
            let register = self.thread.register(name);
            self.types.push((register, ty));
            if self.cursor.peek() == Some(Token::Symbol("=")) {
                self.assignment(Target::Variable(register))?;
            }
            if !self.cursor.takes(",") {
                return self.cursor.symbol(";");
            }
        }
    }

    fn assignment(&mut self, target: Target) -> Result<(), ParseError> {
        let position = self.cursor.position();
        self.cursor.symbol("=")?;
        let value = self.expression()?;
        self.thread.push(
            position,
            match target {
                Target::Variable(target) => Instruction::Set { target, value: self.converted(target, value) },
                Target::Memory(address) => {
                    Instruction::Store { address, size: 0, value, order: Order::Plain }
                }
            },
        );
        Ok(())
    }

    /// A value converted to the type of a variable.
    pub(super) fn converted(&self, variable: Register, value: Operand) -> Operand {
        match self.types.iter().rev().find(|(known, _)| *known == variable) {
            Some((_, ty)) => convert(*ty, value),
            None => value,
        }
    }

    /// A variable, or `*` and the address of a location.
    fn target(&mut self) -> Result<Target, ParseError> {
        if self.cursor.takes("*") {
            return self.unary().map(Target::Memory);
        }
        let register = match (self.variable_here(), self.cursor.peek(), self.cursor.peek_second()) {
            (Some(register), ..) => register,
            // As in herd7 a variable need not be declared.
            (None, Some(Token::Word(name)), Some(Token::Symbol("="))) if self.parameter(name).is_none() => {
                self.thread.register(name)
            }
            _ => return Err(self.cursor.expected("a statement")),
        };
        self.cursor.take();
        Ok(Target::Variable(register))
    }

    fn conditional(&mut self) -> Result<(), ParseError> {
        let position = self.cursor.position();
        self.cursor.take();
        let otherwise = self.unless(position)?;
        self.statement()?;
        if !self.cursor.takes_word("else") {
            self.land(otherwise);
            return Ok(());
        }
        let end = self.jump(position, Expression::Constant(1));
        self.land(otherwise);
        self.statement()?;
        self.land(end);
        Ok(())
    }

    fn repetition(&mut self) -> Result<(), ParseError> {
        let position = self.cursor.position();
        self.cursor.take();
        let start = self.thread.code.len();
        let end = self.unless(position)?;
        self.statement()?;
        self.thread.push(position, Instruction::Branch { condition: Expression::Constant(1), target: start });
        self.land(end);
        Ok(())
    }

    /// Reads `(condition)`; the jump that it returns is taken if the condition is 0.
    fn unless(&mut self, position: SourcePosition) -> Result<usize, ParseError> {
        self.cursor.symbol("(")?;
        let condition = self.expression()?;
        self.cursor.symbol(")")?;
        Ok(self.jump(position, not(condition)))
    }

    /// Adds a jump whose target [`land`](Self::land) sets.
    pub(super) fn jump(&mut self, position: SourcePosition, condition: Operand) -> usize {
        self.thread.push(position, Instruction::Branch { condition, target: 0 });
        self.thread.code.len() - 1
    }

    /// Makes the jump lead to the next instruction.
    pub(super) fn land(&mut self, jump: usize) {
        let here = self.thread.code.len();
        if let Instruction::Branch { target, .. } = &mut self.thread.code[jump].instruction {
            *target = here;
        }
    }

    /// The local variable that the next token names.
    pub(super) fn variable_here(&self) -> Option<Register> {
        match self.cursor.peek() {
            Some(Token::Word(name)) => self.thread.known(name),
            _ => None,
        }
    }

    /// The location whose address the next token names.
    pub(super) fn parameter_here(&self) -> Option<usize> {
        match self.cursor.peek() {
            Some(Token::Word(name)) => self.parameter(name),
            _ => None,
        }
    }

    fn parameter(&self, name: &str) -> Option<usize> {
        self.parameters.iter().find(|(known, _)| *known == name).map(|(_, location)| *location)
    }
}

/// The refusal of unsigned numbers, whose arithmetic is another.
pub(super) const UNSIGNED: &str = "unsigned numbers of 32 and 64 bits are not supported in C";

/// Returns `true` if numbers of this type have signed arithmetic. Narrow numbers become an `int`
/// before anything is computed.
pub(super) fn is_supported(ty: Type) -> bool {
    ty.size < 4 || ty.extension == Extension::Signed
}

/// A value converted to a type.
pub(super) fn convert(ty: Type, value: Operand) -> Operand {
    if ty.size == 8 { value } else { Expression::Extend(ty.extension, 8 * ty.size as u32, Box::new(value)) }
}

/// 1 if the operand is 0, and 0 if not.
pub(super) fn not(operand: Operand) -> Operand {
    Expression::Binary(Operator::Equal, Box::new(operand), Box::new(Expression::Constant(0)))
}
