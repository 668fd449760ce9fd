//! The instructions of AArch64.
//!
//! A register is known by its 64-bit name. An instruction with the 32-bit name of its target makes
//! the upper half 0.

use super::columns::{Assembler, Column, always};
use super::cursor::Cursor;
use super::lexer::Token;
use super::registers;
use crate::litmus::error::ParseError;
use crate::litmus::program::expression::{Expression, Extension, Operator};
use crate::litmus::program::{CompareExchange, Fence, Instruction, Operand, Order, Register, Update};

const SUPPORTED: &str = "supported on AArch64: LDR, LDAR, LDAPR, LDXR, LDAXR, STR, STLR, STXR, STLXR, SWP, CAS, \
    LDADD, LDSET, LDCLR, LDEOR, STADD, STSET, STCLR, STEOR with A, L and AL, MOV, ADD, SUB, AND, ORR, EOR, CMP, \
    CSEL, CBZ, CBNZ, B, B.EQ, B.NE, B.LT, B.LE, B.GT, B.GE, labels, DMB and DSB with SY, LD, ST, ISH, ISHLD, \
    ISHST, ISB, NOP; addresses [X1], [X1,#0], [X1,X2] and [X1,W2,SXTW]";

/// The reader.
#[derive(Debug)]
pub(super) struct AArch64;

/// A register operand; without a register it is XZR or WZR.
#[derive(Debug, Clone, Copy)]
struct Named {
    register: Option<Register>,
    wide: bool,
}

impl Named {
    fn read(self) -> Operand {
        match (self.register, self.wide) {
            (None, _) => Expression::Constant(0),
            (Some(register), true) => Expression::Leaf(register),
            (Some(register), false) => {
                Expression::Extend(Extension::Signed, Box::new(Expression::Leaf(register)))
            }
        }
    }

    fn write(self, value: Operand, column: &mut Column<'_>) {
        if let Some(target) = self.register {
            let value = if self.wide { value } else { Expression::Extend(Extension::Zero, Box::new(value)) };
            column.push(Instruction::Set { target, value });
        }
    }

    /// Where an instruction can put a value that `write` then brings into the register.
    fn target(self, column: &mut Column<'_>) -> Register {
        match self.register {
            Some(register) if self.wide => register,
            _ => column.thread.temporary(),
        }
    }
}

impl Assembler for AArch64 {
    fn instruction(&mut self, cell: &mut Cursor<'_>, column: &mut Column<'_>) -> Result<(), ParseError> {
        let start = *cell;
        let name = cell.word("an instruction")?.to_ascii_uppercase();
        let known = translate(&name, cell, column).map_err(|error| error.help(SUPPORTED))?;
        known.ok_or_else(|| start.error(format!("`{name}` is not supported")).help(SUPPORTED))
    }
}

/// Translates an instruction; `None` if it is not known.
fn translate(name: &str, cell: &mut Cursor<'_>, column: &mut Column<'_>) -> Result<Option<()>, ParseError> {
    match name {
        "NOP" => {}
        "LDR" => load(Order::Plain, false, cell, column)?,
        "LDAR" => load(Order::Acquire, false, cell, column)?,
        "LDAPR" => load(Order::AcquirePc, false, cell, column)?,
        "LDXR" => load(Order::Plain, true, cell, column)?,
        "LDAXR" => load(Order::Acquire, true, cell, column)?,
        "STR" => store(Order::Plain, cell, column)?,
        "STLR" => store(Order::Release, cell, column)?,
        "STXR" => store_exclusive(Order::Plain, cell, column)?,
        "STLXR" => store_exclusive(Order::Release, cell, column)?,
        "MOV" => {
            let target = named(cell, column)?;
            cell.symbol(",")?;
            let value = value(cell, column)?;
            target.write(value, column);
        }
        "ADD" => arithmetic(Operator::Add, cell, column)?,
        "SUB" => arithmetic(Operator::Subtract, cell, column)?,
        "AND" => arithmetic(Operator::And, cell, column)?,
        "ORR" => arithmetic(Operator::Or, cell, column)?,
        "EOR" => arithmetic(Operator::Xor, cell, column)?,
        "CMP" => {
            let left = named(cell, column)?.read();
            cell.symbol(",")?;
            let right = value(cell, column)?;
            column.compare(left, right);
        }
        "CSEL" => {
            let target = named(cell, column)?;
            cell.symbol(",")?;
            let first = named(cell, column)?.read();
            cell.symbol(",")?;
            let second = named(cell, column)?.read();
            cell.symbol(",")?;
            let condition = condition(cell, column)?;
            let chosen = column.thread.temporary();
            column.push(Instruction::Select { target: chosen, condition, values: [first, second] });
            target.write(Expression::Leaf(chosen), column);
        }
        "CBZ" | "CBNZ" => {
            let tested = named(cell, column)?.read();
            cell.symbol(",")?;
            let operator = if name == "CBZ" { Operator::Equal } else { Operator::NotEqual };
            let condition = Expression::Binary(operator, Box::new(tested), Box::new(Expression::Constant(0)));
            column.jump(condition, cell)?;
        }
        "B" => {
            let condition = if cell.takes(".") { condition(cell, column)? } else { always() };
            column.jump(condition, cell)?;
        }
        "DMB" | "DSB" => {
            let fence = barrier(name == "DSB", cell)?;
            column.push(Instruction::Fence(fence));
        }
        "ISB" => {
            cell.takes_word("SY");
            column.push(Instruction::Fence(Fence::Instructions));
        }
        _ => return update(name, cell, column),
    }
    Ok(Some(()))
}

