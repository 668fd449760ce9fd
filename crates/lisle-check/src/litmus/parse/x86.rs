//! The instructions of x86.
//!
//! Tests for 32 bits name the target first (`MOV [x],$1`), those for 64 bits name it last
//! (`movl $1,(x)`), as herd7 has it. A register has 64 bits, and its lower half another name; an
//! instruction that writes the lower half makes the upper one 0.

use super::columns::{Assembler, Column, always};
use super::cursor::Cursor;
use super::lexer::Token;
use super::registers;
use crate::litmus::error::ParseError;
use crate::litmus::program::expression::{Expression, Extension, Operator};
use crate::litmus::program::{CompareExchange, Fence, Instruction, Memory, Operand, Order, Register, Update};

const SUPPORTED: &str = "supported on x86: MOV, XCHG, ADD, SUB, AND, OR, XOR, INC, DEC, CMP, XADD, CMPXCHG, \
    LOCK, MFENCE, SFENCE, LFENCE, JMP, JE, JZ, JNE, JNZ, JL, JLE, JG, JGE, NOP, labels; registers of 32 and 64 \
    bits; [x], [EAX]; $1";

/// The reader. `is_att` says that sources come before targets.
#[derive(Debug)]
pub(super) struct X86 {
    pub(super) is_att: bool,
}

/// An operand.
#[derive(Debug, Clone)]
enum Place {
    Register { register: Register, wide: bool },
    Memory(Operand),
    Number(i64),
}

impl Assembler for X86 {
    fn instruction(&mut self, cell: &mut Cursor<'_>, column: &mut Column<'_>) -> Result<(), ParseError> {
        let mut start = *cell;
        let mut name = cell.word("an instruction")?.to_ascii_uppercase();
        let locked = name == "LOCK";
        if locked {
            cell.takes(";");
            start = *cell;
            name = cell.word("an instruction after LOCK")?.to_ascii_uppercase();
        }
        if let Some(condition) = jump(&name, column) {
            return column.jump(condition, cell);
        }
        let fence = match name.as_str() {
            "NOP" => return Ok(()),
            "MFENCE" => Some(Fence::Full),
            // What these order is in order under x86-TSO anyway.
            "SFENCE" | "LFENCE" => Some(Fence::Compiler),
            _ => None,
        };
        if let Some(fence) = fence {
            column.push(Instruction::Fence(fence));
            return Ok(());
        }
        let operands = self.operands(cell, column)?;
        let written = translate(&name, locked, &operands, column)
            .or_else(|| translate(name.strip_suffix(['L', 'Q'])?, locked, &operands, column));
        written.ok_or_else(|| {
            let count = operands.len();
            let lock = if locked { "LOCK " } else { "" };
            start.error(format!("`{lock}{name}` with {count} such operands is not supported")).help(SUPPORTED)
        })
    }
}

impl X86 {
    /// The operands, the target first.
    fn operands(&self, cell: &mut Cursor<'_>, column: &mut Column<'_>) -> Result<Vec<Place>, ParseError> {
        let mut operands = Vec::new();
        while cell.peek().is_some() {
            if !operands.is_empty() {
                cell.symbol(",")?;
            }
            operands.push(operand(cell, column).map_err(|error| error.help(SUPPORTED))?);
        }
        if self.is_att {
            operands.reverse();
        }
        Ok(operands)
    }
}

fn operand(cell: &mut Cursor<'_>, column: &mut Column<'_>) -> Result<Place, ParseError> {
    let close = match cell.peek() {
        Some(Token::Symbol("[")) => "]",
        Some(Token::Symbol("(")) => ")",
        Some(Token::Symbol("$")) => {
            cell.take();
            if let Some(Token::Word(name)) = cell.peek() {
                cell.take();
                return Ok(Place::Number(Memory::address(column.memory.location(name))));
            }
            return cell.number().map(Place::Number);
        }
        Some(Token::Number(_) | Token::Symbol("-")) => return cell.number().map(Place::Number),
        _ => {
            cell.takes("%");
            let at = *cell;
            let name = cell.word("a register, [x] or $1")?;
            let Some((name, wide)) = registers::x86(name) else {
                return Err(at.error(format!("`{name}` is no register that is supported")));
            };
            return Ok(Place::Register { register: column.thread.register(name), wide });
        }
    };
    cell.take();
    cell.takes("%");
    let name = cell.word("a location or a register")?;
    cell.symbol(close)?;
    Ok(Place::Memory(match registers::x86(name) {
        Some((name, _)) => Expression::Leaf(column.thread.register(name)),
        None => Expression::Constant(Memory::address(column.memory.location(name))),
    }))
}

/// The condition of a jump: the last result or comparison, in words of the values compared.
fn jump(name: &str, column: &mut Column<'_>) -> Option<Operand> {
    column.compared(match name {
        "JMP" => return Some(always()),
        "JE" | "JZ" => "EQ",
        "JNE" | "JNZ" => "NE",
        "JL" => "LT",
        "JLE" => "LE",
        "JG" => "GT",
        "JGE" => "GE",
        _ => return None,
    })
}

