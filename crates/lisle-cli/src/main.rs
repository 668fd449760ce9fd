//! The command `lisle`. `lisle serve DIR` is a web server for static files: each of its parts is
//! one fiber or several, and all of them communicate only through events. `lisle check FILE` runs
//! litmus tests under memory models.
//!
//! Exit codes of `serve`: 0 after a shutdown by a signal, 1 if something failed at run time (the
//! directory is missing, the address is taken). Of `check`: 0 if every condition holds, 1 if one
//! does not, 2 if a file cannot be read, 3 if there is no verdict on a test. Of both: 2 if the command
//! line is invalid.

#![forbid(unsafe_code)]

mod check;
mod cli;
mod serve;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match cli::Cli::parse().command {
        cli::Command::Serve(options) => match serve::run(options) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                serve::notice(format_args!("lisle: {error}"));
                ExitCode::FAILURE
            }
        },
        cli::Command::Check(options) => check::run(&options),
    }
}