/// Reads the register operand that must stand here.
fn named(cell: &mut Cursor<'_>, column: &mut Column<'_>) -> Result<Named, ParseError> {
    let at = *cell;
    let name = cell.word("a register")?;
    if let "XZR" | "WZR" | "xzr" | "wzr" = name {
        return Ok(Named { register: None, wide: name.starts_with(['X', 'x']) });
    }
    let (known_as, wide) = registers::aarch64(name)
        .ok_or_else(|| at.error(format!("`{name}` is no register that is supported")))?;
    Ok(Named { register: Some(column.thread.register(&known_as)), wide })
}

/// Reads a register or a number.
fn value(cell: &mut Cursor<'_>, column: &mut Column<'_>) -> Result<Operand, ParseError> {
    if cell.takes("#") || matches!(cell.peek(), Some(Token::Number(_))) {
        return Ok(Expression::Constant(cell.number()?));
    }
    let register = named(cell, column)?;
    extended(register, cell)
}

/// Reads the extension that may follow a register.
fn extended(register: Named, cell: &mut Cursor<'_>) -> Result<Operand, ParseError> {
    let value = register.read();
    if cell.peek() != Some(Token::Symbol(",")) {
        return Ok(value);
    }
    let at = *cell;
    cell.take();
    match cell.word("SXTW or UXTW")? {
        "SXTW" | "sxtw" => Ok(Expression::Extend(Extension::Signed, Box::new(value))),
        "UXTW" | "uxtw" => Ok(Expression::Extend(Extension::Zero, Box::new(value))),
        other => Err(at.error(format!("`{other}` is not supported here, only SXTW and UXTW"))),
    }
}

/// Reads `[X1]`, `[X1,#0]`, `[X1,X2]` or `[X1,W2,SXTW]`.
fn address(cell: &mut Cursor<'_>, column: &mut Column<'_>) -> Result<Operand, ParseError> {
    cell.symbol("[")?;
    let base = named(cell, column)?.read();
    let address = if cell.takes(",") {
        let offset = value(cell, column)?;
        Expression::Binary(Operator::Add, Box::new(base), Box::new(offset))
    } else {
        base
    };
    cell.symbol("]")?;
    Ok(address)
}

fn load(
    order: Order,
    exclusive: bool,
    cell: &mut Cursor<'_>,
    column: &mut Column<'_>,
) -> Result<(), ParseError> {
    let named = named(cell, column)?;
    cell.symbol(",")?;
    let address = address(cell, column)?;
    let target = named.target(column);
    column.push(Instruction::Load { target, address, order, exclusive });
    named.write(Expression::Leaf(target), column);
    Ok(())
}

fn store(order: Order, cell: &mut Cursor<'_>, column: &mut Column<'_>) -> Result<(), ParseError> {
    let value = named(cell, column)?.read();
    cell.symbol(",")?;
    let address = address(cell, column)?;
    column.push(Instruction::Store { address, value, order });
    Ok(())
}

