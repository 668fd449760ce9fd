//! The outcomes of programs under the memory models.

mod cells;
mod exchanges;
mod language;
mod library;
mod mixed;
mod random;
mod shapes;
mod spins;
mod structures;
mod together;
