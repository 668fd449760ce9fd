//! The operations on the world: standard output and input, and files.
//!
//! Each operation is one method of [`World`](crate::task::World), so that tests give a program a
//! world of their own.

use super::Request;
use super::operation::{Op, OpV, ask_for, tell};

/// Returns the operation that prints `text`. No line end is added.
///
/// # Examples
///
/// ```
/// use lisle_check::task::{InMemory, exit, print, run_in};
///
/// let outcome = run_in(InMemory::new(), print("Hello World").then(exit(0)));
/// assert_eq!((outcome.output.as_str(), outcome.exit_code()), ("Hello World", Some(0)));
/// ```
#[track_caller]
pub fn print(text: impl Into<String>) -> Op {
    tell(Request::Print(text.into().into()))
}

/// Returns the operation that gives the next line of standard input without its end, or `None` at
/// the end of input.
///
/// # Examples
///
/// ```
/// use lisle_check::{steps, task::{InMemory, exit, print, read_line, run_in}};
///
/// let greet = steps! {
///     let name = read_line();
///     print(format!("Hello {}", name.unwrap_or_default()));
///     exit(0)
/// };
/// assert_eq!(run_in(InMemory::new().with_line("Ada"), greet).output, "Hello Ada");
/// ```
#[track_caller]
pub fn read_line() -> OpV<Option<String>> {
    ask_for(Request::ReadLine)
}

/// Returns the operation that adds `text` to the end of the file, which it makes if there is none.
#[track_caller]
pub fn append(file: impl Into<String>, text: impl Into<String>) -> Op {
    tell(Request::Append { file: file.into().into(), text: text.into().into() })
}

/// Returns the operation that gives the text of the file, or `None` if there is no such file.
#[track_caller]
pub fn read_file(file: impl Into<String>) -> OpV<Option<String>> {
    ask_for(Request::ReadFile(file.into().into()))
}