fn store_exclusive(order: Order, cell: &mut Cursor<'_>, column: &mut Column<'_>) -> Result<(), ParseError> {
    let named_status = named(cell, column)?;
    cell.symbol(",")?;
    let value = named(cell, column)?.read();
    cell.symbol(",")?;
    let address = address(cell, column)?;
    let status = named_status.target(column);
    column.push(Instruction::StoreExclusive { status, address, value, order });
    named_status.write(Expression::Leaf(status), column);
    Ok(())
}

fn arithmetic(operator: Operator, cell: &mut Cursor<'_>, column: &mut Column<'_>) -> Result<(), ParseError> {
    let target = named(cell, column)?;
    cell.symbol(",")?;
    let left = named(cell, column)?.read();
    cell.symbol(",")?;
    let right = value(cell, column)?;
    target.write(Expression::Binary(operator, Box::new(left), Box::new(right)), column);
    Ok(())
}

/// Reads the condition of a branch or of CSEL.
fn condition(cell: &mut Cursor<'_>, column: &mut Column<'_>) -> Result<Operand, ParseError> {
    let at = *cell;
    let name = cell.word("a condition, such as EQ")?.to_ascii_uppercase();
    column.compared(&name).ok_or_else(|| at.error(format!("the condition `{name}` is not supported")))
}

fn barrier(is_dsb: bool, cell: &mut Cursor<'_>) -> Result<Fence, ParseError> {
    let at = *cell;
    let kind = cell.word("the kind of barrier, such as SY")?.to_ascii_uppercase();
    match kind.strip_prefix("ISH").unwrap_or(&kind) {
        "" | "SY" => Ok(Fence::Full),
        "LD" => Ok(Fence::Loads),
        "ST" if is_dsb => Ok(Fence::StoresWithAll),
        "ST" => Ok(Fence::Stores),
        _ => Err(at.error(format!("the barrier `{kind}` is not supported"))),
    }
}

/// Translates SWP, CAS, and the families of LDADD and STADD.
fn update(name: &str, cell: &mut Cursor<'_>, column: &mut Column<'_>) -> Result<Option<()>, ParseError> {
    const FAMILIES: [(&str, Option<Operator>); 10] = [
        ("SWP", None),
        ("CAS", None),
        ("LDADD", Some(Operator::Add)),
        ("LDSET", Some(Operator::Or)),
        ("LDCLR", Some(Operator::AndNot)),
        ("LDEOR", Some(Operator::Xor)),
        ("STADD", Some(Operator::Add)),
        ("STSET", Some(Operator::Or)),
        ("STCLR", Some(Operator::AndNot)),
        ("STEOR", Some(Operator::Xor)),
    ];
    let Some((family, operator)) = FAMILIES.into_iter().find(|(family, _)| name.starts_with(family)) else {
        return Ok(None);
    };
    let order = match &name[family.len()..] {
        "" => Order::Plain,
        "A" if !family.starts_with("ST") => Order::Acquire,
        "L" => Order::Release,
        "AL" if !family.starts_with("ST") => Order::AcquireRelease,
        _ => return Ok(None),
    };
    let source = named(cell, column)?;
    cell.symbol(",")?;
    let result = if family.starts_with("ST") {
        Named { register: None, wide: source.wide }
    } else {
        let result = named(cell, column)?;
        cell.symbol(",")?;
        result
    };
    let address = address(cell, column)?;
    if family == "CAS" {
        let old = source.register.is_some().then(|| column.thread.temporary());
        let made = column.thread.temporary();
        let failure = if order.acquires() { Order::Acquire } else { Order::Plain };
        let (expected, desired) = (source.read(), result.read());
        let (weak, keeps) = (false, true);
        let exchange = CompareExchange { old, made, address, expected, desired, order, failure, weak, keeps };
        column.push(Instruction::CompareExchange(exchange));
        if let Some(old) = old {
            source.write(Expression::Leaf(old), column);
        }
        return Ok(Some(()));
    }
    let old = result.register.is_some().then(|| column.thread.temporary());
    let operand = source.read();
    column.push(Instruction::Update(Update { old, address, operator, operand, order }));
    if let Some(old) = old {
        result.write(Expression::Leaf(old), column);
    }
    Ok(Some(()))
}
