//! The accesses to cells, and their races.
//!
//! For each cell this module has the last write, and the first read of each process since. Two
//! accesses race if one of them writes and neither happens before the other. The order of the two
//! in the schedule does not matter, so a race is found in each execution with both accesses
//! (Flanagan and Freund, "FastTrack", PLDI 2009).

use super::clock::{Clock, Moment};
use super::graph::{Graph, Id};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::fmt;
use std::panic::Location as Site;

/// The kind of an access to a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CellAccess {
    /// It is made.
    Made,
    /// It is read.
    Read,
    /// It is written.
    Written,
    /// It is dropped.
    Dropped,
}

impl fmt::Display for CellAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CellAccess::Made => "made",
            CellAccess::Read => "read",
            CellAccess::Written => "written",
            CellAccess::Dropped => "dropped",
        })
    }
}

/// The name of a cell: a number, or its address if it has none.
pub(super) type Name = u64;

#[derive(Debug, Clone, Copy)]
struct Known {
    moment: Moment,
    access: CellAccess,
    site: Option<&'static Site<'static>>,
}

#[derive(Debug, Default)]
struct Cell {
    write: Option<Known>,
    reads: SmallVec<[Known; 2]>,
}

/// Two accesses of one cell that nothing orders, as they are found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) processes: [u32; 2],
    pub(super) accesses: [CellAccess; 2],
    pub(super) sites: [Option<&'static Site<'static>>; 2],
    pub(super) hint: Option<Hint>,
}

/// A write and a read of it that could have ordered the accesses of a race.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hint {
    pub(super) write: &'static Site<'static>,
    pub(super) read: &'static Site<'static>,
    pub(super) releases: bool,
    pub(super) acquires: bool,
}

/// The cells of an execution.
#[derive(Debug, Default)]
pub(super) struct Cells(FxHashMap<Name, Cell>);

impl Cells {
    /// Forgets the execution.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Forgets a cell.
    pub(super) fn forget(&mut self, name: Name) {
        self.0.remove(&name);
    }

    /// Notes an access. Returns the race that it has with an earlier one, if there is one.
    pub(super) fn access(
        &mut self,
        graph: &mut Graph,
        name: Name,
        process: u32,
        access: CellAccess,
        site: Option<&'static Site<'static>>,
    ) -> Option<Found> {
        let thread = graph.thread(process);
        let moment = thread.next(process);
        thread.count = moment.count;
        thread.happens.add(moment);
        thread.forward.add(moment);
        let happens = thread.happens.clone();
        let cell = self.0.entry(name).or_default();
        let now = Known { moment, access, site };
        let is_read = access == CellAccess::Read;
        let earlier = cell.write.iter().chain(cell.reads.iter().filter(|_| !is_read));
        let race = earlier.copied().find(|earlier| !happens.has(earlier.moment));
        if is_read {
            if cell.reads.iter().all(|read| read.moment.process != process || read.site != site) {
                cell.reads.push(now);
            } else if let Some(known) =
                cell.reads.iter_mut().find(|read| read.moment.process == process && read.site == site)
            {
                *known = now;
            }
        } else {
            cell.write = Some(now);
            cell.reads.clear();
        }
        let earlier = race?;
        Some(Found {
            processes: [earlier.moment.process, process],
            accesses: [earlier.access, access],
            sites: [earlier.site, site],
            hint: hint(graph, earlier.moment, process, &happens),
        })
    }
}

/// Returns a write and a read that could have ordered the accesses: the process of `earlier` has
/// written after `earlier`, and `process` has read that value, but the write or the read lacks an
/// order.
fn hint(graph: &Graph, earlier: Moment, process: u32, happens: &Clock) -> Option<Hint> {
    let read_from = |read: &Id| {
        let read = graph.event(*read);
        let write = graph.event(read.source?);
        let is_after = write.moment.process == earlier.process && write.moment.count > earlier.count;
        (is_after && !happens.has(earlier)).then_some((write, read))
    };
    // If the write released and the read acquired, the accesses would be in order.
    let (write, read) = graph.threads[process as usize].events.iter().rev().find_map(read_from)?;
    Some(Hint {
        write: write.site?,
        read: read.site?,
        releases: write.message.has(earlier),
        acquires: read.orders.acquires,
    })
}
