//! Litmus tests from outside: the outcomes that papers and catalogues give for the known shapes,
//! under each model; the files of this crate under the models of their own; machines that run the
//! same programs; instructions and types; texts that are wrong, or have no verdict.

mod counts;
mod files;
mod instructions;
mod linux;
mod machines;
mod mistakes;
mod parts;
mod refusals;
mod sizes;
mod support;
mod table;
