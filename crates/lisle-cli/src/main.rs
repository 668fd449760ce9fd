//! The command `lisle`. Its only subcommand, `lisle serve DIR`, is a web server for static files.
//! Each of its parts is one fiber or several, and all of them communicate only through events.
//!
//! Exit codes: 0 after a shutdown by a signal, 1 if something failed at run time (the directory is
//! missing, the address is taken), 2 if the command line is invalid.

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
