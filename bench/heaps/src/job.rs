//! One sample: its job, its measurement, and its answer, as the bench asks and reads them.

use crate::clock::{processor_time, resident};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How much memory a heap may take: each system has a setting of its own for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    Small,
    Medium,
    Large,
}

/// One sample to take.
pub struct Job {
    pub system: String,
    pub workload: String,
    pub memory: Memory,
    /// How many threads do the work.
    pub workers: usize,
    /// How long the measured run lasts at least.
    target: Duration,
    params: BTreeMap<String, u64>,
}

/// The result of a sample.
#[derive(Serialize)]
pub struct Outcome {
    pub figures: Vec<Figure>,
    operations: u64,
    cpu_seconds: f64,
    rss_bytes: u64,
    checksum: Option<u64>,
}

#[derive(Serialize)]
pub struct Figure {
    name: &'static str,
    value: f64,
    p99: Option<f64>,
}

impl Figure {
    pub fn new(name: &'static str, value: f64) -> Self {
        Self { name, value, p99: None }
    }
}

impl Job {
    /// Reads `SYSTEM WORKLOAD MEMORY WORKERS MILLIS NAME=VALUE…`.
    pub fn parse(arguments: &[String]) -> Result<Self, String> {
        let [system, workload, memory, workers, millis, params @ ..] = arguments else {
            return Err("usage: SYSTEM WORKLOAD MEMORY WORKERS MILLIS [NAME=VALUE…]".into());
        };
        let number = |text: &str| text.parse::<u64>().map_err(|_| format!("'{text}' is not a number"));
        let memory = match memory.as_str() {
            "small" => Memory::Small,
            "medium" => Memory::Medium,
            "large" => Memory::Large,
            other => return Err(format!("'{other}' is none of small, medium and large")),
        };
        let param = |param: &String| {
            let (name, value) =
                param.split_once('=').ok_or_else(|| format!("'{param}' is not of the form NAME=VALUE"))?;
            Ok((name.to_owned(), number(value)?))
        };
        let workers = usize::try_from(number(workers)?).unwrap_or(0);
        if workers == 0 {
            return Err("the work needs a worker".into());
        }
        Ok(Self {
            system: system.clone(),
            workload: workload.clone(),
            memory,
            workers,
            target: Duration::from_millis(number(millis)?),
            params: params.iter().map(param).collect::<Result<_, String>>()?,
        })
    }

    /// Returns a parameter of the case.
    pub fn param(&self, name: &str) -> u64 {
        *self.params.get(name).unwrap_or_else(|| panic!("the parameter `{name}` is missing"))
    }

    /// Repeats `run` until the time asked for is over, and returns the milliseconds of a repetition. Each has to come to the same
    /// result, which is the checksum.
    pub fn milliseconds(&self, run: impl Fn() -> u64) -> Outcome {
        let (begun, processor_begun) = (Instant::now(), processor_time());
        let (mut operations, checksum) = (1, run());
        while begun.elapsed() < self.target {
            assert!(run() == checksum, "the result of another run differs");
            operations += 1;
        }
        let elapsed = begun.elapsed().as_secs_f64();
        let cpu = processor_time() - processor_begun;
        let figure = Figure::new("", elapsed * 1e3 / operations as f64);
        Outcome::new(vec![figure], operations, cpu).checked(Some(checksum))
    }
}

impl Outcome {
    pub fn new(figures: Vec<Figure>, operations: u64, cpu_seconds: f64) -> Self {
        Self { figures, operations, cpu_seconds, rss_bytes: resident(), checksum: None }
    }

    pub fn checked(self, checksum: Option<u64>) -> Self {
        Self { checksum, ..self }
    }
}
