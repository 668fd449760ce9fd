//! Values over a parameter, a line for each system.

use super::Scale;
use crate::{
    report::{
        markup::escape,
        numbers::{number, round},
    },
    systems,
};

/// One system's dots and line: each has a value for each value of the parameter, or `None` if that
/// was not measured.
pub(crate) struct Series {
    pub(crate) system: &'static str,
    pub(crate) dots: Vec<Option<f64>>,
    pub(crate) line: Vec<Option<f64>>,
}

impl Series {
    /// The line leads from dot to dot.
    pub(crate) fn of(system: &'static str, points: Vec<Option<f64>>) -> Self {
        Series { system, line: points.clone(), dots: points }
    }
}

const TOP: f64 = 14.0;
const HEIGHT: f64 = 260.0;
const FOOT: f64 = 24.0;
/// Per cent of the width that is left free at the sides.
const SIDE: f64 = 10.0;

/// The plot of `all` over the parameter's `values`, and its legend; nothing, if there are no
/// points.
pub(crate) fn lines(title: &str, unit: &str, parameter: &str, values: &[u64], all: &[Series]) -> String {
    let points = || all.iter().flat_map(|series| series.dots.iter().chain(&series.line)).flatten().copied();
    let (least, greatest) = (points().fold(f64::INFINITY, f64::min), points().fold(0.0, f64::max));
    if greatest == 0.0 {
        return String::new();
    }
    let scale = Scale::covering(least, greatest);
    let log = if scale.is_log { ", log scale" } else { "" };
    // Lisle is drawn last, over the others.
    let (lisle, others): (Vec<_>, Vec<_>) = all.iter().partition(|series| series.system == "lisle");
    let drawn: String = others.into_iter().chain(lisle).map(|series| line(series, values, &scale)).collect();
    let legend: String = all.iter().map(entry).collect();
    format!(
        "<p class=\"unit\">{}{log}; {} not to scale</p>\n\
         <svg class=\"plot\" width=\"100%\" height=\"{}\" role=\"img\" aria-label=\"{}\">\n{}{}{drawn}</svg>\n\
         <ul class=\"legend\">{legend}</ul>\n",
        escape(unit),
        escape(parameter),
        TOP + HEIGHT + FOOT,
        escape(title),
        marks(&scale),
        parameters(parameter, values),
    )
}

/// In pixels from the top.
fn y(value: f64, scale: &Scale) -> f64 {
    TOP + HEIGHT * (1.0 - scale.position(value) / 100.0)
}

/// In per cent: the values of the parameter, one as far from the next as any other.
fn x(i: usize, count: usize) -> f64 {
    if count < 2 { 50.0 } else { SIDE + (100.0 - 2.0 * SIDE) * i as f64 / (count - 1) as f64 }
}

fn marks(scale: &Scale) -> String {
    let mark = |value: &f64| {
        let y = y(*value, scale);
        format!(
            "<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text class=\"mark\" x=\"0\" y=\"{:.1}\">{}</text>\n",
            y - 3.0,
            round(*value),
        )
    };
    scale.marks.iter().map(mark).collect()
}

fn parameters(name: &str, values: &[u64]) -> String {
    let label = |(i, value): (usize, &u64)| {
        format!(
            "<text class=\"mark\" x=\"{:.2}%\" y=\"{}\" text-anchor=\"middle\">{}={value}</text>\n",
            x(i, values.len()),
            TOP + HEIGHT + 18.0,
            escape(name),
        )
    };
    values.iter().enumerate().map(label).collect()
}

fn line(series: &Series, values: &[u64], scale: &Scale) -> String {
    let count = values.len();
    let at = |points: &[Option<f64>], i: usize| points[i].map(|value| (x(i, count), y(value, scale), value));
    let segment = |i: usize| {
        let ((x1, y1, _), (x2, y2, _)) = (at(&series.line, i)?, at(&series.line, i + 1)?);
        Some(format!("<line x1=\"{x1:.2}%\" y1=\"{y1:.1}\" x2=\"{x2:.2}%\" y2=\"{y2:.1}\"/>"))
    };
    let point = |i: usize| {
        let (x, y, value) = at(&series.dots, i)?;
        Some(format!(
            "<circle cx=\"{x:.2}%\" cy=\"{y:.1}\" r=\"3\"><title>{}, {}: {}</title></circle>",
            escape(series.system),
            values[i],
            number(value),
        ))
    };
    let segments: String = (0..count - 1).filter_map(segment).collect();
    let points: String = (0..count).filter_map(point).collect();
    format!("<g {}>{segments}{points}</g>\n", look(series.system))
}

fn entry(series: &Series) -> String {
    format!(
        "<li><svg width=\"28\" height=\"10\" aria-hidden=\"true\"><g {}><line x1=\"0\" y1=\"5\" x2=\"28\" y2=\"5\"/>\
         <circle cx=\"14\" cy=\"5\" r=\"3\"/></g></svg> {}</li>",
        look(series.system),
        escape(series.system),
    )
}

/// The same for a system in all plots: neighbours in the list differ in colour and in stroke.
fn look(system: &str) -> String {
    if system == "lisle" {
        return "class=\"line lisle\"".to_owned();
    }
    let index = systems::ALL.iter().position(|other| other.name == system).unwrap_or_default();
    let (hue, dash) = (index * 137 % 360, ["none", "6 3", "2 3"][index % 3]);
    format!("class=\"line\" style=\"--hue:{hue};--dash:{dash}\"")
}
