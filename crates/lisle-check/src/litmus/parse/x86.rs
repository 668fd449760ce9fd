//! The instructions of x86.
//!
//! Tests for 32 bits name the target first (`MOV [x],$1`), tests for 64 bits name it last
//! (`movl $1,(x)`), as in herd7. A register has 64 bits, and its lower half another name; an
//! instruction that writes the lower half makes the upper one 0.

use super::columns::{Assembler, Column, always};
use super::cursor::Cursor;
use super::lexer::Token;
use super::registers;
use crate::litmus::error::ParseError;
use crate::litmus::program::expression::{Expression, Extension, Operator};
use crate::litmus::program::{
    CompareExchange, Fence, Instruction, Memory, Operand, Order, Register, Size, Update,
};

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
enum AsmOperand {
    Register { register: Register, wide: bool },
    Memory { address: Operand, size: Size },
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
            // Under x86-TSO, the accesses that these order are in order anyway.
            "SFENCE" | "LFENCE" => Some(Fence::Compiler),
            _ => None,
        };
        if let Some(fence) = fence {
            column.push(Instruction::Fence(fence));
            return Ok(());
        }
        let mut operands = self.operands(cell, column)?;
        // None of the names that are known ends with one of these.
        let stem = name.strip_suffix(['L', 'Q']).unwrap_or(&name);
        let by_name = (stem != name).then_some(if name.ends_with('Q') { 8 } else { 4 });
        let size = self.size(by_name, &operands, &start)?;
        for operand in &mut operands {
            if let AsmOperand::Memory { size: known, .. } = operand {
                *known = size;
            }
        }
        let written = translate(stem, locked, &operands, size, column);
        written.ok_or_else(|| {
            let count = operands.len();
            let lock = if locked { "LOCK " } else { "" };
            start.error(format!("`{lock}{name}` with {count} such operands is not supported")).help(SUPPORTED)
        })
    }
}

impl X86 {
    /// How many bytes an instruction works on: as many as its registers have, and as its name says.
    fn size(
        &self,
        by_name: Option<Size>,
        operands: &[AsmOperand],
        at: &Cursor<'_>,
    ) -> Result<Size, ParseError> {
        let by_register = operands.iter().filter_map(|operand| match operand {
            AsmOperand::Register { wide, .. } => Some(if *wide { 8 } else { 4 }),
            AsmOperand::Memory { .. } | AsmOperand::Number(_) => None,
        });
        let mut sizes = by_register.chain(by_name);
        match sizes.next() {
            Some(size) if sizes.all(|other| other == size) => Ok(size),
            Some(_) => Err(at.error("the operands of this instruction differ in size").help(SUPPORTED)),
            None if self.is_att
                && operands.iter().any(|operand| matches!(operand, AsmOperand::Memory { .. })) =>
            {
                let message = "the size of this access is not clear";
                Err(at.error(message).help("end the name with L for 32 bits, or Q for 64, as in movl"))
            }
            None => Ok(4),
        }
    }

