//! Conversion of the path of a request to a path below the served directory, and back.
//!
//! The result is relative. It has one slash between its parts, none at its start, and one at its
//! end exactly if the request had one. The root is empty. Two requests for one file therefore have
//! the same name in the cache. Paths that no honest client sends (`..` after decoding, a NUL, an
//! encoded slash, a backslash that is not encoded) are refused and not repaired: a repair is a guess,
//! and traversal attacks rely on guesses about paths. An encoded backslash is a character like others:
//! files may have it in their names here. This is the first defence. [`Root`](super::root::Root) is
//! the second and does not rely on it.

use percent_encoding::{AsciiSet, CONTROLS, percent_decode, percent_encode};

/// The path is not one that a file here can have.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused;

/// All characters that must not appear in a path as they are (RFC 3986, section 3.3), and those
/// that confuse readers of a log.
const ENCODED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Decodes `path`, which begins with a slash, into `out`.
pub(crate) fn decode(path: &[u8], out: &mut Vec<u8>) -> Result<(), Refused> {
    out.clear();
    // A backslash is not a character of a path (section 3.3 of RFC 3986), and some programs treat it
    // as a slash.
    if memchr::memchr(b'\\', path).is_some() {
        return Err(Refused);
    }
    for part in path.split(|byte| *byte == b'/').filter(|part| !part.is_empty()) {
        if !out.is_empty() {
            out.push(b'/');
        }
        let start = out.len();
        if memchr::memchr(b'%', part).is_none() {
            out.extend_from_slice(part);
        } else if escapes_are_whole(part) {
            out.extend(percent_decode(part));
        } else {
            return Err(Refused);
        }
        let part = &out[start..];
        if part == b"." || part == b".." || part.iter().any(|byte| matches!(byte, 0 | b'/')) {
            return Err(Refused);
        }
    }
    if path.ends_with(b"/") && !out.is_empty() {
        out.push(b'/');
    }
    Ok(())
}

/// Returns `true` if a part of a decoded path is hidden by convention: its name begins with a dot.
/// Such files (`.git`, `.env` and the like) are usually not in the directory to be served.
/// `/.well-known/` (RFC 8615) is meant to be served; hidden names below it stay hidden.
pub(crate) fn is_hidden(relative: &[u8]) -> bool {
    let seen = relative.strip_prefix(b".well-known/").unwrap_or(relative);
    let hidden = seen.split(|byte| *byte == b'/').any(|part| part.starts_with(b"."));
    hidden && relative != b".well-known"
}

/// Appends the path of a request for `relative`, with a slash at its start.
pub(crate) fn encode(relative: &[u8], out: &mut Vec<u8>) {
    out.push(b'/');
    for piece in percent_encode(relative, ENCODED) {
        out.extend_from_slice(piece.as_bytes());
    }
}

/// Returns `true` if two hexadecimal digits follow each `%`. `percent_decode` leaves other `%` as
/// they are; here they are a mistake.
fn escapes_are_whole(part: &[u8]) -> bool {
    memchr::memchr_iter(b'%', part)
        .all(|at| part.get(at + 1..at + 3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(path: &str) -> Result<String, Refused> {
        let mut out = b"left over".to_vec();
        decode(path.as_bytes(), &mut out).map(|()| String::from_utf8_lossy(&out).into_owned())
    }

    #[test]
    fn one_name_for_one_file() {
        for (path, expected) in [
            ("/", ""),
            ("//", ""),
            ("/a", "a"),
            ("/a/", "a/"),
            ("//a///b//", "a/b/"),
            ("/a%20b", "a b"),
            ("/%61/%C3%A4", "a/\u{e4}"),
            ("/a+b", "a+b"),
            ("/...", "..."),
            ("/..a/b..", "..a/b.."),
            ("/.well-known/x", ".well-known/x"),
            ("/a:b", "a:b"),
            ("/a%5Cb", "a\\b"),
            ("/..%5c..%5cetc", "..\\..\\etc"),
        ] {
            assert_eq!(decoded(path), Ok(expected.to_owned()), "{path}");
        }
    }

    #[test]
    fn attempts_to_leave() {
        for path in [
            "/..",
            "/../",
            "/../etc/passwd",
            "/a/../../b",
            "/a/..",
            "/%2e%2e/etc/passwd",
            "/%2E./x",
            "/.%2e/x",
            "/a/./b",
            "/%2e/a",
            "/..%2fetc/passwd",
            "/..\\..\\etc",
            "/a\\b",
            "/a%2Fb",
            "/a%00.html",
            "/%",
            "/%2",
            "/%zz",
            "/%%32e",
            "/a%2",
        ] {
            assert_eq!(decoded(path), Err(Refused), "{path}");
        }
    }

    #[test]
    fn decoding_happens_once() {
        assert_eq!(decoded("/%252e%252e/x"), Ok("%2e%2e/x".to_owned()));
    }

    #[test]
    fn names_with_a_dot_are_hidden() {
        for hidden in [
            ".env",
            ".git/config",
            "a/.git/",
            "a/b/.c",
            "...",
            ".well-known/.git",
            "a/.well-known/x",
            ".well-known2/x",
            ".well-known/.well-known/x",
        ] {
            assert!(is_hidden(hidden.as_bytes()), "{hidden}");
        }
        for seen in ["", "a", "a/b/", "a.b", "a./b", ".well-known", ".well-known/", ".well-known/acme/x"] {
            assert!(!is_hidden(seen.as_bytes()), "{seen}");
        }
    }

    #[test]
    fn there_and_back() {
        let name = "a b/\u{e4}%#?[x]\\\"<>`{|}^~!$&'()*+,;=:@/";
        let mut path = Vec::new();
        encode(name.as_bytes(), &mut path);
        assert!(path.starts_with(b"/a%20b/%C3%A4%25%23%3F"));
        assert!(path.iter().all(u8::is_ascii_graphic));
        let mut back = Vec::new();
        assert_eq!(decode(&path, &mut back), Ok(()));
        assert_eq!(back, name.as_bytes());
    }
}
