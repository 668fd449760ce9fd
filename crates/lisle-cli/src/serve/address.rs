//! Addresses to listen on: parsing and binding.
//!
//! A name stands for all of its addresses, since a client that is given the same name may try any
//! of them first: `localhost` has two addresses on most machines. Without a host the server listens
//! on all interfaces, as in Go.

use std::fmt;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::str::FromStr;

use lisle::net::TcpListener;
use rustix::net::sockopt::ipv6_v6only;

/// The accepted forms.
const FORMS: &str = "127.0.0.1:8080, [::1]:8080, localhost:8080, or :8080 for all interfaces";

/// An address and a port, or a form that stands for several addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    /// All interfaces.
    All(u16),
    /// This address.
    One(SocketAddr),
    /// The addresses of this host.
    Name(String, u16),
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Address, String> {
        if let Ok(address) = text.parse() {
            return Ok(Address::One(address));
        }
        let Some((host, port)) = text.rsplit_once(':') else {
            let hint =
                if text.parse::<u16>().is_ok() { format!("; did you mean :{text}?") } else { String::new() };
            return Err(format!("expected an address and a port, such as {FORMS}{hint}"));
        };
        let is_v6 = |text: &str| text.parse::<Ipv6Addr>().is_ok();
        if is_v6(host) || is_v6(text) {
            return Err("expected an IPv6 address in brackets, such as [::1]:8080".to_owned());
        }
        let digits = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        let port = match port.parse() {
            Ok(port) if digits => port,
            Err(_) if digits => {
                return Err(format!("the port {port} is out of range: ports go from 0 to 65535"));
            }
            _ if text.ends_with(']') => {
                return Err(format!("expected a port after the address, such as {text}:8080"));
            }
            _ => return Err(format!("expected a port from 0 to 65535 after the last colon, not {port:?}")),
        };
        let numeric = host.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let named = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        if !named || host.len() > 253 || (numeric && !host.is_empty()) {
            return Err(format!("{host:?} is neither an address nor the name of a host; expected {FORMS}"));
        }
        Ok(if host.is_empty() { Address::All(port) } else { Address::Name(host.to_owned(), port) })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::All(port) => write!(f, ":{port}"),
            Address::One(address) => address.fmt(f),
            Address::Name(name, port) => write!(f, "{name}:{port}"),
        }
    }
}

/// The reason why the server cannot listen on an address.
#[derive(Debug)]
pub(crate) struct Refused {
    asked: Address,
    /// The exact address, if it is known.
    at: Option<SocketAddr>,
    error: io::Error,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot listen on {}", self.asked)?;
        match self.at {
            Some(at) if self.asked != Address::One(at) => write!(f, " ({at})")?,
            _ => {}
        }
        write!(f, ": {}", self.error)
    }
}

impl Address {
    /// Listens on all addresses that this value stands for. The returned list is never empty.
    ///
    /// Addresses that this machine does not have (of a name, or of a version of IP that is switched
    /// off) are skipped if at least one other address works. An address that is taken by another
    /// process is an error: a server that listens on half of its addresses would be confusing.
    pub(crate) fn listen(&self) -> Result<Vec<TcpListener>, Refused> {
        let refused = |at, error| Refused { asked: self.clone(), at, error };
        let addresses = match self {
            Address::One(address) => vec![*address],
            Address::All(port) => {
                vec![(Ipv6Addr::UNSPECIFIED, *port).into(), (Ipv4Addr::UNSPECIFIED, *port).into()]
            }
            Address::Name(name, port) => {
                let target = (name.clone(), *port);
                let found = lisle::blocking(move || target.to_socket_addrs().map(Iterator::collect));
                found.map_err(|error| refused(None, error))?
            }
        };
        let mut sockets: Vec<TcpListener> = Vec::new();
        let mut absent = None;
        for mut address in addresses {
            if let Some(first) = sockets.first() {
                if self.covers_both(first) {
                    break;
                }
                // If any free port was requested, it must be the same one on all addresses.
                let bound = first.local_addr().map_err(|error| refused(Some(address), error))?;
                address.set_port(bound.port());
            }
            match TcpListener::bind(address) {
                Ok(socket) => sockets.push(socket),
                Err(error) if is_absent(&error) => absent = Some((address, error)),
                Err(error) => return Err(refused(Some(address), error)),
            }
        }
        if sockets.is_empty() {
            let none = || io::Error::new(ErrorKind::NotFound, "the name has no address");
            let (at, error) = absent.map_or_else(|| (None, none()), |(at, error)| (Some(at), error));
            return Err(refused(at, error));
        }
        Ok(sockets)
    }