    /// The operands, the target first.
    fn operands(
        &self,
        cell: &mut Cursor<'_>,
        column: &mut Column<'_>,
    ) -> Result<Vec<AsmOperand>, ParseError> {
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

fn operand(cell: &mut Cursor<'_>, column: &mut Column<'_>) -> Result<AsmOperand, ParseError> {
    let close = match cell.peek() {
        Some(Token::Symbol("[")) => "]",
        Some(Token::Symbol("(")) => ")",
        Some(Token::Symbol("$")) => {
            cell.take();
            if let Some(Token::Word(name)) = cell.peek() {
                cell.take();
                return Ok(AsmOperand::Number(Memory::address(column.memory.location(name))));
            }
            return cell.number().map(AsmOperand::Number);
        }
        Some(Token::Number(_) | Token::Symbol("-")) => return cell.number().map(AsmOperand::Number),
        _ => {
            cell.takes("%");
            let at = *cell;
            let name = cell.word("a register, [x] or $1")?;
            let Some((name, wide)) = registers::x86(name) else {
                return Err(at.error(format!("`{name}` is no register that is supported")));
            };
            return Ok(AsmOperand::Register { register: column.thread.register(name), wide });
        }
    };
    cell.take();
    cell.takes("%");
    let name = cell.word("a location or a register")?;
    cell.symbol(close)?;
    let address = match registers::x86(name) {
        Some((name, _)) => Expression::Leaf(column.thread.register(name)),
        None => Expression::Constant(Memory::address(column.memory.location(name))),
    };
    // The size is known when all operands are.
    Ok(AsmOperand::Memory { address, size: 0 })
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
fn translate(
    name: &str,
    locked: bool,
    operands: &[AsmOperand],
    size: Size,
    column: &mut Column<'_>,
) -> Option<()> {
    let bits = 8 * size as u32;
    match (name, locked, operands) {
        ("MOV", false, [target, source])
            if !matches!(
                (target, source),
                (AsmOperand::Memory { .. }, AsmOperand::Memory { .. }) | (AsmOperand::Number(_), _)
            ) =>
        {
            let value = read(source, column);
            write(target, value, column);
        }
        (
            "XCHG",
            _,
            [at @ AsmOperand::Memory { .. }, other @ AsmOperand::Register { .. }]
            | [other @ AsmOperand::Register { .. }, at @ AsmOperand::Memory { .. }],
        ) => {
            let old = column.thread.temporary();
            let operand = read(other, column);
            update(Some(old), at, None, operand, column);
            write(other, Expression::Leaf(old), column);
        }
        ("XADD", true, [at @ AsmOperand::Memory { .. }, other @ AsmOperand::Register { .. }]) => {
            let old = column.thread.temporary();
            let operand = read(other, column);
            update(Some(old), at, Some(Operator::Add), operand, column);
            write(other, Expression::Leaf(old), column);
        }
        (
            "CMPXCHG",
            true,
            [AsmOperand::Memory { address, size }, source @ AsmOperand::Register { wide, .. }],
        ) => {
            let (old, made) = (column.thread.temporary(), column.thread.temporary());
            let accumulator = AsmOperand::Register { register: column.thread.register("RAX"), wide: *wide };
            let expected = read(&accumulator, column);
            let desired = read(source, column);
            column.push(Instruction::CompareExchange(CompareExchange {
                old: Some(old),
                made,
                address: address.clone(),
                size: *size,
                expected: expected.clone(),
                desired,
                order: Order::Plain,
                failure: Order::Plain,
                weak: false,
                keeps: false,
            }));
            let found = Expression::Extend(Extension::Signed, bits, Box::new(Expression::Leaf(old)));
            column.compare(expected, found, bits);
            write(&accumulator, Expression::Leaf(old), column);
        }
        ("CMP", false, [left, right]) => {
            let (left, right) = (read(left, column), read(right, column));
            column.compare(left, right, bits);
        }
        _ => return arithmetic(name, locked, operands, bits, column),
    }
    Some(())
}

/// Translates an instruction that combines its target with its source.
fn arithmetic(
    name: &str,
    locked: bool,
    operands: &[AsmOperand],
    bits: u32,
    column: &mut Column<'_>,
) -> Option<()> {
    let (operator, target, source) = match (name, operands) {
        ("INC", [target]) => (Operator::Add, target, &AsmOperand::Number(1)),
        ("DEC", [target]) => (Operator::Subtract, target, &AsmOperand::Number(1)),
        ("ADD", [target, source]) => (Operator::Add, target, source),
        ("SUB", [target, source]) => (Operator::Subtract, target, source),
        ("AND", [target, source]) => (Operator::And, target, source),
        ("OR", [target, source]) => (Operator::Or, target, source),
        ("XOR", [target, source]) => (Operator::Xor, target, source),
        _ => return None,
    };
    if matches!(
        (target, source),
        (AsmOperand::Number(_), _) | (AsmOperand::Memory { .. }, AsmOperand::Memory { .. })
    ) {
        return None;
    }
    let operand = read(source, column);
    let combine = |old, operand| Expression::Binary(operator, Box::new(old), Box::new(operand));
    let (old, result) = (column.thread.temporary(), column.thread.temporary());
    let signed = |value| Expression::Extend(Extension::Signed, bits, Box::new(value));
    match (locked, target) {
        (true, at @ AsmOperand::Memory { .. }) => {
            update(Some(old), at, Some(operator), operand.clone(), column);
            let value = combine(signed(Expression::Leaf(old)), operand.clone());
            column.push(Instruction::Set { target: result, value });
        }
        (true, _) => return None,
        (false, target) => {
            let value = read(target, column);
            column.push(Instruction::Set { target: old, value });
            let value = combine(Expression::Leaf(old), operand.clone());
            column.push(Instruction::Set { target: result, value });
        }
    }
    let before = signed(Expression::Leaf(old));
    match operator {
        Operator::Add => column.compare_sum(before, operand, bits),
        Operator::Subtract => column.compare(before, operand, bits),
        _ => column.compare_bits(Expression::Leaf(result), bits),
    }
    if !locked {
        write(target, Expression::Leaf(result), column);
    }
    Some(())
}

/// The value of an operand. Memory is loaded into a temporary.
fn read(operand: &AsmOperand, column: &mut Column<'_>) -> Operand {
    match operand {
        AsmOperand::Number(value) => Expression::Constant(*value),
        AsmOperand::Register { register, wide: true } => Expression::Leaf(*register),
        AsmOperand::Register { register, wide: false } => {
            Expression::Extend(Extension::Signed, 32, Box::new(Expression::Leaf(*register)))
        }
        AsmOperand::Memory { address, size } => {
            let target = column.thread.temporary();
            let (address, size, order) = (address.clone(), *size, Order::Plain);
            column.push(Instruction::Load { target, address, size, order, exclusive: false });
            Expression::Extend(Extension::Signed, 8 * size as u32, Box::new(Expression::Leaf(target)))
        }
    }
}

fn write(operand: &AsmOperand, value: Operand, column: &mut Column<'_>) {
    column.push(match operand {
        AsmOperand::Memory { address, size } => {
            Instruction::Store { address: address.clone(), size: *size, value, order: Order::Plain }
        }
        AsmOperand::Register { register, wide: true } => Instruction::Set { target: *register, value },
        AsmOperand::Register { register, wide: false } => Instruction::Set {
            target: *register,
            value: Expression::Extend(Extension::Zero, 32, Box::new(value)),
        },
        AsmOperand::Number(_) => return,
    });
}

/// Adds an update of a place in memory.
fn update(
    old: Option<Register>,
    at: &AsmOperand,
    operator: Option<Operator>,
    operand: Operand,
    column: &mut Column<'_>,
) {
    if let AsmOperand::Memory { address, size } = at {
        let (address, size, order) = (address.clone(), *size, Order::Plain);
        column.push(Instruction::Update(Update { old, address, size, operator, operand, order }));
    }
}
