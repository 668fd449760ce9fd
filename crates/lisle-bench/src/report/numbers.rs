//! Numbers as people read them.

/// Three or more digits, in groups.
pub(super) fn number(value: f64) -> String {
    match value {
        ..1.0 => return format!("{value:.3}"),
        ..10.0 => return format!("{value:.2}"),
        ..1000.0 => return format!("{value:.1}"),
        _ => {}
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// For the marks of an axis: `0.5`, `20`, `1k`, `5M`.
pub(super) fn round(value: f64) -> String {
    match value {
        ..1e3 => format!("{value}"),
        ..1e6 => format!("{}k", value / 1e3),
        ..1e9 => format!("{}M", value / 1e6),
        _ => format!("{}G", value / 1e9),
    }
}

pub(super) fn bytes(value: f64) -> String {
    const MEBI: f64 = 1024.0 * 1024.0;
    if value < 1024.0 * MEBI {
        format!("{:.1} MiB", value / MEBI)
    } else {
        format!("{:.1} GiB", value / MEBI / 1024.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_grouped_and_small_ones_keep_their_digits() {
        assert_eq!(number(0.0523), "0.052");
        assert_eq!(number(6.154), "6.15");
        assert_eq!(number(61.54), "61.5");
        assert_eq!(number(999.96), "1000.0");
        assert_eq!(number(1234.4), "1,234");
        assert_eq!(number(17_654_321.0), "17,654,321");
    }

    #[test]
    fn round_numbers_are_short() {
        assert_eq!(["0", "0.5", "200", "5k", "20M", "1G"], [0.0, 0.5, 200.0, 5e3, 2e7, 1e9].map(round));
    }
}
