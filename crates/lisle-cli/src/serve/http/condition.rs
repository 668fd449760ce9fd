//! Preconditions, in the order of section 13.2.2: the first one that fails determines the answer.

use super::date;
use super::fields::{Fields, Lines, Single};

/// The validators of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Validators<'a> {
    /// The entity tag with its quotes, and with `W/` if it is a weak one.
    pub(crate) etag: &'a [u8],
    /// The time of the last change, in seconds since 1970. `None` if the file's time cannot be
    /// trusted.
    pub(crate) modified: Option<u64>,
}

/// The result of the preconditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Answer as if there had been none.
    Proceed,
    /// The client's copy is valid: 304.
    NotModified,
    /// The client expected another version: 412.
    Failed,
}

/// Evaluates all preconditions except `If-Range` for a GET or HEAD.
///
/// `input` is the buffer into which the spans in `fields` point.
pub(crate) fn evaluate(fields: &Fields, input: &[u8], file: Validators<'_>) -> Verdict {
    if !fields.if_match.is_empty() {
        if !any_tag(&fields.if_match, input, file.etag, Comparison::Strong) {
            return Verdict::Failed;
        }
    } else if let (Some(limit), Some(modified)) = (fields.if_unmodified_since.value(), file.modified)
        && date::parse(limit.of(input)).is_some_and(|limit| modified > limit)
    {
        return Verdict::Failed;
    }
    if !fields.if_none_match.is_empty() {
        if any_tag(&fields.if_none_match, input, file.etag, Comparison::Weak) {
            return Verdict::NotModified;
        }
    } else if let (Some(limit), Some(modified)) = (fields.if_modified_since.value(), file.modified)
        && date::parse(limit.of(input)).is_some_and(|limit| modified <= limit)
    {
        return Verdict::NotModified;
    }
    Verdict::Proceed
}

/// Returns `true` if a `Range` may be honoured: there is no `If-Range`, or it names exactly this
/// version.
///
/// A date is a strong validator only when the file cannot change again within the same second
/// (section 8.8.2.2). That is why `now`, in seconds since 1970, is needed.
pub(crate) fn range_applies(fields: &Fields, input: &[u8], file: Validators<'_>, now: u64) -> bool {
    let value = match fields.if_range {
        Single::Absent => return true,
        Single::Once(value) => value.of(input),
        Single::Repeated => return false,
    };
    if value.starts_with(b"\"") || value.starts_with(b"W/") {
        return value == file.etag && !is_weak(value);
    }
    match (date::parse(value), file.modified) {
        (Some(date), Some(modified)) => date == modified && modified + 1 < now,
        _ => false,
    }
}

/// The way to compare two entity tags (section 8.8.3.2).
#[derive(Clone, Copy)]
enum Comparison {
    /// Both must be strong.
    Strong,
    Weak,
}

impl Comparison {
    fn same(self, one: &[u8], other: &[u8]) -> bool {
        let opaque = |tag| <[u8]>::strip_prefix(tag, b"W/").unwrap_or(tag);
        match self {
            Comparison::Strong => one == other && !is_weak(one),
            Comparison::Weak => opaque(one) == opaque(other),
        }
    }
}

fn is_weak(tag: &[u8]) -> bool {
    tag.starts_with(b"W/")
}

/// Returns `true` if one of the listed tags is `etag`, or if the list is `*`.
fn any_tag(lines: &Lines, input: &[u8], etag: &[u8], how: Comparison) -> bool {
    lines.iter().any(|line| {
        let mut rest = line.of(input).trim_ascii();
        if rest == b"*" {
            return true;
        }
        while let Some((tag, behind)) = next_tag(rest) {
            if how.same(tag, etag) {
                return true;
            }
            rest = behind;
        }
        false
    })
}

/// Splits the first entity tag off a list. The quotes may contain a comma, so splitting at commas
/// is not enough.
fn next_tag(list: &[u8]) -> Option<(&[u8], &[u8])> {
    let start = list.iter().position(|byte| !matches!(byte, b',' | b' ' | b'\t'))?;
    let list = &list[start..];
    let open = if list.starts_with(b"W/") { 2 } else { 0 };
    if list.get(open) != Some(&b'"') {
        return None;
    }
    let close = list[open + 1..].iter().position(|byte| *byte == b'"')? + open + 2;
    Some(list.split_at(close))
}

#[cfg(test)]
mod tests {
    use super::super::request::tests::fields_of;
    use super::*;

