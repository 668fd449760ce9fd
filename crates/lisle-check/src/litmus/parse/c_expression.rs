//! The expressions of C: operators, plain reads, and the atomic operations that have a value.
//!
//! Each read of memory becomes an instruction with a temporary for its value. So the rest is an
//! expression over registers.

use super::c::{Function, UNSIGNED, convert, is_supported, not};
use super::lexer::Token;
use super::types;
use crate::litmus::error::{ParseError, SourcePosition};
use crate::litmus::program::expression::{Expression, Operator};
use crate::litmus::program::{CompareExchange, Instruction, Memory, Operand, Order, Register, Type, Update};

/// The operators with two operands and values for both, from the loosest to the tightest.
const LEVELS: [&[&str]; 8] =
    [&["|"], &["^"], &["&"], &["==", "!="], &["<", "<=", ">", ">="], &["<<", ">>"], &["+", "-"], &["*"]];

/// The variable or location that holds the expected value of a compare and exchange, and gets the
/// old one.
enum Expected {
    Variable(Register),
    Memory(Operand),
}

fn any(_: Order) -> bool {
    true
}

fn of_load(order: Order) -> bool {
    !order.releases() || order == Order::SequentiallyConsistent
}

impl Function<'_, '_> {
    /// Reads an expression.
    pub(super) fn expression(&mut self) -> Result<Operand, ParseError> {
        self.logical("||", |function| function.logical("&&", |function| function.level(0)))
    }

    /// Reads operands of `&&` or `||`. The right one is evaluated only if it decides.
    fn logical(
        &mut self,
        symbol: &'static str,
        inner: fn(&mut Self) -> Result<Operand, ParseError>,
    ) -> Result<Operand, ParseError> {
        let mut left = inner(self)?;
        while self.cursor.peek() == Some(Token::Symbol(symbol)) {
            let position = self.cursor.position();
            self.cursor.take();
            let target = self.thread.temporary();
            self.thread.push(position, Instruction::Set { target, value: not(not(left)) });
            let known = Expression::Leaf(target);
            let decided =
                self.jump(position, if symbol == "||" { known.clone() } else { not(known.clone()) });
            let right = inner(self)?;
            self.thread.push(position, Instruction::Set { target, value: not(not(right)) });
            self.land(decided);
            left = known;
        }
        Ok(left)
    }

    fn level(&mut self, level: usize) -> Result<Operand, ParseError> {
        let Some(symbols) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.level(level + 1)?;
        let mut operators = 0;
        while let Some(Token::Symbol(symbol)) = self.cursor.peek()
            && symbols.contains(&symbol)
        {
            // The left side becomes an operand, so a long row is a deep tree.
            self.cursor.enter()?;
            operators += 1;
            self.cursor.take();
            let right = self.level(level + 1)?;
            let (operator, exchanged) = operator(symbol);
            let (first, second) = if exchanged { (right, left) } else { (left, right) };
            left = Expression::Binary(operator, Box::new(first), Box::new(second));
        }
        (0..operators).for_each(|_| self.cursor.leave());
        Ok(left)
    }

    /// Reads an operand with the operators before it.
    pub(super) fn unary(&mut self) -> Result<Operand, ParseError> {
        self.cursor.enter()?;
        let operand = self.prefixed()?;
        self.cursor.leave();
        Ok(operand)
    }

    fn prefixed(&mut self) -> Result<Operand, ParseError> {
        let position = self.cursor.position();
        if self.cursor.takes("!") {
            return self.unary().map(not);
        }
        for (symbol, operator, left) in [("-", Operator::Subtract, 0), ("~", Operator::Xor, -1)] {
            if self.cursor.takes(symbol) {
                let operand = self.unary()?;
                return Ok(Expression::Binary(
                    operator,
                    Box::new(Expression::Constant(left)),
                    Box::new(operand),
                ));
            }
        }
        if self.cursor.takes("*") {
            let address = self.unary()?;
            return Ok(self.load(position, address, Order::Plain));
        }
        self.primary(position)
    }

    fn primary(&mut self, position: SourcePosition) -> Result<Operand, ParseError> {
        if self.cursor.takes("&") {
            return self.address();
        }
        if self.cursor.takes("(") {
            if self.is_cast() {
                let at = self.cursor;
                let ty = types::cast(&mut self.cursor)?.unwrap_or(Type::LONG);
                if !is_supported(ty) {
                    return Err(at.error(UNSIGNED));
                }
                return Ok(convert(ty, self.unary()?));
            }
            let inner = self.expression()?;
            self.cursor.symbol(")")?;
            return Ok(inner);
        }
        if let Some(register) = self.variable_here() {
            self.cursor.take();
            return Ok(Expression::Leaf(register));
        }
        if self.parameter_here().is_some() {
            return self.address();
        }
        match (self.cursor.peek(), self.cursor.peek_second()) {
            (Some(Token::Number(value)), _) => {
                self.cursor.take();
                Ok(Expression::Constant(value))
            }
            (Some(Token::Word(name)), Some(Token::Symbol("("))) => self.call(name, position),
            (Some(Token::Word(name)), _) => Err(self
                .cursor
                .error(format!("`{name}` is neither a variable nor a parameter of this thread"))),
            _ => Err(self.cursor.expected("an expression")),
        }
    }

    /// Reads the name of a parameter, which is an address.
    fn address(&mut self) -> Result<Operand, ParseError> {
        match self.parameter_here() {
            Some(location) => {
                self.cursor.take();
                Ok(Expression::Constant(Memory::address(location)))
            }
            None if self.variable_here().is_some() => {
                Err(self.cursor.error("a local variable has no address that other threads could know"))
            }
            None => Err(self.cursor.expected("a parameter of this thread")),
        }
    }

