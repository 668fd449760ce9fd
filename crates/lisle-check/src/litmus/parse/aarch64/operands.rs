//! The operands of AArch64: registers, numbers, and addresses.

use std::ops::Range;

use crate::litmus::error::ParseError;
use crate::litmus::parse::columns::Column;
use crate::litmus::parse::cursor::Cursor;
use crate::litmus::parse::lexer::Token;
use crate::litmus::parse::registers;
use crate::litmus::program::expression::{Expression, Extension, Operator};
use crate::litmus::program::{Instruction, Operand, Register};

/// A register operand; without a register it is XZR or WZR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) register: Option<Register>,
    pub(super) wide: bool,
}

impl Named {
    /// The value, with copies of the sign of a 32-bit register above it.
    pub(super) fn read(self) -> Operand {
        self.read_as(Extension::Signed)
    }

    /// The value. The lower half of a 32-bit register is extended by `extension`.
    pub(super) fn read_as(self, extension: Extension) -> Operand {
        match (self.register, self.wide) {
            (None, _) => Expression::Constant(0),
            (Some(register), true) => Expression::Leaf(register),
            (Some(register), false) => extend(extension, 32, Expression::Leaf(register)),
        }
    }

    pub(super) fn write(self, value: Operand, column: &mut Column<'_>) {
        if let Some(target) = self.register {
            let value = if self.wide { value } else { extend(Extension::Zero, 32, value) };
            column.push(Instruction::Set { target, value });
        }
    }

    /// The register for an instruction's result, which `write` then brings into this register.
    pub(super) fn target(self, column: &mut Column<'_>) -> Register {
        match self.register {
            Some(register) if self.wide => register,
            _ => column.thread.temporary(),
        }
    }

    /// How many bits it has.
    pub(super) fn bits(self) -> u32 {
        if self.wide { 64 } else { 32 }
    }

    /// How many bytes it has.
    pub(super) fn size(self) -> usize {
        if self.wide { 8 } else { 4 }
    }
}

/// `left operator right`.
pub(super) fn binary(operator: Operator, left: Operand, right: Operand) -> Operand {
    Expression::Binary(operator, Box::new(left), Box::new(right))
}

/// The lower `bits` of the operand, extended.
pub(super) fn extend(extension: Extension, bits: u32, operand: Operand) -> Operand {
    if bits == 64 { operand } else { Expression::Extend(extension, bits, Box::new(operand)) }
}

/// Reads the register operand that must stand here.
pub(super) fn named(cell: &mut Cursor<'_>, column: &mut Column<'_>) -> Result<Named, ParseError> {
    let at = *cell;
    let name = cell.word("a register")?;
    if let "XZR" | "WZR" | "xzr" | "wzr" = name {
        return Ok(Named { register: None, wide: name.starts_with(['X', 'x']) });
    }
    let (known_as, wide) = registers::aarch64(name)
        .ok_or_else(|| at.error(format!("`{name}` is no register that is supported")))?;
    Ok(Named { register: Some(column.thread.register(&known_as)), wide })
}

/// Reads the register operand that must stand here, and be as wide as another one.
pub(super) fn of_same_width(
    other: Named,
    cell: &mut Cursor<'_>,
    column: &mut Column<'_>,
) -> Result<Named, ParseError> {
    let at = *cell;
    let register = named(cell, column)?;
    if register.wide == other.wide {
        Ok(register)
    } else {
        Err(at.error("the registers of this instruction differ in size"))
    }
}

/// Reads a number within a range.
pub(super) fn number(cell: &mut Cursor<'_>, within: Range<i64>) -> Result<i64, ParseError> {
    cell.takes("#");
    let at = *cell;
    let value = cell.number()?;
    if within.contains(&value) {
        Ok(value)
    } else {
        Err(at.error(format!("expected a number from {} to {}", within.start, within.end - 1)))
    }
}

/// Returns `true` if a number comes next.
pub(super) fn number_is_next(cell: &Cursor<'_>) -> bool {
    matches!(cell.peek(), Some(Token::Symbol("#" | "-") | Token::Number(_)))
}

/// Reads a register with its shift or extension, or a number with its shift.
pub(super) fn value(
    target: Named,
    cell: &mut Cursor<'_>,
    column: &mut Column<'_>,
) -> Result<Operand, ParseError> {
    if number_is_next(cell) {
        cell.takes("#");
        let value = cell.number()?;
        let by = if cell.takes(",") { left_shift(cell)? } else { 0 };
        return Ok(Expression::Constant(value << by));
    }
    let at = *cell;
    let register = named(cell, column)?;
    if cell.peek() == Some(Token::Symbol(",")) {
        return modified(register, cell);
    }
    if register.wide != target.wide {
        return Err(at.error("the registers of this instruction differ in size"));
    }
    Ok(register.read())
}