    const ETAG: &[u8] = b"\"5f-a-1\"";
    const MODIFIED: u64 = 784_111_777;
    const SAME: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    const BEFORE: &str = "Sun, 06 Nov 1994 08:49:36 GMT";
    const AFTER: &str = "Sun, 06 Nov 1994 08:49:38 GMT";

    fn file() -> Validators<'static> {
        Validators { etag: ETAG, modified: Some(MODIFIED) }
    }

    fn verdict(lines: &[(&str, &str)]) -> Verdict {
        let (input, fields) = fields_of(lines);
        evaluate(&fields, &input, file())
    }

    #[test]
    fn none_match() {
        assert_eq!(verdict(&[]), Verdict::Proceed);
        assert_eq!(verdict(&[("If-None-Match", "\"5f-a-1\"")]), Verdict::NotModified);
        assert_eq!(verdict(&[("If-None-Match", "W/\"5f-a-1\"")]), Verdict::NotModified);
        assert_eq!(verdict(&[("If-None-Match", "*")]), Verdict::NotModified);
        assert_eq!(verdict(&[("If-None-Match", "\"a,b\" , \"5f-a-1\"")]), Verdict::NotModified);
        assert_eq!(
            verdict(&[("If-None-Match", "\"x\""), ("If-None-Match", "\"5f-a-1\"")]),
            Verdict::NotModified
        );
        assert_eq!(verdict(&[("If-None-Match", "\"other\"")]), Verdict::Proceed);
        assert_eq!(verdict(&[("If-None-Match", "5f-a-1")]), Verdict::Proceed);
        assert_eq!(verdict(&[("If-None-Match", "\"unclosed")]), Verdict::Proceed);
    }

    #[test]
    fn a_weak_tag_of_the_file_promises_less() {
        let file = Validators { etag: b"W/\"5f-a-1\"", modified: None };
        for tag in ["\"5f-a-1\"", "W/\"5f-a-1\""] {
            let evaluated = |name| {
                let (input, fields) = fields_of(&[(name, tag)]);
                evaluate(&fields, &input, file)
            };
            assert_eq!(evaluated("If-None-Match"), Verdict::NotModified, "{tag}");
            assert_eq!(evaluated("If-Match"), Verdict::Failed, "{tag}");
            let (input, fields) = fields_of(&[("If-Range", tag)]);
            assert!(!range_applies(&fields, &input, file, MODIFIED + 100), "{tag}");
        }
    }

    #[test]
    fn a_tag_outranks_a_date() {
        assert_eq!(
            verdict(&[("If-None-Match", "\"other\""), ("If-Modified-Since", AFTER)]),
            Verdict::Proceed,
            "If-Modified-Since does not count beside If-None-Match"
        );
        assert_eq!(
            verdict(&[("If-Match", "\"5f-a-1\""), ("If-Unmodified-Since", BEFORE)]),
            Verdict::Proceed,
            "If-Unmodified-Since does not count beside If-Match"
        );
    }

    #[test]
    fn modified_since() {
        assert_eq!(verdict(&[("If-Modified-Since", SAME)]), Verdict::NotModified);
        assert_eq!(verdict(&[("If-Modified-Since", AFTER)]), Verdict::NotModified);
        assert_eq!(verdict(&[("If-Modified-Since", BEFORE)]), Verdict::Proceed);
        assert_eq!(verdict(&[("If-Modified-Since", "rubbish")]), Verdict::Proceed);
    }

    #[test]
    fn failed_preconditions_come_first() {
        assert_eq!(verdict(&[("If-Match", "\"other\""), ("If-None-Match", "*")]), Verdict::Failed);
        assert_eq!(verdict(&[("If-Match", "W/\"5f-a-1\"")]), Verdict::Failed, "If-Match compares strongly");
        assert_eq!(verdict(&[("If-Match", "*")]), Verdict::Proceed);
        assert_eq!(verdict(&[("If-Unmodified-Since", BEFORE)]), Verdict::Failed);
        assert_eq!(verdict(&[("If-Unmodified-Since", SAME)]), Verdict::Proceed);
    }

    #[test]
    fn if_range() {
        let applies = |value: &str, now: u64| {
            let (input, fields) = fields_of(&[("If-Range", value)]);
            range_applies(&fields, &input, file(), now)
        };
        let later = MODIFIED + 100;
        assert!(applies("\"5f-a-1\"", later));
        assert!(!applies("W/\"5f-a-1\"", later));
        assert!(!applies("\"other\"", later));
        assert!(applies(SAME, later));
        assert!(!applies(AFTER, later), "the date must be the very same");
        assert!(!applies(SAME, MODIFIED), "the file may change again within this second");
        assert!(!applies("rubbish", later));
    }
}
