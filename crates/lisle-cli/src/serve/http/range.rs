//! Selection of the bytes that a `Range` field asks for (section 14).
//!
//! One range is answered with its bytes. Several ranges in one request are answered with the whole
//! file, as section 14.2 allows. Few clients ask for several, all of them can handle the whole
//! file, and a `multipart/byteranges` answer to many small overlapping ranges would let a short
//! request cause a huge response. The same applies to several `Range` lines: the field is not a
//! list, so the lines cannot be combined ([`Single`](super::fields::Single)), and section 14.2 lets
//! a server ignore the field.

/// The part of a file to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Selection {
    /// The whole file, because there is no range, a range that is not understood, or several.
    Whole,
    /// The bytes from `start` up to and excluding `end`; never empty.
    Part {
        /// The first byte.
        start: u64,
        /// The byte after the last.
        end: u64,
    },
    /// None of the requested bytes exists.
    Unsatisfiable,
}

/// Selects the bytes of a file of `length` bytes that the value of a `Range` field asks for.
///
/// A value that violates the syntax, or whose unit is not bytes, is ignored, as the section says.
pub(crate) fn select(value: &[u8], length: u64) -> Selection {
    let Some(list) = strip_unit(value) else { return Selection::Whole };
    let mut satisfiable = None;
    let mut count = 0_u32;
    for item in list.split(|byte| *byte == b',') {
        let item = item.trim_ascii();
        if item.is_empty() {
            continue;
        }
        count += 1;
        match part(item, length) {
            Ok(Some(part)) => satisfiable = Some(part),
            Ok(None) => {}
            Err(Malformed) => return Selection::Whole,
        }
    }
    match (count, satisfiable) {
        (0, _) => Selection::Whole,
        (_, None) => Selection::Unsatisfiable,
        (1, Some(part)) => part,
        (_, Some(_)) => Selection::Whole,
    }
}

/// The item is not a range.
struct Malformed;

fn strip_unit(value: &[u8]) -> Option<&[u8]> {
    let (unit, list) = value.split_at_checked(6)?;
    unit.eq_ignore_ascii_case(b"bytes=").then_some(list)
}

/// Parses `first-last`, `first-` or `-suffix`. Returns `None` if the range lies entirely after the
/// end.
fn part(item: &[u8], length: u64) -> Result<Option<Selection>, Malformed> {
    let dash = item.iter().position(|byte| *byte == b'-').ok_or(Malformed)?;
    let (first, last) = (&item[..dash], &item[dash + 1..]);
    if first.is_empty() {
        let suffix = number(last)?;
        return Ok(match suffix {
            0 => None,
            // A suffix of an empty file is satisfiable and is the whole file, but it cannot be
            // expressed as a part.
            _ if length == 0 => Some(Selection::Whole),
            _ => Some(Selection::Part { start: length.saturating_sub(suffix), end: length }),
        });
    }
    let start = number(first)?;
    let end = if last.is_empty() { length } else { number(last)?.saturating_add(1) };
    if !last.is_empty() && end <= start {
        return Err(Malformed);
    }
    Ok((start < length).then(|| Selection::Part { start, end: end.min(length) }))
}

/// Parses a number that consists only of digits. A number beyond 64 bits becomes the largest one.
fn number(digits: &[u8]) -> Result<u64, Malformed> {
    if digits.is_empty() {
        return Err(Malformed);
    }
    digits.iter().try_fold(0_u64, |sum, byte| match byte {
        b'0'..=b'9' => Ok(sum.saturating_mul(10).saturating_add(u64::from(byte - b'0'))),
        _ => Err(Malformed),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_ten(value: &str) -> Selection {
        select(value.as_bytes(), 10)
    }

    fn part(start: u64, end: u64) -> Selection {
        Selection::Part { start, end }
    }

    #[test]
    fn single_ranges() {
        assert_eq!(of_ten("bytes=0-3"), part(0, 4));
        assert_eq!(of_ten("bytes=9-9"), part(9, 10));
        assert_eq!(of_ten("bytes=4-"), part(4, 10));
        assert_eq!(of_ten("bytes=-3"), part(7, 10));
        assert_eq!(of_ten("bytes=-30"), part(0, 10));
        assert_eq!(of_ten("bytes=5-500"), part(5, 10));
        assert_eq!(of_ten("BYTES= 2-3 "), part(2, 4));
        assert_eq!(of_ten("bytes=,2-3,"), part(2, 4));
        assert_eq!(of_ten("bytes=3-18446744073709551615"), part(3, 10));
        assert_eq!(of_ten("bytes=3-99999999999999999999999"), part(3, 10));
    }

    #[test]
    fn several_ranges_are_the_whole() {
        assert_eq!(of_ten("bytes=0-1,4-5"), Selection::Whole);
        assert_eq!(of_ten("bytes=0-1,40-50"), Selection::Whole);
    }

    #[test]
    fn nothing_of_it_exists() {
        for value in
            ["bytes=10-", "bytes=10-20", "bytes=-0", "bytes=50-60,70-", "bytes=99999999999999999999-"]
        {
            assert_eq!(of_ten(value), Selection::Unsatisfiable, "{value}");
        }
        assert_eq!(select(b"bytes=0-", 0), Selection::Unsatisfiable);
        assert_eq!(select(b"bytes=-5", 0), Selection::Whole);
    }

    #[test]
    fn what_is_not_understood_is_ignored() {
        for value in [
            "",
            "bytes",
            "bytes=",
            "bytes=x",
            "bytes=5-3",
            "bytes=1-2,x",
            "lines=1-2",
            "bytes=-",
            "bytes=+1-2",
        ] {
            assert_eq!(of_ten(value), Selection::Whole, "{value}");
        }
    }
}
