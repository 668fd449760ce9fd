//! A small Scheme: closures, tail calls, continuations, hygienic macros, numbers, texts, vectors, hash tables; and
//! fibers, channels and `pmap`, which use all domains and share one heap.
//!
//! ```sh
//! cargo run --release -p lisle-heap --example lisp -- PROGRAM.scm   # runs a program
//! cargo run --release -p lisle-heap --example lisp                  # reads expressions, and prints their values
//! ```
//!
//! It shows how an interpreter uses the heap. `value` has the types of values. `read` makes data of text, `expand`
//! and `macros` resolve names, `compile` makes code, `machine` runs it in registers of the heap, and `natives`
//! and `fibers` have the functions of Rust. `prelude.scm` is the rest of the language, written in itself.
//! `sieve.scm` is a program of many fibers.

mod compile;
mod depth;
mod equal;
mod expand;
mod fibers;
mod machine;
mod macros;
mod natives;
mod program;
mod read;
mod scopes;
mod tables;
#[cfg(test)]
mod tests;
mod value;

use lisle::Runtime;
use lisle_heap::{Heap, Scope};
use program::Loader;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let heap = Heap::builder().name("lisp").build();
    let run = || {
        heap.enter(|s| {
            let loader = Loader::new(s, &heap, |text| print!("{text}"));
            match std::env::args().nth(1) {
                Some(file) => run_file(s, loader, &file),
                None => converse(s, loader),
            }
        })
    };
    // Only fibers wake fibers here, so the runtime knows when all wait.
    Runtime::builder().closed_world(true).try_run(run).unwrap_or_else(|deadlock| {
        eprintln!("{deadlock}");
        ExitCode::FAILURE
    })
}

fn run_file<'r>(s: &mut Scope<'r>, mut loader: Loader<'r>, file: &str) -> ExitCode {
    let outcome = std::fs::read_to_string(file).map_err(|why| why.to_string());
    match outcome.and_then(|text| loader.run_text(s, &text)) {
        Ok(_) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{file}: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Reads expressions, and prints their values.
fn converse<'r>(s: &mut Scope<'r>, mut loader: Loader<'r>) -> ExitCode {
    let mut text = String::new();
    loop {
        print!("{}", if text.is_empty() { "> " } else { "  " });
        let _ = std::io::stdout().flush();
        // A thread reads, so that fibers run meanwhile.
        let line = s.outside(|| lisle::thread::spawn(|| std::io::stdin().lines().next()).join());
        let Ok(Some(Ok(line))) = line else {
            println!();
            return ExitCode::SUCCESS;
        };
        text += &line;
        text.push('\n');
        // An expression may take several lines.
        if text.matches('(').count() > text.matches(')').count() {
            continue;
        }
        match loader.run_text(s, &text) {
            Ok(value) => println!("{value}"),
            Err(why) => println!("error: {why}"),
        }
        text.clear();
    }
}
