//! The code of a processor's test: one column for each thread, one line for each instruction.
//!
//! ```text
//!  P0          | P1          ;
//!  MOV [x],$1  | MOV [y],$1  ;
//!  MOV EAX,[y] | MOV EAX,[x] ;
//! ```

use std::ops::Range;

use super::condition;
use super::cursor::Cursor;
use super::lexer::{Spanned, Token};
use crate::litmus::error::{ParseError, Source, SourcePosition};
use crate::litmus::program::expression::{Expression, Extension, Operator};
use crate::litmus::program::{Instruction, Memory, Operand, Thread};

/// Reads the instructions of one processor.
pub(super) trait Assembler {
    /// Reads one instruction into the column.
    fn instruction(&mut self, cell: &mut Cursor<'_>, column: &mut Column<'_>) -> Result<(), ParseError>;
}

/// A jump to a label that may stand further below.
#[derive(Debug)]
struct Jump {
    line: usize,
    label: String,
    span: Range<usize>,
}

/// The thread that is being read.
#[derive(Debug)]
pub(super) struct Column<'a> {
    pub(super) thread: Thread,
    pub(super) memory: &'a mut Memory,
    pub(super) position: SourcePosition,
    labels: &'a mut Vec<(String, usize)>,
    jumps: &'a mut Vec<Jump>,
}

impl Column<'_> {
    /// Adds an instruction at the position of the one that is being read.
    pub(super) fn push(&mut self, instruction: Instruction) {
        self.thread.push(self.position, instruction);
    }

    /// Adds a jump to the label that comes next, taken if the condition is not 0.
    pub(super) fn jump(&mut self, condition: Operand, cell: &mut Cursor<'_>) -> Result<(), ParseError> {
        let span = cell.span();
        let label = cell.word("a label")?.to_owned();
        self.jumps.push(Jump { line: self.thread.code.len(), label, span });
        self.push(Instruction::Branch { condition, target: 0 });
        Ok(())
    }
}

/// Names, which no test can write, for the flags that an instruction sets.
const FLAGS: [&str; 4] = ["flag N", "flag Z", "flag C", "flag V"];

impl Column<'_> {
    /// Sets the flags as Armv8 does for `left - right`, which are numbers of 32 or 64 bits with
    /// copies of their sign.
    pub(super) fn compare(&mut self, left: Operand, right: Operand, bits: u32) {
        let difference = wrapped(binary(Operator::Subtract, left.clone(), right.clone()), bits);
        let negative = is_negative(difference);
        let less = binary(Operator::Less, left.clone(), right.clone());
        let carry = not(binary(Operator::Below, left.clone(), right.clone()));
        let zero = binary(Operator::Equal, left, right);
        let overflow = binary(Operator::NotEqual, less, negative.clone());
        self.set_flags([negative, zero, carry, overflow]);
    }

    /// Sets the flags for `left + right`, as `compare` does for the difference.
    pub(super) fn compare_sum(&mut self, left: Operand, right: Operand, bits: u32) {
        let sum = wrapped(binary(Operator::Add, left.clone(), right.clone()), bits);
        let carry = binary(Operator::Below, sum.clone(), left.clone());
        let differ = |one: &Operand| binary(Operator::Xor, one.clone(), sum.clone());
        let overflow = is_negative(binary(Operator::And, differ(&left), differ(&right)));
        let zero = binary(Operator::Equal, sum.clone(), Expression::Constant(0));
        self.set_flags([is_negative(sum), zero, carry, overflow]);
    }

    /// Sets the flags for a result that neither carries nor overflows.
    pub(super) fn compare_bits(&mut self, result: Operand, bits: u32) {
        let result = wrapped(result, bits);
        let zero = binary(Operator::Equal, result.clone(), Expression::Constant(0));
        self.set_flags([is_negative(result), zero, Expression::Constant(0), Expression::Constant(0)]);
    }

    fn set_flags(&mut self, values: [Operand; 4]) {
        // A flag may be computed from a register that is written next, but not from another flag.
        for (name, value) in FLAGS.iter().zip(values) {
            let target = self.thread.register(name);
            self.push(Instruction::Set { target, value });
        }
    }

    /// The condition on the flags with this name of Armv8.
    pub(super) fn compared(&mut self, name: &str) -> Option<Operand> {
        let [negative, zero, carry, overflow] =
            FLAGS.map(|name| Expression::Leaf(self.thread.register(name)));
        let differ = binary(Operator::NotEqual, negative.clone(), overflow.clone());
        let and = |left, right| binary(Operator::And, left, right);
        Some(match name {
            "EQ" => zero,
            "NE" => not(zero),
            "CS" | "HS" => carry,
            "CC" | "LO" => not(carry),
            "MI" => negative,
            "PL" => not(negative),
            "VS" => overflow,
            "VC" => not(overflow),
            "HI" => and(carry, not(zero)),
            "LS" => not(and(carry, not(zero))),
            "GE" => not(differ),
            "LT" => differ,
            "GT" => and(not(zero), not(differ)),
            "LE" => not(and(not(zero), not(differ))),
            "AL" => always(),
            _ => return None,
        })
    }
}

