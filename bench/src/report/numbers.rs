//! Numbers as people read them.

/// Three or more digits, in groups.
pub(crate) fn number(value: f64) -> String {
    match value {
        ..1.0 => format!("{value:.3}"),
        ..10.0 => format!("{value:.2}"),
        ..1000.0 => format!("{value:.1}"),
        _ => grouped(value),
    }
}

/// The largest error of the text of [`number`], as a part of the value.
pub(super) fn rounding(value: f64) -> f64 {
    let last_digit = match value {
        ..1.0 => 1e-3,
        ..10.0 => 1e-2,
        ..1000.0 => 1e-1,
        _ => 1.0,
    };
    last_digit / 2.0 / value
}

/// `17,654,321`
fn grouped(value: f64) -> String {
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

/// Reads a text of [`number`]; `None` if [`number`] would not write this text.
pub(super) fn parse(text: &str) -> Option<f64> {
    written_by(number, text, plain(text)?)
}

/// Reads a text of digits, points and commas.
fn plain(text: &str) -> Option<f64> {
    let is_plain = |byte: u8| byte.is_ascii_digit() || matches!(byte, b',' | b'.');
    text.bytes().all(is_plain).then(|| text.replace(',', "").parse().ok())?
}

/// Returns `value`, or the float before it, if `write` writes it as `text`. The float before it may
/// be rounded up: a little less than `1,000` is written `1000.0`.
fn written_by(write: fn(f64) -> String, text: &str, value: f64) -> Option<f64> {
    [value, value.next_down()].into_iter().find(|value| write(*value) == text)
}

/// For tables that are wide: `20.1 M`, and below a million as [`number`].
pub(super) fn short(value: f64) -> String {
    match value {
        1e9.. => format!("{} G", digits(value / 1e9)),
        1e6.. => format!("{} M", digits(value / 1e6)),
        _ => number(value),
    }
}

/// By which factor one system is ahead of another.
pub(super) fn ratio(value: f64) -> String {
    match value {
        99.95.. => grouped(value),
        9.995.. => format!("{value:.1}"),
        ..0.0995 => format!("{value:.3}"),
        _ => format!("{value:.2}"),
    }
}

/// The first three digits of a number from 1 to 999.
fn digits(value: f64) -> String {
    match value {
        99.95.. => format!("{value:.0}"),
        9.995.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// For the marks of an axis: `0.5`, `20`, `1k`, `5M`.
pub(super) fn round(value: f64) -> String {
    // A multiple of a step may be off by its last bits.
    let value: f64 = format!("{value:.12e}").parse().expect("a number is read again");
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

/// Reads a text of [`bytes()`].
pub(super) fn parse_bytes(text: &str) -> Option<f64> {
    let (number, unit) = text.split_once(' ')?;
    let unit = match unit {
        "MiB" => 1024.0 * 1024.0,
        "GiB" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    written_by(bytes, text, plain(number)? * unit)
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
    fn no_number_is_rounded_by_more_than_that() {
        for value in [0.0236, 0.0495, 6.154, 9.995, 61.54, 999.94, 1234.49, 17_654_321.4] {
            let read = parse(&number(value)).unwrap();
            assert!((read - value).abs() <= rounding(value) * value * 1.000_001, "{value}");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        for value in [0.0, 0.0523, 0.9996, 6.154, 9.999, 61.54, 999.96, 1234.4, 17_654_321.0] {
            let text = number(value);
            assert_eq!(parse(&text).map(number), Some(text));
        }
        for value in [0.0, 4.2, 1023.99, 1024.0, 5000.0] {
            let text = bytes(value * 1024.0 * 1024.0);
            assert_eq!(parse_bytes(&text).map(bytes), Some(text));
        }
        for wrong in ["", "1", "1.5", "1234", "1,23", "1.234", "-1.00", "NaN", "inf", "1e3", "+6.15", "."] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
        for wrong in ["1.0", "1 MiB", "1.0 KiB", "1.0  MiB", "2000.0 MiB", "NaN MiB", "-1.0 MiB"] {
            assert_eq!(parse_bytes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn wide_tables_have_short_numbers() {
        let values = [6.154, 97_406.0, 999_999.0, 2_346_394.0, 20_093_146.0, 208e6, 1.5e9];
        assert_eq!(values.map(short), ["6.15", "97,406", "999,999", "2.35 M", "20.1 M", "208 M", "1.50 G"]);
        assert_eq!(
            [0.0131, 0.531, 1.0, 12.34, 705.4, 1234.4].map(ratio),
            ["0.013", "0.53", "1.00", "12.3", "705", "1,234"]
        );
    }

    #[test]
    fn round_numbers_are_short() {
        assert_eq!(["0", "0.5", "200", "5k", "20M", "1G"], [0.0, 0.5, 200.0, 5e3, 2e7, 1e9].map(round));
        assert_eq!(round(3.0 * 0.2), "0.6");
    }
}
