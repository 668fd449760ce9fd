//! The totals: the counts of each domain while it serves, and the summary that is printed after
//! they have been added up.

use std::fmt;
use std::time::Duration;

use hdrhistogram::Histogram;

use super::log::line::Record;

/// The longest latency that is recorded exactly. Longer ones count as this one.
const LONGEST: Duration = Duration::from_secs(3600);

/// The percentiles that are shown. The mean is not shown, because it hides the interesting values.
const PERCENTILES: [(&str, f64); 5] =
    [("p50", 0.50), ("p90", 0.90), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0)];

/// Counts over some requests.
#[derive(Debug)]
pub(crate) struct Totals {
    requests: u64,
    bytes: u64,
    /// Responses by the first digit of their status, 1 to 5.
    classes: [u64; 5],
    incomplete: u64,
    /// Connections beyond the limit.
    pub(crate) refused: u64,
    /// Lines of the access log that were not written because standard output did not take them.
    pub(crate) dropped_lines: u64,
    latency: Histogram<u64>,
}

impl Totals {
    pub(crate) fn new() -> Totals {
        // Nanoseconds with three significant digits take some 250 KiB per domain, and recording
        // never allocates.
        let latency =
            Histogram::new_with_bounds(1, LONGEST.as_nanos() as u64, 3).expect("the bounds are in order");
        Totals {
            requests: 0,
            bytes: 0,
            classes: [0; 5],
            incomplete: 0,
            refused: 0,
            dropped_lines: 0,
            latency,
        }
    }

    /// Counts one request.
    pub(crate) fn count(&mut self, record: &Record) {
        self.requests += 1;
        self.bytes += record.bytes;
        self.incomplete += u64::from(!record.complete);
        if let Some(class) = self.classes.get_mut(usize::from(record.status / 100).wrapping_sub(1)) {
            *class += 1;
        }
        self.latency.saturating_record(u64::try_from(record.took.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Adds the counts of another domain.
    pub(crate) fn add(&mut self, other: &Totals) {
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.incomplete += other.incomplete;
        self.refused += other.refused;
        self.dropped_lines += other.dropped_lines;
        for (class, more) in self.classes.iter_mut().zip(other.classes) {
            *class += more;
        }
        self.latency.add(&other.latency).expect("all histograms have the same bounds");
    }

    /// Returns the totals as one JSON object, without a line end.
    pub(crate) fn json(&self) -> String {
        let percentiles: serde_json::Map<String, serde_json::Value> = PERCENTILES
            .iter()
            .map(|(name, quantile)| {
                ((*name).to_owned(), (self.latency.value_at_quantile(*quantile) / 1000).into())
            })
            .collect();
        serde_json::json!({
            "requests": self.requests,
            "bytes": self.bytes,
            "statuses": {
                "1xx": self.classes[0],
                "2xx": self.classes[1],
                "3xx": self.classes[2],
                "4xx": self.classes[3],
                "5xx": self.classes[4],
            },
            "incomplete": self.incomplete,
            "refused": self.refused,
            "dropped_lines": self.dropped_lines,
            "latency_micros": percentiles,
        })
        .to_string()
    }
}

/// Formats the totals for a user.
impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.requests == 1 { "" } else { "s" };
        write!(f, "{} request{plural}, {} bytes", self.requests, self.bytes)?;
        for (class, count) in (1..).zip(self.classes).filter(|(_, count)| *count > 0) {
            write!(f, ", {count} with status {class}xx")?;
        }
        for (count, what) in [
            (self.incomplete, "not sent to the end"),
            (self.refused, "connections over the limit"),
            (self.dropped_lines, "log lines dropped"),
        ] {
            if count > 0 {
                write!(f, ", {count} {what}")?;
            }
        }
        if self.requests > 0 {
            write!(f, "\nlatency")?;
            for (position, (name, quantile)) in PERCENTILES.iter().enumerate() {
                let separator = if position == 0 { " " } else { ", " };
                let value = Duration::from_nanos(self.latency.value_at_quantile(*quantile));
                write!(f, "{separator}{name} {value:.1?}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::log::line::RequestText;
    use super::*;

    fn record(status: u16, took: Duration) -> Record {
        Record {
            peer: "[::1]:1".parse().unwrap(),
            request: RequestText::new(b"GET", b"/"),
            status,
            bytes: 100,
            took,
            complete: status != 500,
        }
    }

    fn totals(count: u64) -> Totals {
        let mut totals = Totals::new();
        for micros in 1..=count {
            totals.count(&record(200, Duration::from_micros(micros)));
        }
        totals
    }

    #[test]
    fn percentiles() {
        let value: serde_json::Value = serde_json::from_str(&totals(1000).json()).unwrap();
        let micros = &value["latency_micros"];
        for (name, expected) in [("p50", 500), ("p90", 900), ("p99", 990), ("p99.9", 999), ("max", 1000)] {
            let found = micros[name].as_u64().unwrap();
            assert!(found.abs_diff(expected) <= 1 + expected / 500, "{name} is {found}");
        }
    }

    #[test]
    fn domains_add_up() {
        let mut sum = totals(10);
        let mut other = totals(5);
        other.count(&record(404, Duration::from_secs(2)));
        other.count(&record(500, Duration::from_secs(100_000)));
        other.refused = 3;
        sum.add(&other);
        let value: serde_json::Value = serde_json::from_str(&sum.json()).unwrap();
        assert_eq!(value["requests"], 17);
        assert_eq!(value["bytes"], 1700);
        assert_eq!(value["statuses"]["2xx"], 15);
        assert_eq!(value["statuses"]["4xx"], 1);
        assert_eq!(value["incomplete"], 1);
        assert_eq!(value["refused"], 3);
        let text = sum.to_string();
        assert!(text.starts_with(
            "17 requests, 1700 bytes, 15 with status 2xx, 1 with status 4xx, 1 with status 5xx, \
             1 not sent to the end, 3 connections over the limit\nlatency p50 "
        ));
    }

    #[test]
    fn nothing_served() {
        assert_eq!(Totals::new().to_string(), "0 requests, 0 bytes");
    }
}
