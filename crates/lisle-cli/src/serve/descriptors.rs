//! Distribution of the file descriptors that the system allows.
//!
//! Each connection takes one descriptor, each file that is kept open takes one, and a lookup on
//! disk takes up to three for a moment. If connections could take all of them, no file could be
//! opened for the connections. Therefore the limit on connections is adjusted to the number of
//! descriptors, and some are reserved for files.
//!
//! A file that is being sent stays open, whether or not it is kept for other requests. Many clients
//! that each take a different large file can therefore still use up all descriptors; the next such
//! request is then answered with 503.

use std::fmt;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The descriptors that the program itself needs, for the standard streams, signals, listening
/// sockets, and libraries.
const OWN: u64 = 32;

/// The descriptors that each domain needs to wait for sockets.
const A_DOMAIN: u64 = 4;

/// The descriptors that a lookup on disk takes: the served directory, a handle to the requested
/// path, and the file.
const A_LOOK: usize = 3;

/// The largest number of concurrent lookups on disk per domain.
const MOST_LOOKS: usize = 16;

/// The largest number of files that a domain keeps open.
const MOST_OPEN: usize = 128;

/// The largest number of connections over the limit that are answered at once. Further ones are
/// closed without an answer.
const MOST_REFUSALS: usize = 64;

/// The smallest number of descriptors per domain for connections and files. With fewer, the server
/// does not start.
const LEAST: u64 = 16;

/// Raises the limit on descriptors as far as this process may raise it, and returns the new limit.
/// The usual limit of 1024 exists for programs that use `select`. This program does not.
pub(crate) fn raise_limit(say: impl FnOnce(fmt::Arguments<'_>)) -> u64 {
    let before = getrlimit(Resource::Nofile);
    let wanted = Rlimit { current: before.maximum, maximum: before.maximum };
    if before.current == before.maximum || setrlimit(Resource::Nofile, wanted).is_err() {
        return before.current.unwrap_or(u64::MAX);
    }
    let now = getrlimit(Resource::Nofile).current;
    let text = |limit: Option<u64>| limit.map_or("none".to_owned(), |limit| limit.to_string());
    say(format_args!("raised the limit on open files from {} to {}", text(before.current), text(now)));
    now.unwrap_or(u64::MAX)
}

/// The shares of the descriptors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shares {
    /// Concurrent connections.
    pub(crate) connections: usize,
    /// Connections over the limit that are answered at once.
    pub(crate) refusals: usize,
    /// Concurrent lookups on disk of each domain.
    pub(crate) looks: usize,
    /// Files that each domain keeps open.
    pub(crate) open: usize,
}

/// The system allows too few descriptors to start.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooFew {
    allowed: u64,
    needed: u64,
}

impl fmt::Display for TooFew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TooFew { allowed, needed } = self;
        write!(
            f,
            "the system allows {allowed} open files, and the server needs at least {needed}: raise the limit (ulimit -n), \
             or serve with fewer threads (--domains)"
        )
    }
}

impl Shares {
    /// Divides `allowed` descriptors, with at most `wanted` connections.
    pub(crate) fn of(allowed: u64, domains: usize, wanted: usize) -> Result<Shares, TooFew> {
        let own = OWN + A_DOMAIN * domains as u64;
        let needed = own + LEAST * domains as u64;
        if allowed < needed {
            return Err(TooFew { allowed, needed });
        }
        let spare = usize::try_from(allowed - own).unwrap_or(usize::MAX);
        let a_domain = (spare / 4 / domains).min(MOST_LOOKS * A_LOOK + MOST_OPEN);
        let looks = (a_domain / 2 / A_LOOK).clamp(1, MOST_LOOKS);
        let open = (a_domain.saturating_sub(looks * A_LOOK)).min(MOST_OPEN);
        let refusals = (spare / 16).min(MOST_REFUSALS);
        let connections = (spare - domains * (looks * A_LOOK + open) - refusals).min(wanted);
        Ok(Shares { connections, refusals, looks, open })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_gets_what_is_not_there() {
        for domains in [1, 2, 3, 16, 64, 1024] {
            for allowed in (0..3000).chain([10_000, 100_000, 1 << 30, u64::MAX]) {
                let Ok(shares) = Shares::of(allowed, domains, 10_000) else {
                    assert!(allowed < OWN + (A_DOMAIN + LEAST) * domains as u64);
                    continue;
                };
                let Shares { connections, refusals, looks, open } = shares;
                assert!(
                    (1..=10_000).contains(&connections) && looks >= 1,
                    "{allowed}, {domains}: {shares:?}"
                );
                let files = (domains * (looks * A_LOOK + open)) as u64;
                let own = OWN + A_DOMAIN * domains as u64;
                let sum = own + files + (connections + refusals) as u64;
                assert!(sum <= allowed, "{allowed}, {domains}: {shares:?}");
            }
        }
    }

    #[test]
    fn with_plenty_everybody_gets_all() {
        let shares = Shares::of(20_000, 2, 10_000).unwrap();
        let expected =
            Shares { connections: 10_000, refusals: MOST_REFUSALS, looks: MOST_LOOKS, open: MOST_OPEN };
        assert_eq!(shares, expected);
        let error = Shares::of(40, 2, 10_000).unwrap_err().to_string();
        assert!(error.contains("40 open files") && error.contains("ulimit -n"), "{error}");
    }
}
