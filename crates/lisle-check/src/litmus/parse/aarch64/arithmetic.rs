//! The instructions of AArch64 that access no memory.

use super::condition;
use super::operands::{
    Named, binary, extend, left_shift, named, number, number_is_next, of_same_width, value,
};
use crate::litmus::error::ParseError;
use crate::litmus::parse::columns::Column;
use crate::litmus::parse::cursor::Cursor;
use crate::litmus::program::expression::{Expression, Extension, Operator};
use crate::litmus::program::{Instruction, Operand};

/// Translates an instruction that accesses no memory; `None` if there is none with this name.
pub(super) fn translate(
    name: &str,
    cell: &mut Cursor<'_>,
    column: &mut Column<'_>,
) -> Result<Option<()>, ParseError> {
    let (stem, sets_flags) = match name {
        "ADDS" | "SUBS" | "ANDS" | "BICS" | "NEGS" => (&name[..3], true),
        "CMP" | "CMN" | "TST" => (name, true),
        _ => (name, false),
    };
    match stem {
        "ADD" | "SUB" | "AND" | "ORR" | "EOR" | "BIC" | "ORN" | "EON" => {
            let target = named(cell, column)?;
            cell.symbol(",")?;
            let left = of_same_width(target, cell, column)?.read();
            cell.symbol(",")?;
            let right = value(target, cell, column)?;
            combine(stem, sets_flags, target, (left, right), column);
        }
        "CMP" | "CMN" | "TST" => {
            let left = named(cell, column)?;
            cell.symbol(",")?;
            let right = value(left, cell, column)?;
            let nothing = Named { register: None, wide: left.wide };
            let stem = match stem {
                "CMP" => "SUB",
                "CMN" => "ADD",
                _ => "AND",
            };
            combine(stem, true, nothing, (left.read(), right), column);
        }
        "NEG" | "MVN" => {
            let target = named(cell, column)?;
            cell.symbol(",")?;
            let right = value(target, cell, column)?;
            let stem = if stem == "NEG" { "SUB" } else { "ORN" };
            combine(stem, sets_flags, target, (Expression::Constant(0), right), column);
        }
        "MOV" | "MOVZ" | "MOVN" | "MOVK" => moved(stem, cell, column)?,
        "MUL" | "MNEG" | "MADD" | "MSUB" => product(stem, cell, column)?,
        "LSL" | "LSR" | "ASR" => shift(stem, cell, column)?,
        "UBFM" | "SBFM" | "UBFX" | "SBFX" | "UXTB" | "UXTH" | "SXTB" | "SXTH" | "SXTW" => {
            field(stem, cell, column)?;
        }
        "CSEL" | "CSINC" | "CSINV" | "CSNEG" | "CSET" | "CSETM" | "CINC" | "CINV" | "CNEG" => {
            select(stem, cell, column)?;
        }
        _ => return Ok(None),
    }
    Ok(Some(()))
}

/// Writes `left stem right`, and the flags if they are asked for.
fn combine(
    stem: &str,
    sets_flags: bool,
    target: Named,
    (left, right): (Operand, Operand),
    column: &mut Column<'_>,
) {
    let inverted = |operand| binary(Operator::Xor, operand, Expression::Constant(-1));
    let result = match stem {
        "ADD" => binary(Operator::Add, left.clone(), right.clone()),
        "SUB" => binary(Operator::Subtract, left.clone(), right.clone()),
        "AND" => binary(Operator::And, left.clone(), right.clone()),
        "ORR" => binary(Operator::Or, left.clone(), right.clone()),
        "EOR" => binary(Operator::Xor, left.clone(), right.clone()),
        "BIC" => binary(Operator::AndNot, left.clone(), right.clone()),
        "ORN" => binary(Operator::Or, left.clone(), inverted(right.clone())),
        _ => binary(Operator::Xor, left.clone(), inverted(right.clone())),
    };
    let bits = target.bits();
    // The flags come first, for the target may be one of the operands.
    match stem {
        _ if !sets_flags => {}
        "ADD" => column.compare_sum(left, sign(right, bits), bits),
        "SUB" => column.compare(left, sign(right, bits), bits),
        _ => column.compare_bits(result.clone(), bits),
    }
    target.write(result, column);
}

/// The operand as a number of `bits` bits, with copies of its sign.
fn sign(operand: Operand, bits: u32) -> Operand {
    extend(Extension::Signed, bits, operand)
}

fn moved(stem: &str, cell: &mut Cursor<'_>, column: &mut Column<'_>) -> Result<(), ParseError> {
    let target = named(cell, column)?;
    cell.symbol(",")?;
    if stem == "MOV" {
        let value = value(target, cell, column)?;
        target.write(value, column);
        return Ok(());
    }
    let part = number(cell, 0..0x1_0000)?;
    let at = *cell;
    let by = if cell.takes(",") { left_shift(cell)? } else { 0 };
    if by % 16 != 0 || by >= i64::from(target.bits()) {
        return Err(at.error("this is shifted by 0 or 16 bits, or by 32 or 48 in a 64-bit register"));
    }
    let value = match stem {
        "MOVZ" => Expression::Constant(part << by),
        "MOVN" => Expression::Constant(!(part << by)),
        _ => {
            let rest = binary(Operator::And, target.read(), Expression::Constant(!(0xffff << by)));
            binary(Operator::Or, rest, Expression::Constant(part << by))
        }
    };
    target.write(value, column);
    Ok(())
}