/// Reads `LSL #12`.
pub(super) fn left_shift(cell: &mut Cursor<'_>) -> Result<i64, ParseError> {
    let at = *cell;
    match cell.word("LSL")? {
        "LSL" | "lsl" => number(cell, 0..64),
        other => Err(at.error(format!("`{other}` is not supported here, only LSL"))),
    }
}

/// Reads the shift or the extension that follows a register.
fn modified(register: Named, cell: &mut Cursor<'_>) -> Result<Operand, ParseError> {
    cell.symbol(",")?;
    let at = *cell;
    let name = cell.word("SXTW, UXTW or LSL")?.to_ascii_uppercase();
    let extended = |extension, bits| extend(extension, bits, register.read());
    let (value, operator) = match name.as_str() {
        "SXTW" => (extended(Extension::Signed, 32), Operator::ShiftLeft),
        "UXTW" => (extended(Extension::Zero, 32), Operator::ShiftLeft),
        "SXTH" => (extended(Extension::Signed, 16), Operator::ShiftLeft),
        "UXTH" => (extended(Extension::Zero, 16), Operator::ShiftLeft),
        "SXTB" => (extended(Extension::Signed, 8), Operator::ShiftLeft),
        "UXTB" => (extended(Extension::Zero, 8), Operator::ShiftLeft),
        "SXTX" | "UXTX" if register.wide => (register.read(), Operator::ShiftLeft),
        "LSL" => (register.read(), Operator::ShiftLeft),
        "LSR" => (register.read_as(Extension::Zero), Operator::ShiftRightZero),
        "ASR" => (register.read(), Operator::ShiftRight),
        other => {
            let message = format!("`{other}` is not supported here, only SXTW, UXTW, LSL and the like");
            return Err(at.error(message));
        }
    };
    if !number_is_next(cell) {
        if matches!(name.as_str(), "LSL" | "LSR" | "ASR") {
            return Err(cell.expected("the number of bits to shift by"));
        }
        return Ok(value);
    }
    Ok(match number(cell, 0..64)? {
        0 => value,
        by => binary(operator, value, Expression::Constant(by)),
    })
}

/// An address, with the new value of its base register if there is one.
pub(super) struct Address {
    pub(super) address: Operand,
    /// The base register and its new value.
    back: Option<(Named, Operand)>,
}

impl Address {
    /// Writes the base register, after the access.
    pub(super) fn write_back(self, column: &mut Column<'_>) {
        if let Some((base, value)) = self.back {
            base.write(value, column);
        }
    }

    /// The address, if it does not write its base register or is allowed to.
    pub(super) fn writing_back_if(self, allowed: bool, at: &Cursor<'_>) -> Result<Address, ParseError> {
        match self.back {
            Some(_) if !allowed => Err(at.error("this instruction does not write its base register")),
            _ => Ok(self),
        }
    }
}

/// Reads `[X1]`, `[X1,#4]`, `[X1,X2]`, `[X1,X2,LSL #2]`, `[X1,W2,SXTW]`, `[X1,#4]!` or `[X1],#4`.
/// `others` are the registers that the access itself reads or writes.
pub(super) fn address(
    others: &[Named],
    cell: &mut Cursor<'_>,
    column: &mut Column<'_>,
) -> Result<Address, ParseError> {
    cell.symbol("[")?;
    let at = *cell;
    let base = named(cell, column)?;
    if !base.wide || base.register.is_none() {
        return Err(at.error("a base register is one of X0 to X30"));
    }
    let mut offset = None;
    let mut is_number = true;
    if cell.takes(",") {
        is_number = number_is_next(cell);
        offset = Some(if is_number {
            cell.takes("#");
            Expression::Constant(cell.number()?)
        } else {
            let at = *cell;
            let register = named(cell, column)?;
            if cell.peek() == Some(Token::Symbol(",")) {
                modified(register, cell)?
            } else if register.wide {
                register.read()
            } else {
                return Err(at.error("a 32-bit register is extended here, by SXTW or UXTW"));
            }
        });
    }
    cell.symbol("]")?;
    let on_back = *cell;
    let moved = |offset: Option<Operand>| match offset {
        None => base.read(),
        Some(offset) => binary(Operator::Add, base.read(), offset),
    };
    let address = match offset {
        None if cell.takes(",") => {
            let by = Expression::Constant(number(cell, -256..4096)?);
            Address { address: base.read(), back: Some((base, moved(Some(by)))) }
        }
        Some(_) if is_number && cell.takes("!") => {
            // The access takes place at the new value.
            Address { address: moved(offset.clone()), back: Some((base, moved(offset))) }
        }
        offset => Address { address: moved(offset), back: None },
    };
    if address.back.is_some() && others.iter().any(|other| other.register == base.register) {
        return Err(on_back.error("what writes its base register may not use it for something else"));
    }
    Ok(address)
}
