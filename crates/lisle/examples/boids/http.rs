//! The part of HTTP/1.1 that the page needs: requests without a body, and responses that say their
//! length.

use std::io::{self, ErrorKind, Write};

/// The longest head of a request.
pub(crate) const LONGEST: usize = 16 * 1024;

/// A request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request<'a> {
    pub(crate) path: &'a str,
    query: &'a str,
    /// Whether the client may ask again on the same connection.
    pub(crate) stays: bool,
}

impl<'a> Request<'a> {
    /// Returns the request at the beginning of the bytes and its length, or `None` if the request is
    /// not complete.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes begin with no request that is served here.
    pub(crate) fn parse(bytes: &'a [u8]) -> io::Result<Option<(Request<'a>, usize)>> {
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
            return if bytes.len() < LONGEST { Ok(None) } else { Err(ErrorKind::InvalidData.into()) };
        };
        let head = std::str::from_utf8(&bytes[..end]).map_err(|_| ErrorKind::InvalidData)?;
        let (line, fields) = head.split_once("\r\n").unwrap_or((head, ""));
        let mut words = line.split(' ');
        let (Some("GET"), Some(target), Some(version)) = (words.next(), words.next(), words.next()) else {
            return Err(ErrorKind::Unsupported.into());
        };
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let closes = fields.lines().filter_map(|field| field.split_once(':')).any(|(name, value)| {
            name.eq_ignore_ascii_case("connection") && value.trim().eq_ignore_ascii_case("close")
        });
        Ok(Some((Request { path, query, stays: version == "HTTP/1.1" && !closes }, end + 4)))
    }

    /// Returns the number that the query has under this name, if it has one.
    pub(crate) fn number<N: std::str::FromStr>(&self, name: &str) -> Option<N> {
        let mut pairs = self.query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(key, _)| *key == name)?.1.parse().ok()
    }
}

/// Writes a response. The head and the body go in one call while they are short.
pub(crate) fn respond(mut to: impl Write, status: &str, kind: &str, body: &[u8]) -> io::Result<()> {
    let mut head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\r\n",
        body.len()
    )
    .into_bytes();
    if body.len() < LONGEST {
        head.extend_from_slice(body);
        return to.write_all(&head);
    }
    to.write_all(&head)?;
    to.write_all(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_when_it_is_whole() {
        let bytes = b"GET /frame?after=17&x=0.5 HTTP/1.1\r\nHost: here\r\n\r\nGET";
        let (request, length) = Request::parse(bytes).unwrap().unwrap();
        assert_eq!((request.path, request.stays), ("/frame", true));
        assert_eq!(request.number("after"), Some(17));
        assert_eq!(request.number("x"), Some(0.5));
        assert_eq!(request.number::<f32>("y"), None);
        assert_eq!(&bytes[length..], b"GET");
        for end in 0..length {
            assert_eq!(Request::parse(&bytes[..end]).unwrap(), None);
        }
    }

    #[test]
    fn a_client_may_say_that_it_closes() {
        let stays = |request: &str| Request::parse(request.as_bytes()).unwrap().unwrap().0.stays;
        assert!(!stays("GET / HTTP/1.1\r\nconnection: Close\r\n\r\n"));
        assert!(!stays("GET / HTTP/1.0\r\n\r\n"));
        assert!(stays("GET / HTTP/1.1\r\nConnection: keep-alive\r\n\r\n"));
    }

    #[test]
    fn other_things_are_errors() {
        let kind = |bytes: &[u8]| Request::parse(bytes).unwrap_err().kind();
        assert_eq!(kind(b"POST / HTTP/1.1\r\n\r\n"), ErrorKind::Unsupported);
        assert_eq!(kind(b"GET\r\n\r\n"), ErrorKind::Unsupported);
        assert_eq!(kind(b"\xff\r\n\r\n"), ErrorKind::InvalidData);
        assert_eq!(kind(&[b'a'; LONGEST]), ErrorKind::InvalidData);
    }

    #[test]
    fn a_response_says_its_length() {
        for length in [3, LONGEST] {
            let (mut sent, body) = (Vec::new(), vec![b'x'; length]);
            respond(&mut sent, "200 OK", "text/plain", &body).unwrap();
            let text = String::from_utf8(sent).unwrap();
            let (head, sent) = text.split_once("\r\n\r\n").unwrap();
            assert!(head.starts_with("HTTP/1.1 200 OK\r\n"));
            assert!(head.contains(&format!("Content-Length: {length}\r\n")));
            assert_eq!(sent.as_bytes(), body);
        }
    }
}
