//! A small Scheme: closures, tail calls, continuations, hygienic macros, numbers, texts, vectors, hash tables.
//!
//! ```sh
//! cargo run --release -p lisle-heap --example lisp -- PROGRAM.scm   # runs a program
//! cargo run --release -p lisle-heap --example lisp                  # reads expressions, and prints their values
//! ```
//!
//! It shows how an interpreter uses the heap. `value` has the types of values. `read` makes data of text, `expand`
//! and `macros` resolve names, `compile` makes code, `machine` runs it in registers of the heap, and `natives`
//! has the functions of Rust. `prelude.scm` is the rest of the language, written in itself.

mod compile;
mod equal;
mod expand;
mod machine;
mod macros;
mod natives;
mod read;
mod scopes;
mod tables;
#[cfg(test)]
mod tests;
mod value;

use lisle_heap::{Heap, Scope};
use machine::Machine;
use std::io::{BufRead, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let heap = Heap::builder().name("lisp").build();
    heap.enter(|s| match std::env::args().nth(1) {
        Some(file) => run_file(s, &file),
        None => converse(s),
    })
}

fn run_file(s: &mut Scope<'_>, file: &str) -> ExitCode {
    let mut machine = Machine::new(s);
    let outcome = std::fs::read_to_string(file)
        .map_err(|why| format!("cannot read {file}: {why}"))
        .and_then(|text| machine.run_text(s, &text).map_err(|why| format!("{file}: {why}")));
    print!("{}", machine.out);
    if let Err(why) = outcome {
        eprintln!("{why}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Reads expressions, and prints their values.
fn converse(s: &mut Scope<'_>) -> ExitCode {
    let mut machine = Machine::new(s);
    let mut text = String::new();
    loop {
        print!("{}", if text.is_empty() { "> " } else { "  " });
        let _ = std::io::stdout().flush();
        if std::io::stdin().lock().read_line(&mut text).is_ok_and(|read| read == 0) {
            println!();
            return ExitCode::SUCCESS;
        }
        // An expression may take several lines.
        if text.matches('(').count() > text.matches(')').count() {
            continue;
        }
        let outcome = machine.run_text(s, &text);
        print!("{}", std::mem::take(&mut machine.out));
        match outcome {
            Ok(value) => println!("{value}"),
            Err(why) => println!("error: {why}"),
        }
        text.clear();
    }
}