/// Translates an instruction; `None` if there is none with this name and these operands.
fn translate(name: &str, locked: bool, operands: &[Place], column: &mut Column<'_>) -> Option<()> {
    use Place::Memory as At;
    match (name, locked, operands) {
        ("MOV", false, [target, source])
            if !matches!((target, source), (At(_), At(_)) | (Place::Number(_), _)) =>
        {
            let value = read(source, column);
            write(target, value, column);
        }
        (
            "XCHG",
            _,
            [At(address), other @ Place::Register { .. }] | [other @ Place::Register { .. }, At(address)],
        ) => {
            let old = column.thread.temporary();
            let operand = read(other, column);
            update(Some(old), address, None, operand, column);
            write(other, Expression::Leaf(old), column);
        }
        ("XADD", true, [At(address), other @ Place::Register { .. }]) => {
            let old = column.thread.temporary();
            let operand = read(other, column);
            update(Some(old), address, Some(Operator::Add), operand, column);
            write(other, Expression::Leaf(old), column);
        }
        ("CMPXCHG", true, [At(address), source @ Place::Register { wide, .. }]) => {
            let (old, made) = (column.thread.temporary(), column.thread.temporary());
            let accumulator = Place::Register { register: column.thread.register("RAX"), wide: *wide };
            let expected = read(&accumulator, column);
            let desired = read(source, column);
            column.push(Instruction::CompareExchange(CompareExchange {
                old: Some(old),
                made,
                address: address.clone(),
                expected: expected.clone(),
                desired,
                order: Order::Plain,
                failure: Order::Plain,
                weak: false,
                keeps: false,
            }));
            column.compare(expected, Expression::Leaf(old));
            write(&accumulator, Expression::Leaf(old), column);
        }
        ("CMP", false, [left, right]) => {
            let (left, right) = (read(left, column), read(right, column));
            column.compare(left, right);
        }
        _ => return arithmetic(name, locked, operands, column),
    }
    Some(())
}

/// Translates an instruction that combines its target with its source.
fn arithmetic(name: &str, locked: bool, operands: &[Place], column: &mut Column<'_>) -> Option<()> {
    let (operator, target, source) = match (name, operands) {
        ("INC", [target]) => (Operator::Add, target, &Place::Number(1)),
        ("DEC", [target]) => (Operator::Subtract, target, &Place::Number(1)),
        ("ADD", [target, source]) => (Operator::Add, target, source),
        ("SUB", [target, source]) => (Operator::Subtract, target, source),
        ("AND", [target, source]) => (Operator::And, target, source),
        ("OR", [target, source]) => (Operator::Or, target, source),
        ("XOR", [target, source]) => (Operator::Xor, target, source),
        _ => return None,
    };
    if matches!((target, source), (Place::Number(_), _) | (Place::Memory(_), Place::Memory(_))) {
        return None;
    }
    let operand = read(source, column);
    let combine = |old, operand| Expression::Binary(operator, Box::new(old), Box::new(operand));
    let result = match (locked, target) {
        (true, Place::Memory(address)) => {
            let old = column.thread.temporary();
            update(Some(old), address, Some(operator), operand.clone(), column);
            combine(Expression::Leaf(old), operand)
        }
        (true, _) => return None,
        (false, target) => {
            let old = read(target, column);
            let result = column.thread.temporary();
            column.push(Instruction::Set { target: result, value: combine(old, operand) });
            write(target, Expression::Leaf(result), column);
            Expression::Leaf(result)
        }
    };
    column.compare(result, Expression::Constant(0));
    Some(())
}

/// The value of an operand. Memory is loaded into a temporary.
fn read(place: &Place, column: &mut Column<'_>) -> Operand {
    match place {
        Place::Number(value) => Expression::Constant(*value),
        Place::Register { register, wide: true } => Expression::Leaf(*register),
        Place::Register { register, wide: false } => {
            Expression::Extend(Extension::Signed, Box::new(Expression::Leaf(*register)))
        }
        Place::Memory(address) => {
            let target = column.thread.temporary();
            let (address, order) = (address.clone(), Order::Plain);
            column.push(Instruction::Load { target, address, order, exclusive: false });
            Expression::Leaf(target)
        }
    }
}

fn write(place: &Place, value: Operand, column: &mut Column<'_>) {
    column.push(match place {
        Place::Memory(address) => Instruction::Store { address: address.clone(), value, order: Order::Plain },
        Place::Register { register, wide: true } => Instruction::Set { target: *register, value },
        Place::Register { register, wide: false } => Instruction::Set {
            target: *register,
            value: Expression::Extend(Extension::Zero, Box::new(value)),
        },
        Place::Number(_) => return,
    });
}

fn update(
    old: Option<Register>,
    address: &Operand,
    operator: Option<Operator>,
    operand: Operand,
    column: &mut Column<'_>,
) {
    let (address, order) = (address.clone(), Order::Plain);
    column.push(Instruction::Update(Update { old, address, operator, operand, order }));
}
