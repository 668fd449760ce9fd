//! A program: what all of its fibers share, and how its forms are loaded.

use crate::compile::Compiler;
use crate::depth::begin_form;
use crate::expand::{Expander, Lambda};
use crate::machine::Machine;
use crate::natives::NATIVES;
use crate::read::{Reader, Symbols};
use crate::value::*;
use lisle::fiber::checkpoint;
use lisle_heap::{Heap, Scope};
use std::iter::Peekable;
use std::str::Chars;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

pub(crate) struct Program {
    pub(crate) heap: Heap,
    pub(crate) symbols: Symbols,
    /// Fibers that are left then end.
    pub(crate) has_ended: AtomicBool,
    /// Prints what `display` and `write` are given.
    pub(crate) print: fn(&str),
}

/// Loads and runs the forms of a program, one after the other.
pub(crate) struct Loader<'r> {
    machine: Machine<'r>,
    expander: Expander,
}

impl Drop for Loader<'_> {
    fn drop(&mut self) {
        self.expander.program.has_ended.store(true, Relaxed);
    }
}

impl<'r> Loader<'r> {
    pub(crate) fn new(s: &mut Scope<'r>, heap: &Heap, print: fn(&str)) -> Self {
        let (heap, symbols, has_ended) = (heap.clone(), Symbols::default(), AtomicBool::new(false));
        let program = Arc::new(Program { heap, symbols, has_ended, print });
        for (number, (name, ..)) in (0_u16..).zip(NATIVES) {
            s.scope(|s| program.symbols.intern(s, name).get(s).value.set(s, number));
        }
        let machine = Machine::new(s, &program);
        let mut loader = Self { machine, expander: s.scope(|s| Expander::new(s, program)) };
        loader.run_text(s, include_str!("prelude.scm")).expect("the prelude is right");
        loader
    }

    /// Runs all forms of a text. Returns the last value as `write` prints it.
    pub(crate) fn run_text(&mut self, s: &mut Scope<'r>, text: &str) -> Result<String> {
        let mut text = text.chars().peekable();
        let mut last = String::new();
        while s.scope(|s| self.load(s, &mut text))? {
            self.machine.run(s, 0)?;
            s.outside(checkpoint);
            last.clear();
            print(&mut last, self.machine.regs.get(s, 0), true, MOST_PRINTED);
        }
        Ok(last)
    }

    /// Reads the next form, and begins a call of its code. Returns `false` at the end of the text.
    fn load(&mut self, s: &mut Scope<'_>, text: &mut Peekable<Chars<'_>>) -> Result<bool> {
        begin_form();
        let mut reader = Reader { text, symbols: &self.expander.program.symbols };
        let Some(form) = reader.read(s)? else { return Ok(false) };
        let body = self.expander.top(s, form)?;
        let code = Lambda { parameters: Vec::new(), rest: None, body };
        let (closure, _) = Compiler { s, assigned: &self.expander.assigned }.function(&code)?;
        self.machine.begin(s, closure);
        Ok(true)
    }
}
