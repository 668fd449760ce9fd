//! Resolution of names to addresses.
//!
//! The system's resolver blocks the thread for as long as a name server takes, so a fiber calls it
//! through [`blocking`]. To do so, the fiber has to know the name, and `std`'s trait of the same name
//! does not give it. So this module has a trait of its own.
//!
//! A lookup changes nothing, so a performer may give up waiting for it. The lookup goes on in a fiber
//! of its own, and its result is dropped.

use super::waiting;
use crate::event::{cannot_be_checked, parker};
use crate::{blocking, fiber};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::panic::resume_unwind;

/// A type that names one or more socket addresses: the same types as for
/// [`std::net::ToSocketAddrs`].
///
/// Numeric addresses are parsed at once. The system's resolver looks up a name, outside the current
/// domain. A fiber that is cancelled meanwhile, or whose deadline passes, does not wait for the resolver
/// to end; a plain thread does.
pub trait ToSocketAddrs: sealed::Sealed {}

/// The meaning of an address before any lookup.
#[derive(Debug)]
pub enum Target {
    /// One address.
    One(SocketAddr),
    /// Any number of addresses, also none.
    Many(Vec<SocketAddr>),
    /// A name to look up, and the port for its addresses.
    Name(String, u16),
}

mod sealed {
    pub trait Sealed {
        fn target(&self) -> std::io::Result<super::Target>;
    }
}
use sealed::Sealed;

/// Returns the address that `target` names, or the first of several. A numeric address costs no
/// allocation.
#[track_caller]
pub(super) fn one(target: impl ToSocketAddrs) -> io::Result<SocketAddr> {
    first(target, Ok)
}

/// Returns the first success of `operation` on the addresses that `target` names, or else the last
/// failure.
#[track_caller]
pub(super) fn first<R>(
    target: impl ToSocketAddrs,
    mut operation: impl FnMut(SocketAddr) -> io::Result<R>,
) -> io::Result<R> {
    let addresses = match target.target()? {
        Target::One(address) => return operation(address),
        Target::Many(addresses) => addresses,
        Target::Name(name, port) => {
            cannot_be_checked("looking up a name", "it asks other computers", "Put a channel in its place");
            look_up(name, port)?
        }
    };
    let mut outcome = Err(io::Error::new(ErrorKind::InvalidInput, "the list of addresses is empty"));
    for address in addresses {
        outcome = operation(address);
        if outcome.as_ref().map_or_else(waiting::is_final, |_| true) {
            break;
        }
    }
    outcome
}

fn look_up(name: String, port: u16) -> io::Result<Vec<SocketAddr>> {
    let shown = format!("lookup of {name}");
    let ask = move || std::net::ToSocketAddrs::to_socket_addrs(&(name, port)).map(Iterator::collect);
    if parker::running().is_none() {
        return ask();
    }
    let lookup = fiber::Builder::new().name(shown).spawn(move || blocking(ask));
    match waiting::wait(lookup.join_evt())?.map_err(fiber::JoinError::into_panic) {
        Ok(found) => found,
        Err(Ok(panic)) => resume_unwind(panic),
        Err(Err(ended)) => Err(io::Error::other(ended.to_string())),
    }
}

/// Splits an address that is not numeric into a name and a port.
fn name_and_port(address: &str) -> io::Result<(&str, u16)> {
    let wrong =
        |why: String| io::Error::new(ErrorKind::InvalidInput, format!("the address {address:?} {why}"));
    let Some((name, port)) = address.rsplit_once(':').filter(|_| !address.ends_with(']')) else {
        return Err(wrong("has no port: an address is written `name:port`".into()));
    };
    let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number {
        return Err(wrong(format!("has no port behind its last colon, but {port:?}")));
    }
    let Ok(port) = port.parse() else {
        return Err(wrong("has a port that is out of range: ports go from 0 to 65535".into()));
    };
    if name.is_empty() {
        return Err(wrong(
            "has no name before its port; 0.0.0.0 or [::] stand for all addresses here".into(),
        ));
    }
    if name.contains(['[', ']']) {
        return Err(wrong("has brackets, but no IPv6 address in them, such as [::1]:80".into()));
    }
    Ok((name, port))
}

macro_rules! known {
    ($([$($type:tt)*])*) => {
        $(
            impl ToSocketAddrs for $($type)* {}
            impl Sealed for $($type)* {
                fn target(&self) -> io::Result<Target> {
                    Ok(Target::One(SocketAddr::from(*self)))
                }
            }
        )*
    };
}

known!([SocketAddr][SocketAddrV4][SocketAddrV6][(IpAddr, u16)][(Ipv4Addr, u16)][(Ipv6Addr, u16)]);

