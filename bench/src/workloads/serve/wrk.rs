//! The load by wrk, which costs less than ours, and which its users know.

use super::{
    load::{Answers, Load},
    process,
    site::{FILE, LENGTH, Site},
};
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

/// Prints the results at the end, as JSON. A script without functions for requests and answers does
/// not slow wrk down.
const SCRIPT: &str = r#"
done = function(summary, latency)
  local errors = summary.errors
  print(string.format('{"requests":%d,"microseconds":%d,"bytes":%d,"percentiles":[%f,%f,%f],' ..
    '"errors":{"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d}}',
    summary.requests, summary.duration, summary.bytes,
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9),
    errors.connect, errors.read, errors.write, errors.status, errors.timeout))
end
"#;

#[derive(Deserialize)]
struct Summary {
    requests: u64,
    microseconds: u64,
    bytes: u64,
    percentiles: [f64; 3],
    errors: BTreeMap<String, u64>,
}

pub(super) fn find() -> Option<PathBuf> {
    process::find("wrk")
}

pub(super) fn run(wrk: &Path, load: &Load, site: &Site, duration: Duration) -> Result<Answers, String> {
    let script = site.work("report.lua");
    fs::write(&script, SCRIPT).map_err(|error| format!("{}: {error}", script.display()))?;
    // It counts in whole seconds.
    let seconds = duration.as_secs_f64().ceil();
    let mut command = Command::new(wrk);
    command
        .arg(format!("-t{}", load.threads))
        .arg(format!("-c{}", load.connections))
        .arg(format!("-d{seconds}s"));
    command.arg("-s").arg(&script).arg(format!("http://{}/{FILE}", load.address));
    crate::runner::process::end_with_us(&mut command);
    let output = command.output().map_err(|error| format!("wrk cannot be run: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("wrk failed: {}", said.lines().last().unwrap_or("it says nothing")));
    }
    parse(&String::from_utf8_lossy(&output.stdout))
}

/// The line of our script, after wrk's own lines.
fn parse(output: &str) -> Result<Answers, String> {
    let line = output.lines().rfind(|line| line.starts_with('{')).ok_or("wrk has not reported")?;
    let summary: Summary = serde_json::from_str(line).map_err(|error| format!("wrk reports: {error}"))?;
    let errors: Vec<String> = summary
        .errors
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(kind, count)| format!("{kind} {count}"))
        .collect();
    if !errors.is_empty() {
        return Err(format!("wrk counts errors: {}", errors.join(", ")));
    }
    // wrk does not look at the answers.
    if summary.requests == 0 || summary.bytes < summary.requests * LENGTH as u64 {
        return Err(format!("wrk got {} bytes in {} answers", summary.bytes, summary.requests));
    }
    Ok(Answers {
        requests: summary.requests,
        elapsed: Duration::from_micros(summary.microseconds),
        percentiles: summary.percentiles,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(bytes: u64, status: u64) -> String {
        format!(
            "Running 2s test @ http://127.0.0.1:8099/10k.html\n  1 threads and 64 connections\n\
             {{\"requests\":100,\"microseconds\":2000123,\"bytes\":{bytes},\"percentiles\":[870.0,1853.5,20000.0],\
             \"errors\":{{\"connect\":0,\"read\":0,\"write\":0,\"status\":{status},\"timeout\":0}}}}\n"
        )
    }

    #[test]
    fn a_report_is_read() {
        let answers = parse(&report(1_100_000, 0)).unwrap();
        assert_eq!(answers.requests, 100);
        assert_eq!(answers.elapsed, Duration::from_micros(2_000_123));
        assert_eq!(answers.percentiles, [870.0, 1853.5, 20000.0]);
    }

    #[test]
    fn errors_make_it_fail() {
        assert_eq!(parse(&report(1_100_000, 3)).unwrap_err(), "wrk counts errors: status 3");
        assert_eq!(parse(&report(1000, 0)).unwrap_err(), "wrk got 1000 bytes in 100 answers");
        assert_eq!(parse("unable to connect").unwrap_err(), "wrk has not reported");
    }
}
