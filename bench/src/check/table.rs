//! The comparison as text.

use super::Compared;
use super::sample::{Answer, Sample};
use crate::report::number;
use std::fmt::Write;

/// Returns the table of a program.
pub(super) fn table(compared: &Compared) -> String {
    let mut text = format!("\n{}\n", compared.program);
    let _ = writeln!(
        text,
        "  {:<15} {:>11} {:>10} {:>10} {:>10} {:>11}  found",
        "", "executions", "ms", "min", "max", "a second"
    );
    for (tool, samples) in &compared.tools {
        let _ = writeln!(text, "  {tool:<15} {}", row(samples));
    }
    text
}

fn row(samples: &[Sample]) -> String {
    let mut answers = Vec::new();
    for sample in samples {
        match sample {
            Sample::Answered(answer) => answers.push(answer),
            Sample::Broken(why) => return why.clone(),
        }
    }
    let Some(last) = answers.last() else { return String::new() };
    // A program that cannot run says so at once.
    if let Some(refused) = last.found.as_deref().filter(|found| is_refusal(found)) {
        return format!("cannot run it: {refused}");
    }
    if !last.ended {
        let Answer { executions, seconds, .. } = last;
        let rate = *executions as f64 / seconds;
        return format!(
            "{:>11} {:>10} {:>10} {:>10} {:>11}  not ended",
            format!("> {executions}"),
            number(seconds * 1e3),
            "",
            "",
            number(rate)
        );
    }
    let mut times: Vec<f64> = answers.iter().map(|answer| answer.seconds * 1e3).collect();
    let mut executions: Vec<f64> = answers.iter().map(|answer| answer.executions as f64).collect();
    let mut rates: Vec<f64> =
        answers.iter().map(|answer| answer.executions as f64 / answer.seconds).collect();
    for figures in [&mut times, &mut executions, &mut rates] {
        figures.sort_by(f64::total_cmp);
    }
    let median = |figures: &[f64]| figures[figures.len() / 2];
    format!(
        "{:>11} {:>10} {:>10} {:>10} {:>11}  {}",
        median(&executions),
        number(median(&times)),
        number(times[0]),
        number(times[times.len() - 1]),
        number(median(&rates)),
        if answers.iter().all(|answer| answer.found.is_some()) { "yes" } else { "-" }
    )
}

/// Returns `true` if a tool has said that it has no room for that many threads.
fn is_refusal(found: &str) -> bool {
    found.contains("threads.len() < self.max()") || found.contains("max_threads")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(executions: u64, seconds: f64, ended: bool, found: Option<&str>) -> Sample {
        Sample::Answered(Answer { executions, seconds, ended, found: found.map(str::to_owned) })
    }

    #[test]
    fn the_row_of_a_tool_has_medians_and_says_what_did_not_end() {
        let three =
            [answered(9, 0.3, true, None), answered(7, 0.1, true, None), answered(8, 0.2, true, None)];
        let columns: Vec<_> = row(&three).split_whitespace().map(str::to_owned).collect();
        assert_eq!(columns[0], "8");
        assert_eq!(columns.last().unwrap(), "-");
        assert!(row(&[answered(70, 2.0, false, None)]).contains("> 70"));
        assert!(row(&[answered(2, 0.1, true, Some("deadlock"))]).ends_with("yes"));
        let none = row(&[answered(1, 0.1, true, Some("assertion failed: self.threads.len() < self.max()"))]);
        assert!(none.starts_with("cannot run it"), "{none}");
    }
}
