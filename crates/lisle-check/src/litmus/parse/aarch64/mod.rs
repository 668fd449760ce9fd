//! The instructions of AArch64.
//!
//! A register is known by its 64-bit name. An instruction with the 32-bit name of its target makes
//! the upper half 0.

mod access;
mod arithmetic;
mod operands;

use super::columns::{Assembler, Column, always};
use super::cursor::Cursor;
use crate::litmus::error::ParseError;
use crate::litmus::program::expression::{Expression, Operator};
use crate::litmus::program::{Fence, Instruction, Operand};
use operands::{named, number};

const SUPPORTED: &str = "supported on AArch64: LDR, LDUR, LDAR, LDAPR, LDXR, LDAXR, STR, STUR, STLR, STXR, STLXR \
    with B and H, LDRSB, LDRSH, LDRSW, LDP, STP; SWP, CAS, LDADD, LDSET, LDCLR, LDEOR, STADD, STSET, STCLR, STEOR \
    with A, L and AL, B and H; MOV, MOVZ, MOVK, MOVN, MVN, NEG, ADD, SUB, AND, ORR, EOR, BIC, ORN, EON, MUL, MADD, \
    MSUB, LSL, LSR, ASR, UBFM, SBFM, UBFX, SBFX, UXTB, UXTH, SXTB, SXTH, SXTW, ADDS, SUBS, ANDS, BICS, CMP, CMN, \
    TST, CSEL, CSINC, CSINV, CSNEG, CSET, CSETM, CINC, CNEG, CBZ, CBNZ, TBZ, TBNZ, B, B.EQ and so on, labels, DMB \
    and DSB with SY, LD, ST, ISH, ISHLD, ISHST, ISB, NOP; addresses [X1], [X1,#4], [X1,X2], [X1,X2,LSL #2], \
    [X1,W2,SXTW], [X1,#4]! and [X1],#4";

/// The reader.
#[derive(Debug)]
pub(super) struct AArch64;

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
        "CBZ" | "CBNZ" => {
            let tested = named(cell, column)?.read();
            cell.symbol(",")?;
            column.jump(is_zero(name == "CBZ", tested), cell)?;
        }
        "TBZ" | "TBNZ" => {
            let tested = named(cell, column)?.read();
            cell.symbol(",")?;
            let bit = Expression::Constant(number(cell, 0..64)?);
            cell.symbol(",")?;
            let shifted = Expression::Binary(Operator::ShiftRight, Box::new(tested), Box::new(bit));
            let lowest =
                Expression::Binary(Operator::And, Box::new(shifted), Box::new(Expression::Constant(1)));
            column.jump(is_zero(name == "TBZ", lowest), cell)?;
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
        _ => {
            if let Some(condition) = name.strip_prefix('B').and_then(|name| column.compared(name)) {
                column.jump(condition, cell)?;
                return Ok(Some(()));
            }
            return match access::translate(name, cell, column)? {
                None => arithmetic::translate(name, cell, column),
                done => Ok(done),
            };
        }
    }
    Ok(Some(()))
}

/// Whether the operand is 0, or is not.
fn is_zero(truth: bool, operand: Operand) -> Operand {
    let operator = if truth { Operator::Equal } else { Operator::NotEqual };
    Expression::Binary(operator, Box::new(operand), Box::new(Expression::Constant(0)))
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