fn product(stem: &str, cell: &mut Cursor<'_>, column: &mut Column<'_>) -> Result<(), ParseError> {
    let target = named(cell, column)?;
    cell.symbol(",")?;
    let left = of_same_width(target, cell, column)?.read();
    cell.symbol(",")?;
    let right = of_same_width(target, cell, column)?.read();
    let other = if stem.len() == 4 && stem != "MNEG" {
        cell.symbol(",")?;
        of_same_width(target, cell, column)?.read()
    } else {
        Expression::Constant(0)
    };
    let operator = if matches!(stem, "MUL" | "MADD") { Operator::Add } else { Operator::Subtract };
    target.write(binary(operator, other, binary(Operator::Multiply, left, right)), column);
    Ok(())
}

fn shift(stem: &str, cell: &mut Cursor<'_>, column: &mut Column<'_>) -> Result<(), ParseError> {
    let target = named(cell, column)?;
    cell.symbol(",")?;
    let source = of_same_width(target, cell, column)?;
    cell.symbol(",")?;
    let bits = i64::from(target.bits());
    let by = if number_is_next(cell) {
        Expression::Constant(number(cell, 0..bits)?)
    } else {
        let by = of_same_width(target, cell, column)?.read();
        binary(Operator::And, by, Expression::Constant(bits - 1))
    };
    let value = match stem {
        "LSL" => binary(Operator::ShiftLeft, source.read(), by),
        "LSR" => binary(Operator::ShiftRightZero, source.read_as(Extension::Zero), by),
        _ => binary(Operator::ShiftRight, source.read(), by),
    };
    target.write(value, column);
    Ok(())
}

/// UBFM and SBFM, and the other names that they have.
fn field(stem: &str, cell: &mut Cursor<'_>, column: &mut Column<'_>) -> Result<(), ParseError> {
    let target = named(cell, column)?;
    cell.symbol(",")?;
    let at = *cell;
    let source = named(cell, column)?;
    let extends = stem.contains("XT");
    if source.wide != target.wide && !(extends && target.wide) {
        return Err(at.error("the registers of this instruction differ in size"));
    }
    let bits = i64::from(target.bits());
    let (first, last) = match stem {
        "UXTB" | "SXTB" => (0, 7),
        "UXTH" | "SXTH" => (0, 15),
        "SXTW" => (0, 31),
        _ => {
            cell.symbol(",")?;
            let first = number(cell, 0..bits)?;
            cell.symbol(",")?;
            match stem.ends_with('X') {
                true => (first, first + number(cell, 1..bits + 1 - first)? - 1),
                false => (first, number(cell, 0..bits)?),
            }
        }
    };
    let extension = if stem.starts_with('S') { Extension::Signed } else { Extension::Zero };
    let value = if last >= first {
        let shifted = match first {
            0 => source.read(),
            _ => binary(Operator::ShiftRight, source.read(), Expression::Constant(first)),
        };
        extend(extension, (last - first + 1) as u32, shifted)
    } else {
        let low = extend(extension, (last + 1) as u32, source.read());
        binary(Operator::ShiftLeft, low, Expression::Constant(bits - first))
    };
    target.write(value, column);
    Ok(())
}

/// CSEL, and its relatives that change the second value.
fn select(stem: &str, cell: &mut Cursor<'_>, column: &mut Column<'_>) -> Result<(), ParseError> {
    let target = named(cell, column)?;
    cell.symbol(",")?;
    let changed = |stem: &str, operand: Operand| match stem {
        "INC" => binary(Operator::Add, operand, Expression::Constant(1)),
        "INV" => binary(Operator::Xor, operand, Expression::Constant(-1)),
        "NEG" => binary(Operator::Subtract, Expression::Constant(0), operand),
        _ => operand,
    };
    let values = match stem {
        "CSET" => [Expression::Constant(1), Expression::Constant(0)],
        "CSETM" => [Expression::Constant(-1), Expression::Constant(0)],
        "CINC" | "CINV" | "CNEG" => {
            let source = of_same_width(target, cell, column)?.read();
            [changed(&stem[1..], source.clone()), source]
        }
        _ => {
            let first = of_same_width(target, cell, column)?.read();
            cell.symbol(",")?;
            let second = of_same_width(target, cell, column)?.read();
            [first, changed(&stem[2..], second)]
        }
    };
    if !matches!(stem, "CSET" | "CSETM") {
        cell.symbol(",")?;
    }
    let condition = condition(cell, column)?;
    let chosen = column.thread.temporary();
    column.push(Instruction::Select { target: chosen, condition, values });
    target.write(Expression::Leaf(chosen), column);
    Ok(())
}