impl ToSocketAddrs for [SocketAddr] {}
impl Sealed for [SocketAddr] {
    fn target(&self) -> io::Result<Target> {
        Ok(Target::Many(self.to_vec()))
    }
}

impl ToSocketAddrs for (&str, u16) {}
impl Sealed for (&str, u16) {
    fn target(&self) -> io::Result<Target> {
        Ok(match self.0.parse::<IpAddr>() {
            Ok(address) => Target::One(SocketAddr::new(address, self.1)),
            Err(_) => Target::Name(self.0.to_owned(), self.1),
        })
    }
}

impl ToSocketAddrs for (String, u16) {}
impl Sealed for (String, u16) {
    fn target(&self) -> io::Result<Target> {
        (self.0.as_str(), self.1).target()
    }
}

impl ToSocketAddrs for str {}
impl Sealed for str {
    fn target(&self) -> io::Result<Target> {
        if let Ok(address) = self.parse() {
            return Ok(Target::One(address));
        }
        name_and_port(self).map(|(name, port)| Target::Name(name.to_owned(), port))
    }
}

impl ToSocketAddrs for String {}
impl Sealed for String {
    fn target(&self) -> io::Result<Target> {
        self.as_str().target()
    }
}

impl<T: ToSocketAddrs + ?Sized> ToSocketAddrs for &T {}
impl<T: ToSocketAddrs + ?Sized> Sealed for &T {
    fn target(&self) -> io::Result<Target> {
        (**self).target()
    }
}

#[cfg(test)]
mod tests {
    use super::{ToSocketAddrs, first, one};
    use std::io::{self, ErrorKind};
    use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

    /// Returns all addresses that `target` names.
    fn resolve(target: impl ToSocketAddrs) -> io::Result<Vec<SocketAddr>> {
        let mut all = Vec::new();
        let outcome = first(target, |address| -> io::Result<()> {
            all.push(address);
            Err(io::ErrorKind::Unsupported.into())
        });
        match outcome.unwrap_err() {
            error if error.kind() == io::ErrorKind::Unsupported => Ok(all),
            error => Err(error),
        }
    }

    #[test]
    fn numbers_and_names() {
        let local = SocketAddr::from((Ipv4Addr::LOCALHOST, 80));
        assert_eq!(one(local).unwrap(), local);
        assert_eq!(resolve(local).unwrap(), [local]);
        assert_eq!(resolve("127.0.0.1:80").unwrap(), [local]);
        assert_eq!(resolve(("127.0.0.1", 80)).unwrap(), [local]);
        assert_eq!(resolve((Ipv4Addr::LOCALHOST, 80)).unwrap(), [local]);
        assert_eq!(resolve(&[local, local][..]).unwrap(), [local, local]);
        assert_eq!(resolve("[::1]:80".to_owned()).unwrap(), [(Ipv6Addr::LOCALHOST, 80).into()]);
        for fiber in [false, true] {
            let look = || resolve("localhost:80").unwrap();
            let found = if fiber { crate::run(look) } else { look() };
            assert!(found.iter().all(|address| address.ip().is_loopback() && address.port() == 80));
        }
    }

    #[test]
    fn what_names_nothing() {
        for (wrong, why) in [
            ("localhost", "no port: an address is written"),
            ("", "no port: an address is written"),
            ("127.0.0.1", "no port: an address is written"),
            ("[::1]", "no port: an address is written"),
            ("localhost:", "no port behind its last colon"),
            (":x", "no port behind its last colon, but \"x\""),
            ("localhost:+1", "no port behind its last colon"),
            ("localhost:http", "no port behind its last colon"),
            ("localhost:65536", "out of range"),
            ("127.0.0.1:99999", "out of range"),
            ("[::1]:99999", "out of range"),
            (":80", "no name"),
            ("[::1:80", "brackets"),
            ("[localhost]:80", "brackets"),
        ] {
            let error = resolve(wrong).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{wrong}");
            assert!(error.to_string().contains(why), "{wrong}: {error}");
        }
        assert_eq!(resolve(&[][..]).unwrap_err().kind(), ErrorKind::InvalidInput);
    }

    #[test]
    fn the_first_success_or_the_last_failure() {
        let addresses = [1, 2, 3].map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let upwards = |least| {
            first(&addresses[..], |address| match address.port() {
                port if port >= least => Ok(port),
                port => Err(io::Error::other(port.to_string())),
            })
        };
        assert_eq!(upwards(2).unwrap(), 2);
        assert_eq!(upwards(4).unwrap_err().to_string(), "3");
    }
}
