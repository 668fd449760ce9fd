//! The command `lisle`. Its one subcommand so far, `lisle serve DIR`, is a web server for static files, written
//! so that each of its parts is a fiber (or several) and all of them talk only through events.
//!
//! Exit codes: 0 after a shutdown asked for by a signal, 1 when something failed while running (the directory is
//! missing, the address is taken), 2 when the command line makes no sense.

#![forbid(unsafe_code)]

mod cli;
mod serve;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let outcome = match cli::Cli::parse().command {
        cli::Command::Serve(options) => serve::run(options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            serve::notice(format_args!("lisle: {error}"));
            ExitCode::FAILURE
        }
    }
}
