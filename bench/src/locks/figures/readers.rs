//! The figures of a contest for a readers-writer lock, for readers and for writers. Is a writer
//! starved? Then its waits are long, and its share of the locks is small.
//!
//! There are no idle times: a reader does not know whether others still read.

use super::{
    DURATION, FAIRNESS, Figure, KEPT, PROCESSOR, THROUGHPUT, TIME, Unit, Waits, figure, named, percentiles,
};
use crate::locks::contest::Outcome as Contested;

/// The number of locks for writing in a second. A writer without any lock counts as if it had one:
/// a figure is greater than 0.
pub(crate) const WRITES: &str = "writes";

/// The names of one side's waits: percentiles, and the longest.
pub(crate) struct Side {
    pub(crate) percentiles: [(&'static str, f64); 3],
    pub(crate) longest: [&'static str; KEPT],
}

/// The figures of readers.
pub(crate) const READER: Side = Side {
    percentiles: [("read p50", 50.0), ("read p99", 99.0), ("read p99.9", 99.9)],
    longest: ["longest read wait", "2nd longest read wait", "3rd longest read wait", "4th longest read wait"],
};

/// The figures of writers.
pub(crate) const WRITER: Side = Side {
    percentiles: [("write p50", 50.0), ("write p99", 99.0), ("write p99.9", 99.9)],
    longest: [
        "longest write wait",
        "2nd longest write wait",
        "3rd longest write wait",
        "4th longest write wait",
    ],
};

pub(in crate::locks) const UNITS: &[(&str, Unit)] = &[
    (DURATION, Unit::lower_is_better("ms")),
    (WRITES, THROUGHPUT),
    (READER.percentiles[0].0, TIME),
    (READER.percentiles[1].0, TIME),
    (READER.percentiles[2].0, TIME),
    (READER.longest[0], TIME),
    (READER.longest[1], TIME),
    (READER.longest[2], TIME),
    (READER.longest[3], TIME),
    (WRITER.percentiles[0].0, TIME),
    (WRITER.percentiles[1].0, TIME),
    (WRITER.percentiles[2].0, TIME),
    (WRITER.longest[0], TIME),
    (WRITER.longest[1], TIME),
    (WRITER.longest[2], TIME),
    (WRITER.longest[3], TIME),
    (FAIRNESS, Unit::higher_is_better("Jain's index")),
    (PROCESSOR, Unit::lower_is_better("ns/lock")),
];

/// The figures of both contests for readers and writers.
pub(super) fn figures(counted: &Contested, timed: &Contested) -> Vec<Figure> {
    let writes: u64 = counted.seen.iter().map(|seen| seen.locks - seen.reads).sum();
    let (mut read, mut write) = (Waits::new(), Waits::new());
    for seen in &timed.seen {
        read.merge(&seen.read_waits);
        write.merge(&seen.waits);
    }
    let mut figures = vec![figure(WRITES, writes.max(1) as f64 / counted.elapsed.as_secs_f64())];
    for (side, waits) in [(READER, &read), (WRITER, &write)] {
        figures.extend(percentiles(&side.percentiles, waits));
        figures.extend(named(&side.longest, waits.longest()));
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_figure_has_a_unit() {
        let of = |side: Side| side.percentiles.map(|(name, _)| name).into_iter().chain(side.longest);
        for name in of(READER).chain(of(WRITER)).chain([WRITES, DURATION, FAIRNESS, PROCESSOR]) {
            assert!(UNITS.iter().any(|(known, _)| *known == name), "{name}");
        }
    }
}