fn binary(operator: Operator, left: Operand, right: Operand) -> Operand {
    Expression::Binary(operator, Box::new(left), Box::new(right))
}

fn wrapped(value: Operand, bits: u32) -> Operand {
    if bits == 64 { value } else { Expression::Extend(Extension::Signed, bits, Box::new(value)) }
}

fn not(truth: Operand) -> Operand {
    binary(Operator::Equal, truth, Expression::Constant(0))
}

fn is_negative(value: Operand) -> Operand {
    binary(Operator::Less, value, Expression::Constant(0))
}

/// A condition that is always true.
pub(super) fn always() -> Operand {
    Expression::Constant(1)
}

/// Reads all columns.
pub(super) fn threads(
    cursor: &mut Cursor<'_>,
    memory: &mut Memory,
    assembler: &mut impl Assembler,
) -> Result<Vec<Thread>, ParseError> {
    let mut code = cursor.until(condition::begins);
    let count = head(&mut code)?;
    let rows = rows(&mut code, count)?;
    (0..count).map(|thread| column(rows.iter().map(|row| row[thread]), memory, assembler)).collect()
}

/// Reads the line `P0 | P1 ;` and returns the number of threads.
fn head(code: &mut Cursor<'_>) -> Result<usize, ParseError> {
    let mut count = 0;
    loop {
        let name = code.span();
        let found = code.word("`P0 | P1 ;`, the heads of the columns")?;
        if found != format!("P{count}") {
            return Err(code.source.error(name, format!("expected `P{count}`, found `{found}`")));
        }
        count += 1;
        if code.takes(";") {
            return Ok(count);
        }
        code.symbol("|").map_err(|error| error.help("the line with the threads ends with `;`"))?;
    }
}

/// Splits the code into lines and these into `count` cells.
fn rows<'a>(code: &mut Cursor<'a>, count: usize) -> Result<Vec<Vec<Cursor<'a>>>, ParseError> {
    let mut rows = Vec::new();
    while code.peek().is_some() {
        let start = *code;
        let mut cells = Vec::new();
        loop {
            cells.push(code.until(|token| matches!(token, Token::Symbol("|" | "||" | ";"))));
            match code.take() {
                Some(Token::Symbol("|")) => {}
                // Two bars with nothing in between.
                Some(Token::Symbol("||")) => cells.push(Cursor::new(code.source, &[] as &[Spanned<'_>])),
                Some(_) => break,
                None => {
                    let message = "expected `;` at the end of this line of code";
                    return Err(start
                        .error(message)
                        .help("a condition begins with exists, ~exists or forall"));
                }
            }
        }
        if cells.len() != count {
            let message = format!("this line has {} columns, but there are {count} threads", cells.len());
            return Err(start
                .error(message)
                .help("each line has one cell for each thread, and ends with `;`"));
        }
        rows.push(cells);
    }
    Ok(rows)
}

/// Reads one thread.
fn column<'a>(
    cells: impl Iterator<Item = Cursor<'a>>,
    memory: &mut Memory,
    assembler: &mut impl Assembler,
) -> Result<Thread, ParseError> {
    let (mut labels, mut jumps) = (Vec::new(), Vec::new());
    let mut column = Column {
        thread: Thread::default(),
        memory,
        position: SourcePosition::default(),
        labels: &mut labels,
        jumps: &mut jumps,
    };
    let mut source = Source("");
    for mut cell in cells {
        source = cell.source;
        while let (Some(Token::Word(label)), Some(Token::Symbol(":"))) = (cell.peek(), cell.peek_second()) {
            if column.labels.iter().any(|(known, _)| known == label) {
                return Err(cell.error(format!("the label `{label}` stands here a second time")));
            }
            column.labels.push((label.to_owned(), column.thread.code.len()));
            cell.take();
            cell.take();
        }
        if cell.peek().is_some() {
            column.position = cell.position();
            assembler.instruction(&mut cell, &mut column)?;
            cell.end()?;
        }
    }
    let mut thread = column.thread;
    for jump in jumps {
        let Some((_, line)) = labels.iter().find(|(label, _)| *label == jump.label) else {
            return Err(source.error(jump.span, format!("there is no label `{}` in this thread", jump.label)));
        };
        if let Instruction::Branch { target, .. } = &mut thread.code[jump.line].instruction {
            *target = *line;
        }
    }
    Ok(thread)
}
