//! Medians as bars with the range of the samples, the best first.

use super::Scale;
use crate::{
    report::{
        markup::escape,
        numbers::{number, round},
        summary::{Line, Stats, Table},
    },
    systems,
};

/// Pixels for a row: its text above its bar.
const ROW: usize = 38;
/// And for the marks and the title of the axis, below the last.
const FOOT: usize = 42;

/// The plot of the measured rows; empty, if there are none.
pub(crate) fn bars(table: &Table) -> String {
    let least = table.measured().map(|(_, stats)| stats.min).fold(f64::INFINITY, f64::min);
    let greatest = table.measured().map(|(_, stats)| stats.max).fold(0.0, f64::max);
    if greatest == 0.0 {
        return String::new();
    }
    let scale = Scale::covering(least, greatest);
    let height = ROW * table.measured().count();
    let rows: String =
        table.measured().enumerate().map(|(i, (line, stats))| row(i, line, stats, &scale)).collect();
    format!(
        "<p class=\"unit\">{}</p>\n\
         <svg class=\"plot\" width=\"100%\" height=\"{}\" role=\"img\" aria-label=\"{}\">\n{}{rows}</svg>\n",
        escape(&table.unit_title()),
        height + FOOT,
        escape(&table.title()),
        axis(&scale, table.unit().name, height),
    )
}

fn axis(scale: &Scale, unit: &str, height: usize) -> String {
    let mark = |(i, value): (usize, &f64)| {
        let x = scale.position(*value);
        // The outermost would be cut.
        let anchor = match i {
            0 if x < 5.0 => "start",
            _ if x > 95.0 => "end",
            _ => "middle",
        };
        format!(
            "<line class=\"grid\" x1=\"{x:.2}%\" x2=\"{x:.2}%\" y1=\"0\" y2=\"{}\"/>\
             <text class=\"mark\" x=\"{x:.2}%\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>\n",
            height + 4,
            height + 18,
            round(*value),
        )
    };
    let marks: String = scale.marks.iter().enumerate().map(mark).collect();
    format!(
        "{marks}<text class=\"mark\" x=\"50%\" y=\"{}\" text-anchor=\"middle\">{}{}</text>\n",
        height + 36,
        escape(unit),
        if scale.is_log { ", log scale" } else { "" },
    )
}

/// Short, since a page has hundreds of them; its numbers are in the table below the plot.
fn row(i: usize, line: &Line, stats: Stats, scale: &Scale) -> String {
    let Stats { median, min, max, behind, .. } = stats;
    let top = i * ROW;
    let (text, bar, middle) = (top + 15, top + 20, top + 26);
    let (low, end, high) = (scale.position(min), scale.position(median), scale.position(max));
    format!(
        "<g class=\"{}\"><text y=\"{text}\">{}</text>\
         <text x=\"100%\" y=\"{text}\" text-anchor=\"end\">{} <tspan class=\"behind\">{behind:.2}×</tspan></text>\
         <rect y=\"{bar}\" width=\"{end:.1}%\" height=\"12\" rx=\"1\"/>\
         <line class=\"range\" x1=\"{low:.1}%\" x2=\"{high:.1}%\" y1=\"{middle}\" y2=\"{middle}\"/></g>\n",
        if systems::is_own(line.system) { "row lisle" } else { "row" },
        escape(line.system),
        number(median),
    )
}
