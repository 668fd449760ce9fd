//! All rows as a picture: a dot for each, and a strip for each chapter.

use super::middle::{Compared, middle};
use crate::report::{markup::escape, numbers::ratio, summary::Table};
use std::fmt::Write;

const WIDTH: f64 = 920.0;
/// Where the axis begins and ends.
const AXIS: (f64, f64) = (320.0, 900.0);
/// How many times Lisle is ahead, there.
const TIMES: (f64, f64) = (1.0 / 16.0, 64.0);
const STRIP: f64 = 58.0;
const TOP: f64 = 34.0;

/// Draws the chapters, which have titles, as a file of its own.
pub(super) fn file(chapters: &[(String, &[Table])]) -> String {
    picture(chapters).replacen("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" ", 1)
}

/// Draws them as a part of a page. It needs no other file, and is legible on light and dark pages.
pub(super) fn picture(chapters: &[(String, &[Table])]) -> String {
    let height = TOP + STRIP * chapters.len() as f64 + 30.0;
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         font-family=\"system-ui, sans-serif\" font-size=\"13\" fill=\"#808080\">\n\
         <title>How many times Lisle is ahead of the fastest other, in each row of the benchmarks</title>\n"
    );
    for power in -4..=6 {
        let times = 2f64.powi(power);
        let (x, bottom) = (place(times), height - 24.0);
        let width = if power == 0 { 2.0 } else { 0.5 };
        // Values beyond the scale stand at the edges.
        let name = match power {
            -4 => "≤ 1/16".to_owned(),
            6 => "≥ 64".to_owned(),
            ..0 => format!("1/{}", 1 << -power),
            _ => (1 << power).to_string(),
        };
        let _ = writeln!(
            svg,
            "<path d=\"M{x:.1} {TOP}V{bottom}\" stroke=\"#808080\" stroke-width=\"{width}\"/>\
             <text x=\"{x:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{name}</text>",
            height - 8.0
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"18\" text-anchor=\"end\">the fastest other is ahead ◂</text>\
         <text x=\"{:.1}\" y=\"18\">▸ Lisle is ahead so many times</text>",
        place(1.0) - 8.0,
        place(1.0) + 8.0
    );
    for (index, (title, tables)) in chapters.iter().enumerate() {
        strip(&mut svg, TOP + STRIP * (index as f64 + 0.5), title, tables);
    }
    svg + "</svg>\n"
}

fn strip(svg: &mut String, y: f64, title: &str, tables: &[Table]) {
    let mut all: Vec<f64> = tables.iter().filter_map(Compared::of).map(|compared| compared.times).collect();
    all.sort_by(f64::total_cmp);
    let Some(middle) = middle(tables.iter()) else { return };
    let _ = writeln!(
        svg,
        "<text x=\"0\" y=\"{:.0}\">{}</text><text x=\"0\" y=\"{:.0}\" font-size=\"11\">{} rows, in the middle {}</text>",
        y - 2.0,
        escape(title),
        y + 14.0,
        all.len(),
        ratio(middle.times)
    );
    // Dots that would cover each other stand above and below.
    let mut before = (f64::NEG_INFINITY, 0);
    for times in all {
        let x = place(times);
        let rank = if x - before.0 < 5.0 { before.1 + 1 } else { 0 };
        before = if rank == 0 { (x, 0) } else { (before.0, rank) };
        let offset = f64::from((rank + 1) / 2) * 5.0 * if rank % 2 == 0 { 1.0 } else { -1.0 };
        let colour = if times < 1.0 / 1.2 {
            "#d2691e"
        } else if times > 1.2 {
            "#2e8b7a"
        } else {
            "#9a9a9a"
        };
        let _ = writeln!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{:.1}\" r=\"2.6\" fill=\"{colour}\"/>",
            y + offset.clamp(-24.0, 24.0)
        );
    }
}

/// Where on the axis.
fn place(times: f64) -> f64 {
    let part = (times.clamp(TIMES.0, TIMES.1) / TIMES.0).ln() / (TIMES.1 / TIMES.0).ln();
    AXIS.0 + part * (AXIS.1 - AXIS.0)
}
