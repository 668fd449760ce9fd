//! Limits for the functions that call themselves for nested data: the reader, the expander and the compiler.

use crate::value::Result;
use std::cell::Cell;
use std::ptr;

/// The most bytes of stack for a form of a program: half of the stack of a fiber.
const STACK: usize = 512 << 10;

/// The most calls for a form. Macros may multiply what they are given.
const CALLS: usize = 1_000_000;

thread_local! {
    /// Where the stack was when the form began, and the calls for it so far.
    static FORM: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

fn here() -> usize {
    let on_the_stack = 0_u8;
    ptr::from_ref(&on_the_stack).addr()
}

/// Begins another form of the program.
pub(crate) fn begin_form() {
    FORM.set((here(), 0));
}

/// Says that a function has been called for nested data.
pub(crate) fn go_deeper() -> Result<()> {
    let (start, calls) = FORM.get();
    FORM.set((start, calls + 1));
    match here().abs_diff(start) {
        STACK.. => Err("lists or expressions are too deep within each other".into()),
        _ if calls >= CALLS => Err(format!("a form whose macros expand to more than {CALLS} parts")),
        _ => Ok(()),
    }
}