    /// Returns `true` if the socket for all interfaces takes connections of both versions of IP.
    /// The system decides that.
    fn covers_both(&self, first: &TcpListener) -> bool {
        let is_v6 = first.local_addr().is_ok_and(|address| address.is_ipv6());
        matches!(self, Address::All(_)) && is_v6 && ipv6_v6only(first).is_ok_and(|only| !only)
    }
}

/// Returns `true` if the machine has no such address.
fn is_absent(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(Errno::from_io_error(error), Some(Errno::ADDRNOTAVAIL | Errno::AFNOSUPPORT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        let parse = |text: &str| text.parse::<Address>();
        for text in ["127.0.0.1:8080", "[::1]:0", "0.0.0.0:1", "[fe80::1%1]:65535"] {
            assert_eq!(parse(text), Ok(Address::One(text.parse().unwrap())), "{text}");
        }
        assert_eq!(parse(":8080"), Ok(Address::All(8080)));
        assert_eq!(parse(":0"), Ok(Address::All(0)));
        assert_eq!(parse("localhost:80"), Ok(Address::Name("localhost".to_owned(), 80)));
        assert_eq!(parse("a-b.c_d.example:1"), Ok(Address::Name("a-b.c_d.example".to_owned(), 1)));
        for text in ["127.0.0.1:8080", ":8080", "localhost:80", "[::1]:0"] {
            assert_eq!(parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn mistakes_say_what_to_do() {
        for (text, expected) in [
            ("8080", "did you mean :8080?"),
            ("localhost", "localhost:8080"),
            ("", "such as"),
            ("::1:8080", "brackets"),
            ("fe80::1", "brackets"),
            ("1.2.3:80", "neither an address nor the name"),
            ("1.2.3.400:80", "neither an address nor the name"),
            ("[::1:80", "neither an address nor the name"),
            ("http://localhost:80", "neither an address nor the name"),
            ("*:80", "neither an address nor the name"),
            ("a b:80", "neither an address nor the name"),
            ("localhost:", "a port from 0 to 65535"),
            ("localhost:+1", "a port from 0 to 65535"),
            (":65536", "the port 65536 is out of range"),
            ("127.0.0.1:99999", "the port 99999 is out of range"),
            ("[::1]:99999", "the port 99999 is out of range"),
            ("localhost:99999999999999999999999", "is out of range"),
            ("127.0.0.1:", "a port from 0 to 65535"),
            ("[::1]", "such as [::1]:8080"),
            ("localhost:http", "a port from 0 to 65535"),
        ] {
            let error = text.parse::<Address>().unwrap_err();
            assert!(error.contains(expected), "{text:?}: {error}");
        }
    }

    #[test]
    fn all_interfaces_and_names() {
        let port = |socket: &TcpListener| socket.local_addr().unwrap().port();
        let sockets = Address::All(0).listen().unwrap();
        assert!(sockets.iter().all(|socket| port(socket) == port(&sockets[0])));
        assert!(sockets.iter().all(|socket| socket.local_addr().unwrap().ip().is_unspecified()));
        std::net::TcpStream::connect((Ipv4Addr::LOCALHOST, port(&sockets[0]))).unwrap();

        let sockets = Address::Name("localhost".to_owned(), 0).listen().unwrap();
        for socket in &sockets {
            assert!(socket.local_addr().unwrap().ip().is_loopback());
            assert_eq!(port(socket), port(&sockets[0]));
            std::net::TcpStream::connect(socket.local_addr().unwrap()).unwrap();
        }
        let taken = Address::Name("localhost".to_owned(), port(&sockets[0]));
        let text = taken.listen().unwrap_err().to_string();
        assert!(text.starts_with(&format!("cannot listen on {taken} (")), "{text}");
        let text = Address::All(port(&sockets[0])).listen().unwrap_err().to_string();
        assert!(text.contains("in use"), "{text}");
        let text = Address::Name("no-such-host.invalid".to_owned(), 1).listen().unwrap_err().to_string();
        assert!(text.starts_with("cannot listen on no-such-host.invalid:1: "), "{text}");
    }
}
