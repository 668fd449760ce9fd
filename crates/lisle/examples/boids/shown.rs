//! The bytes that a browser receives: the agents of a frame, and the report of the frame.

use crate::flock::{Sight, compact};
use crate::grid::{HEIGHT, WIDTH};
use lisle::sync::OnceCell;
use lisle_frame::Report;
use std::sync::Arc;
use std::time::Duration;

/// The figures of a frame that the panel shows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Figures {
    pub(crate) report: Report,
    pub(crate) budget: Duration,
    /// The number of frames so far that have not kept the budget.
    pub(crate) late: u64,
    pub(crate) domains: usize,
    pub(crate) viewers: usize,
}

impl Figures {
    /// Returns the figures as JSON, all times in microseconds.
    pub(crate) fn json(&self) -> String {
        let us = |time: Duration| format!("{:.1}", time.as_secs_f64() * 1e6);
        let report = &self.report;
        let slowest = report.slowest.map_or("null".to_owned(), |(name, time)| {
            format!("{{\"name\":\"{}\",\"us\":{}}}", name.escape_default(), us(time))
        });
        let pairs = [
            ("frame", report.frame.to_string()),
            ("streams", report.streams.to_string()),
            ("calls", report.calls.to_string()),
            ("batches", report.batches.to_string()),
            ("stalls", report.stalls.to_string()),
            ("slowest", slowest),
            ("inStreams", us(report.in_streams)),
            ("waiting", us(report.waiting)),
            ("retiring", us(report.retiring)),
            ("total", us(report.total)),
            ("kept", report.within_budget.to_string()),
            ("budget", us(self.budget)),
            ("late", self.late.to_string()),
            ("domains", self.domains.to_string()),
            ("viewers", self.viewers.to_string()),
        ]
        .map(|(name, value)| format!("\"{name}\":{value}"));
        format!("{{{}}}", pairs.join(","))
    }
}

/// A frame that is shown.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) figures: Figures,
    sight: Arc<Sight>,
    /// The first connection that sends this frame makes the bytes. So a frame that no browser asks for
    /// costs nothing, and the world does not wait for the bytes.
    bytes: OnceCell<Vec<u8>>,
}

impl Shown {
    pub(crate) fn new(figures: Figures, sight: Arc<Sight>) -> Shown {
        Shown { figures, sight, bytes: OnceCell::new() }
    }

    /// Returns the bytes for a browser: the number of agents as a `u32`, their places as pairs of `u16`,
    /// their velocities as pairs of `i8`, and the figures as JSON. All numbers are little-endian and lie
    /// at multiples of their size.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get_or_init(|| {
            let boids = self.sight.grid.boids();
            let json = self.figures.json();
            let mut bytes = Vec::with_capacity(4 + 6 * boids.len() + json.len());
            bytes.extend_from_slice(&(boids.len() as u32).to_le_bytes());
            for boid in boids {
                let (x, y) = (boid.x * (65_536.0 / WIDTH), boid.y * (65_536.0 / HEIGHT));
                bytes.extend_from_slice(&(x as u16).to_le_bytes());
                bytes.extend_from_slice(&(y as u16).to_le_bytes());
            }
            for boid in boids {
                bytes.extend_from_slice(&compact(boid));
            }
            bytes.extend_from_slice(json.as_bytes());
            bytes
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flock::scattered;
    use crate::grid::Grid;

    #[test]
    fn a_frame_is_six_bytes_an_agent_and_its_figures() {
        let grid = Grid::of(&scattered(100));
        let first = grid.boids()[0];
        let mut figures = Figures::default();
        figures.report.frame = 7;
        figures.report.slowest = Some(("step", Duration::from_micros(3)));
        let shown = Shown::new(figures, Arc::new(Sight { grid, threat: None }));
        let bytes = shown.bytes();
        assert_eq!(bytes[..4], 100u32.to_le_bytes());
        let x = u16::from_le_bytes([bytes[4], bytes[5]]);
        assert!((f32::from(x) / 65_536.0 - first.x / WIDTH).abs() < 1e-4);
        assert_eq!(bytes[404..406], compact(&first));
        let json = std::str::from_utf8(&bytes[604..]).unwrap();
        assert!(json.starts_with("{\"frame\":7,"), "{json}");
        assert!(json.contains("\"slowest\":{\"name\":\"step\",\"us\":3.0}"), "{json}");
    }
}
