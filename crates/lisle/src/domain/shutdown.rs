//! What was still running when a runtime's time to shut down was over.

use super::waiting::RunningHost;
use std::fmt;
use std::panic::Location;

/// A host that did not end in time.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Straggler {
    /// The domain it runs on.
    pub domain: usize,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Where it was spawned.
    pub site: Location<'static>,
}

/// How a shutdown went.
#[derive(Debug, Clone, Default)]
#[must_use = "it tells whether anything was still running"]
#[non_exhaustive]
pub struct Shutdown {
    /// The hosts that were running, one a domain, and did not give their worker back.
    pub stragglers: Vec<Straggler>,
    /// How many hosts have not ended, stragglers included.
    pub unfinished: usize,
}

impl Shutdown {
    /// Has everything ended?
    pub fn is_clean(&self) -> bool {
        self.unfinished == 0
    }
}

impl From<RunningHost> for Straggler {
    fn from(host: RunningHost) -> Self {
        Straggler { domain: host.domain, name: host.name, site: *host.site }
    }
}

impl fmt::Display for Straggler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = crate::fiber::host::describe(self.name.as_deref(), &self.site);
        write!(f, "{who} still runs on domain {}", self.domain)
    }
}

impl fmt::Display for Shutdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_clean() {
            return f.write_str("all hosts have ended");
        }
        write!(f, "{} hosts have not ended in time", self.unfinished)?;
        self.stragglers.iter().try_for_each(|straggler| write!(f, "; {straggler}"))
    }
}
