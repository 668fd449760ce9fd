#![doc = include_str!("README.md")]

mod condition;
mod error;
mod execution;
mod model;
mod outcome;
mod parse;
mod program;
mod run;

pub use condition::Quantifier;
pub use error::{ParseError, SourcePosition};
pub use model::{Model, UnknownModel};
pub use outcome::{Access, FinalState, Observation, Outcome, Race};
pub use program::Architecture;
pub use run::{Misplaced, RunError, Test};
