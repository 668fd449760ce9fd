//! Litmus tests from outside: the outcomes that papers and catalogues give for the known shapes,
//! under each model; the files of this crate under the models of their own; machines that run the
//! same programs; texts that are wrong.

mod counts;
mod files;
mod machines;
mod mistakes;
mod support;
mod table;