    /// Returns `true` if a type and `)` come next.
    fn is_cast(&self) -> bool {
        const WORDS: [&str; 12] = [
            "int",
            "long",
            "unsigned",
            "signed",
            "short",
            "char",
            "void",
            "volatile",
            "const",
            "intptr_t",
            "uintptr_t",
            "atomic_int",
        ];
        matches!(self.cursor.peek(), Some(Token::Word(word)) if WORDS.contains(&word) || word.ends_with("_t"))
            && self.variable_here().is_none()
            && self.parameter_here().is_none()
    }

    /// Adds a load, and returns its value.
    pub(super) fn load(&mut self, position: SourcePosition, address: Operand, order: Order) -> Operand {
        let target = self.thread.temporary();
        self.thread.push(position, Instruction::Load { target, address, size: 0, order, exclusive: false });
        Expression::Leaf(target)
    }

    /// Reads a call of a function that has a value.
    fn call(&mut self, name: &str, position: SourcePosition) -> Result<Operand, ParseError> {
        if let Some(value) = self.linux_value(name, position)? {
            return Ok(value);
        }
        let base = name.strip_suffix("_explicit").unwrap_or(name);
        let operator = match base {
            "atomic_load" | "atomic_exchange" => None,
            "atomic_compare_exchange_strong" | "atomic_compare_exchange_weak" => None,
            "atomic_fetch_add" => Some(Operator::Add),
            "atomic_fetch_sub" => Some(Operator::Subtract),
            "atomic_fetch_or" => Some(Operator::Or),
            "atomic_fetch_and" => Some(Operator::And),
            "atomic_fetch_xor" => Some(Operator::Xor),
            "atomic_store" | "atomic_thread_fence" => {
                return Err(self.cursor.error(format!("`{name}` has no value")));
            }
            _ if name.contains("rcu") => {
                return Err(self.cursor.error(format!("`{name}`: RCU is not supported")));
            }
            _ => return Err(self.cursor.error(format!("the function `{name}` is not supported"))),
        };
        self.cursor.take();
        self.cursor.symbol("(")?;
        let address = self.expression()?;
        let value = match base {
            "atomic_load" => {
                let order = self.order_argument(name, of_load)?;
                self.load(position, address, order)
            }
            "atomic_compare_exchange_strong" => self.compare_exchange(name, position, address, false)?,
            "atomic_compare_exchange_weak" => self.compare_exchange(name, position, address, true)?,
            _ => {
                self.cursor.symbol(",")?;
                let operand = self.expression()?;
                let order = self.order_argument(name, any)?;
                let old = self.thread.temporary();
                let update = Update { old: Some(old), address, size: 0, operator, operand, order };
                self.thread.push(position, Instruction::Update(update));
                Expression::Leaf(old)
            }
        };
        self.cursor.symbol(")")?;
        Ok(value)
    }

    /// Reads the arguments after the address. `&r` names a local variable, all else a location.
    fn compare_exchange(
        &mut self,
        name: &str,
        position: SourcePosition,
        address: Operand,
        weak: bool,
    ) -> Result<Operand, ParseError> {
        self.cursor.symbol(",")?;
        let expected = self.expected()?;
        self.cursor.symbol(",")?;
        let desired = self.expression()?;
        let order = self.order_argument(name, any)?;
        let failure = self.order_argument(name, of_load)?;
        let (old, made) = (self.thread.temporary(), self.thread.temporary());
        let value = match &expected {
            Expected::Variable(register) => Expression::Leaf(*register),
            Expected::Memory(address) => self.load(position, address.clone(), Order::Plain),
        };
        let exchange = CompareExchange {
            old: Some(old),
            made,
            address,
            size: 0,
            expected: value,
            desired,
            order,
            failure,
            weak,
            keeps: false,
        };
        self.thread.push(position, Instruction::CompareExchange(exchange));
        let equal = self.jump(position, Expression::Leaf(made));
        let value = Expression::Leaf(old);
        self.thread.push(
            position,
            match expected {
                Expected::Variable(target) => {
                    Instruction::Set { target, value: self.converted(target, value) }
                }
                Expected::Memory(address) => {
                    Instruction::Store { address, size: 0, value, order: Order::Plain }
                }
            },
        );
        self.land(equal);
        Ok(Expression::Leaf(made))
    }

    fn expected(&mut self) -> Result<Expected, ParseError> {
        let start = self.cursor;
        if self.cursor.takes("&")
            && let Some(register) = self.variable_here()
        {
            self.cursor.take();
            return Ok(Expected::Variable(register));
        }
        self.cursor = start;
        self.expression().map(Expected::Memory)
    }
}

/// The operator, and whether its operands change places.
fn operator(symbol: &str) -> (Operator, bool) {
    match symbol {
        "|" => (Operator::Or, false),
        "^" => (Operator::Xor, false),
        "&" => (Operator::And, false),
        "==" => (Operator::Equal, false),
        "!=" => (Operator::NotEqual, false),
        "<" => (Operator::Less, false),
        "<=" => (Operator::LessOrEqual, false),
        ">" => (Operator::Less, true),
        ">=" => (Operator::LessOrEqual, true),
        "<<" => (Operator::ShiftLeft, false),
        ">>" => (Operator::ShiftRight, false),
        "+" => (Operator::Add, false),
        "-" => (Operator::Subtract, false),
        _ => (Operator::Multiply, false),
    }
}
