//! The picture of the times.

use crate::compare::time;
use crate::load::Measured;
use std::fmt::Write;

const LEFT: f64 = 290.0;
const WIDTH: f64 = 430.0;
const ROW: f64 = 46.0;
const TOP: f64 = 40.0;
/// The ends of the axis, in microseconds: powers of ten.
const FROM: f64 = 100.0;
const TO: f64 = 10_000_000.0;

/// Draws a row for each server: a line from p50 over p99 to p99.9 of the light requests, on a logarithmic axis.
pub fn draw(rows: &[(&str, Measured)]) -> String {
    let height = TOP + ROW * rows.len() as f64 + 34.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 760 {height}\" font-family=\"system-ui, sans-serif\" \
         font-size=\"13\">\n<rect width=\"760\" height=\"{height}\" fill=\"#fff\"/>\n\
         <text x=\"16\" y=\"22\" font-weight=\"600\">How long light requests take beside heavy ones: p50, p99, p99.9</text>\n"
    );
    let bottom = TOP + ROW * rows.len() as f64;
    let mut tick = FROM;
    while tick <= TO {
        let (x, text) = (x(tick), axis(tick));
        writeln!(svg, "<path d=\"M{x:.1} {TOP}V{bottom}\" stroke=\"#ddd\"/>").unwrap();
        writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#555\">{text}</text>",
            bottom + 20.0
        )
        .unwrap();
        tick *= 10.0;
    }
    for (i, (text, row)) in rows.iter().enumerate() {
        let y = TOP + ROW * (i as f64 + 0.5);
        let colour = if text.starts_with("Lisle") { "#0a7d4f" } else { "#9a4a12" };
        let (p50, p99, p999) = (x(row.p50), x(row.p99), x(row.p999));
        let text = text.replace('`', "");
        writeln!(svg, "<text x=\"16\" y=\"{:.1}\">{text}</text>", y + 4.0).unwrap();
        writeln!(svg, "<path d=\"M{p50:.1} {y:.1}H{p999:.1}\" stroke=\"{colour}\" stroke-width=\"3\"/>")
            .unwrap();
        for (x, radius) in [(p50, 4.0), (p99, 7.0), (p999, 4.0)] {
            writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{colour}\"/>").unwrap();
        }
        let label = time(row.p99);
        writeln!(
            svg,
            "<text x=\"{p99:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"{colour}\">{label}</text>",
            y - 11.0
        )
        .unwrap();
    }
    svg.push_str("</svg>\n");
    svg
}

fn x(micros: f64) -> f64 {
    LEFT + WIDTH * (micros / FROM).log10().max(0.0) / (TO / FROM).log10()
}

fn axis(micros: f64) -> String {
    match micros {
        ..1_000.0 => format!("{micros} µs"),
        ..1_000_000.0 => format!("{} ms", micros / 1e3),
        _ => format!("{} s", micros / 1e6),
    }
}
