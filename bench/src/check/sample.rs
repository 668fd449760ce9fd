//! The result of one exploration.

use crate::runner::process::Ended;
use serde::Deserialize;

/// The answer of the program that takes samples.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Answer {
    pub(super) executions: u64,
    pub(super) seconds: f64,
    pub(super) ended: bool,
    /// The failure.
    pub(super) found: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) enum Sample {
    Answered(Answer),
    /// It has not answered, for this reason.
    Broken(String),
}

impl Sample {
    /// The last line that a process has printed is its answer.
    pub(super) fn read(ended: &Ended) -> Sample {
        let answer = ended.stdout.lines().next_back().and_then(|line| serde_json::from_str(line).ok());
        match (answer, &ended.status) {
            (Some(answer), _) => Sample::Answered(answer),
            (None, None) => Sample::Broken("has neither ended nor given up".to_owned()),
            (None, Some(status)) => Sample::Broken(format!("has not answered ({status})")),
        }
    }

    /// Returns `true` if all was explored, or something was found.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self, Sample::Answered(Answer { ended: true, .. }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(stdout: &str) -> Sample {
        Sample::read(&Ended { status: None, stdout: stdout.to_owned(), stderr: String::new() })
    }

    #[test]
    fn the_last_line_is_the_answer() {
        let line = r#"{"executions":7,"seconds":0.5,"ended":true,"found":"deadlock"}"#;
        let Sample::Answered(answer) = read(&format!("of the tool\n{line}\n")) else { panic!() };
        assert_eq!((answer.executions, answer.found.as_deref()), (7, Some("deadlock")));
        assert!(matches!(read("killed"), Sample::Broken(_)));
    }
}
