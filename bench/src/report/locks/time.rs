//! Times as people read them, from nanoseconds to seconds.

const UNITS: [(&str, f64); 4] = [("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0)];

/// The greatest unit of which it is not less than one.
fn unit(nanoseconds: f64) -> (&'static str, f64) {
    // A value that would be rounded up to a thousand of a unit is one of the next unit.
    let of = UNITS.into_iter().find(|(_, each)| nanoseconds >= each * 0.9995);
    of.unwrap_or(("ns", 1.0))
}

/// Three digits.
fn digits(value: f64) -> String {
    match value {
        99.95.. => format!("{value:.0}"),
        9.995.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// `62.3 ms`
pub(super) fn duration(nanoseconds: f64) -> String {
    let (name, each) = unit(nanoseconds);
    if each == 1.0 {
        format!("{nanoseconds:.0} ns")
    } else {
        format!("{} {name}", digits(nanoseconds / each))
    }
}

/// `62.3 61.5 60.9 59.8 ms`: in the unit of the greatest, which is the first.
pub(super) fn durations(all: &[f64]) -> String {
    let Some(&greatest) = all.first() else { return String::new() };
    let (name, each) = unit(greatest);
    let values: Vec<String> = all.iter().map(|time| digits(time / each)).collect();
    format!("{} {name}", values.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_three_digits_and_a_unit() {
        for (nanoseconds, text) in [
            (0.0, "0 ns"),
            (35.0, "35 ns"),
            (999.0, "999 ns"),
            (999.9, "1.00 µs"),
            (1_234.0, "1.23 µs"),
            (62_345_678.0, "62.3 ms"),
            (999_999_999.0, "1.00 s"),
            (12.5e9, "12.5 s"),
        ] {
            assert_eq!(duration(nanoseconds), text);
        }
    }

    #[test]
    fn several_share_the_unit_of_the_first() {
        assert_eq!(durations(&[2.9e6, 2.8e6, 0.15e6, 9e4]), "2.90 2.80 0.15 0.09 ms");
        assert_eq!(durations(&[]), "");
    }
}
