//! Plots as SVG. Across, they are laid out in per cent, so that their text keeps its size on a
//! narrow screen.

mod bars;
mod lines;
mod scale;

pub(super) use bars::bars;
pub(super) use lines::{Series, lines};
use scale::Scale;
