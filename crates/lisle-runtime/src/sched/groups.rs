//! Groups: the placement of fibers whose place of spawning is known for long-lived fibers that talk
//! to their neighbours.
//!
//! A fiber stays on the domain on which it begins, and fibers that are spawned together begin
//! together. So ten pairs that live long would share one domain while another sleeps. Neither a
//! thief nor the spawner can know this when the fibers begin: most fibers that are spawned together
//! end soon, or talk to their spawner, and are best left where they are. But fibers that are
//! spawned by the same line of a program resemble each other. This module learns from fibers that
//! have ended.
//!
//! **Learning.** A domain samples wakes, with the waker and the woken fiber (`queues.rs`), and each
//! fiber counts its own samples (`spawned/kin.rs`). A fiber that ends with [`SAMPLES`] or more has
//! been woken some 256 times. Its *neighbours* are the fibers that its spawner has spawned just
//! before and after it. If most of its wakes came from neighbours, or from its own children, the
//! module notes its place of spawning, and the distance between the first and the last such fiber
//! of the spawner: a *series*.
//!
//! **Placing.** The next series is cut into contiguous *groups*, and the groups are dealt out to
//! the domains, beginning with the spawner's, and back. A series goes on for as long as any of its
//! fibers lives. Fibers that talk only to their children share nothing with each other, so there
//! are as many groups as domains. Between neighbours at the edge of a group, messages cross
//! domains, which costs as much as 16 to 32 fibers take to pass a message on; so groups of
//! neighbours have at least [`CHAIN`] fibers.
//!
//! **Giving up.** The wakes of placed fibers are sampled as well. A fiber is a *stranger* if more
//! than one in [`LIMIT`] of its wakes came from other domains, or from fibers that are not its kin.
//! If more than one in [`STRANGERS`] of a series are strangers, and two more for its ends, the
//! place is given up for good. The module counts fibers, and not wakes: where channels have
//! buffers, the fibers at the edges of the groups are woken for each message, and the fibers in
//! between for a whole buffer.
//!
//! Fibers that wait for sockets, timers and plain threads have no kin that wakes them, and teach
//! nothing. Fibers that are spawned with a place are left there. Known places lie in a table of
//! fixed size, each at one slot. A place whose slot is taken is not learned.

use crate::event::lock::Lock;
use crate::shim::unseen::{AtomicUsize, Ordering};
use crate::spawned::kin::{Kin, Mark};
use std::array;
use std::cell::Cell;
use std::panic::Location;

/// The number of turns of which the wakes of one are looked at.
const SAMPLED: u32 = 64;
/// How many samples a fiber has that has lived long.
const SAMPLES: u32 = 4;
/// One in this many wakes of a fiber may cross, or come from others.
const LIMIT: u32 = 8;
/// One in this many of a series may be strangers. In groups of [`CHAIN`] two are, at the edges.
const STRANGERS: u64 = 4;
/// The number of further strangers that are allowed: the ends of a chain talk to fibers that were
/// spawned elsewhere. The ends are woken most often, and so are sampled first.
const ENDS: u64 = 2;
/// The least size of a group of fibers that talk to their neighbours, and the size aimed at.
const CHAIN: u32 = 16;
const LONG_CHAIN: u32 = 64;
const SLOTS: usize = 64;

/// The known places of a runtime.
pub(crate) struct Groups {
    /// The addresses of the places whose fibers are grouped, each at its slot; or 0.
    known: [AtomicUsize; SLOTS],
    places: Lock<[Cell<Option<Known>>; SLOTS]>,
}

/// A place of spawning.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// Its address.
    site: usize,
    is_given_up: bool,
    /// How many fibers of the series have ended, and how many of these were strangers.
    ended: u64,
    strangers: u64,
    /// Set if any was woken by neighbours more often than by its own children.
    is_chain: bool,
    series: Series,
    /// How many ordinals the series before this one had.
    expected: u32,
    /// The fibers that were placed and have not ended.
    live: u32,
}

/// The fibers that one fiber has spawned at one place.
#[derive(Debug, Clone, Copy)]
struct Series {
    spawner: Mark,
    first: u32,
    last: u32,
}

impl Series {
    fn begun(spawner: Mark, ordinal: u32) -> Self {
        Series { spawner, first: ordinal, last: ordinal }
    }

    fn extent(self) -> u32 {
        (self.last - self.first).saturating_add(1)
    }

    fn include(&mut self, ordinal: u32) {
        self.first = self.first.min(ordinal);
        self.last = self.last.max(ordinal);
    }
}

fn slot(site: usize) -> usize {
    ((site / align_of::<Location<'_>>()) ^ (site >> 9)) % SLOTS
}

/// Returns `true` if the wakes of this turn of a domain are sampled: one turn in 64, mostly 65
/// apart, since fibers that take turns by twos or fours would otherwise show the same side each
/// time.
#[inline(always)]
pub(super) fn is_sampled(turn: u32) -> bool {
    (turn ^ (turn / SAMPLED)).is_multiple_of(SAMPLED)
}

/// Returns the domain of a group: groups go to each domain in turn, and back again. In a sieve the
/// first fibers have most to do, and the last least. So the domain of the first group has the last
/// one as well; and where the direction changes, neighbours stay together.
fn deal(group: usize, domains: usize) -> usize {
    let at = group % (2 * domains);
    at.min(2 * domains - 1 - at)
}

impl Groups {
    pub(crate) fn new() -> Self {
        Groups {
            known: array::from_fn(|_| AtomicUsize::new(0)),
            places: Lock::new(array::from_fn(|_| Cell::new(None))),
        }
    }

    /// Returns `true` if fibers that are spawned there are grouped.
    #[inline(always)]
    pub(crate) fn knows(&self, site: &'static Location<'static>) -> bool {
        let site = std::ptr::from_ref(site).addr();
        self.known[slot(site)].load(Ordering::Relaxed) == site
    }

    /// Returns the domain for a fiber that is spawned at a known place, counted from its spawner's
    /// domain. Returns `None` if the fiber is not placed.
    #[cold]
    pub(crate) fn place(&self, site: &'static Location<'static>, kin: &Kin, domains: usize) -> Option<usize> {
        let site = std::ptr::from_ref(site).addr();
        let places = self.places.lock();
        let place = &places[slot(site)];
        let mut known = place.get().filter(|known| known.site == site && !known.is_given_up)?;
        if known.live == 0 || known.series.spawner != kin.spawner() {
            known.expected = known.series.extent();
            known.series = Series::begun(kin.spawner(), kin.ordinal());
            (known.ended, known.strangers) = (0, 0);
        }
        known.series.include(kin.ordinal());
        known.live += 1;
        kin.is_grouped.set(true);
        place.set(Some(known));
        let group = (kin.ordinal() - known.series.first) / known.group_size(domains);
        Some(deal(group as usize, domains))
    }

    /// Learns from a fiber that has ended.
    #[inline]
    pub(crate) fn learn(&self, site: &'static Location<'static>, kin: &Kin) {
        if kin.heard().total() >= SAMPLES || kin.is_grouped.get() {
            self.learn_from_one_that_lived_long(site, kin);
        }
    }

    #[cold]
    fn learn_from_one_that_lived_long(&self, site: &'static Location<'static>, kin: &Kin) {
        let site = std::ptr::from_ref(site).addr();
        let heard = kin.heard();
        let is_stranger = u32::from(heard.of_others) * LIMIT > heard.total();
        let places = self.places.lock();
        let place = &places[slot(site)];
        let mut known = match place.get() {
            Some(known) if known.site == site => known,
            Some(_) => return,
            None if is_stranger || kin.spawner().is_nobody() => return,
            None => Known {
                site,
                is_given_up: false,
                ended: 0,
                strangers: 0,
                is_chain: false,
                series: Series::begun(kin.spawner(), kin.ordinal()),
                expected: 0,
                live: 0,
            },
        };
        if known.live > 0 && !kin.is_grouped.get() {
            return; // It belongs to an older series.
        }
        known.ended += 1;
        known.strangers += u64::from(is_stranger);
        known.is_chain |= heard.of_neighbours > heard.of_children;
        let mut is_told = self.known[slot(site)].load(Ordering::Relaxed) == site;
        if kin.is_grouped.get() {
            known.live -= 1;
            if known.live == 0 && known.has_strangers() {
                known.is_given_up = true;
                is_told = false;
            }
        } else if known.live == 0 {
            // A series that nobody has counted while it was spawned.
            if known.series.spawner == kin.spawner() {
                known.series.include(kin.ordinal());
            } else {
                known.series = Series::begun(kin.spawner(), kin.ordinal());
            }
            is_told = !known.is_given_up && !known.has_strangers();
        }
        place.set(Some(known));
        self.known[slot(site)].store(if is_told { site } else { 0 }, Ordering::Relaxed);
    }
}

impl Known {
    /// Returns `true` if too many were woken by others than their kin on the same domain.
    fn has_strangers(&self) -> bool {
        self.strangers.saturating_sub(ENDS) * STRANGERS > self.ended
    }

    /// Returns how many neighbours of a series live on one domain.
    fn group_size(&self, domains: usize) -> u32 {
        let domains = u32::try_from(domains).unwrap_or(u32::MAX);
        if !self.is_chain {
            return self.expected.div_ceil(domains).max(1);
        }
        // The groups are of one size: a small one at the end would be idle most of the time, and
        // its domain would be woken for each message.
        let rounds = (self.expected / domains / LONG_CHAIN).max(1);
        let groups = (self.expected / CHAIN).clamp(1, rounds.saturating_mul(domains));
        self.expected.div_ceil(groups).max(CHAIN)
    }
}

#[cfg(all(test, not(lisle_loom)))]
mod tests {
    use super::*;

    fn site() -> &'static Location<'static> {
        Location::caller()
    }

    /// The mark of the fiber with this number.
    fn mark(number: usize) -> Mark {
        Mark::of((number + 1) * 64)
    }

    /// Fiber 0, which spawns others, and how many.
    struct Spawner(Cell<u32>);

    impl Spawner {
        fn new() -> Self {
            Spawner(Cell::new(0))
        }

        /// Spawns the next fiber.
        fn spawn(&self) -> Kin {
            let kin = Kin::new();
            kin.was_spawned_by(mark(0), self.0.replace(self.0.get() + 1));
            kin
        }
    }

    /// Notes that fibers of a series, in the order of their spawning, have been woken by their
    /// neighbours.
    fn talk_to_neighbours(series: &[Kin], times: u32) {
        for _ in 0..times {
            for (index, pair) in series.windows(2).enumerate() {
                pair[0].was_woken_by(mark(100 + index), mark(101 + index), &pair[1]);
                pair[1].was_woken_by(mark(101 + index), mark(100 + index), &pair[0]);
            }
        }
    }

    /// Notes that each fiber of a series has been woken by a child.
    fn talk_to_children(series: &[Kin]) {
        for (index, fiber) in series.iter().enumerate() {
            let child = Kin::new();
            child.was_spawned_by(mark(100 + index), 1000);
            (0..SAMPLES).for_each(|_| fiber.was_woken_by(mark(100 + index), mark(7), &child));
        }
    }

    fn end(groups: &Groups, site: &'static Location<'static>, series: &[Kin]) {
        series.iter().for_each(|kin| groups.learn(site, kin));
    }

    fn places(groups: &Groups, site: &'static Location<'static>, series: &[Kin]) -> Vec<Option<usize>> {
        series.iter().map(|kin| groups.place(site, kin, 2)).collect()
    }

    fn series(spawner: &Spawner, count: usize) -> Vec<Kin> {
        (0..count).map(|_| spawner.spawn()).collect()
    }

    #[test]
    fn one_turn_in_64_is_sampled() {
        let sampled: Vec<u32> = (0..64 * 64).filter(|&turn| is_sampled(turn)).collect();
        assert_eq!(sampled, (0..63).map(|n| 65 * n).chain([4095]).collect::<Vec<_>>());
    }

    #[test]
    fn groups_are_dealt_out_there_and_back() {
        assert_eq!((0..9).map(|group| deal(group, 3)).collect::<Vec<_>>(), [0, 1, 2, 2, 1, 0, 0, 1, 2]);
        assert_eq!((0..3).map(|group| deal(group, 1)).collect::<Vec<_>>(), [0; 3]);
    }

    #[test]
    fn families_are_dealt_out_to_all_domains() {
        let (groups, spawner, site) = (Groups::new(), Spawner::new(), site());
        let first = series(&spawner, 10);
        talk_to_children(&first);
        assert!(!groups.knows(site));
        end(&groups, site, &first);
        assert!(groups.knows(site));
        let second = series(&spawner, 10);
        let [here, there] = [Some(0), Some(1)];
        assert_eq!(places(&groups, site, &second), [[here; 5], [there; 5]].concat());
        // One of them is longer than the one before: the groups keep their size.
        end(&groups, site, &second);
        let third = series(&spawner, 12);
        assert_eq!(places(&groups, site, &third), [[here; 5].as_slice(), &[there; 7]].concat());
        end(&groups, site, &third);
        assert_eq!(places(&groups, site, &series(&spawner, 12))[5..7], [here, there]);
    }

    #[test]
    fn a_chain_has_long_groups() {
        let (groups, spawner, site) = (Groups::new(), Spawner::new(), site());
        let short = series(&spawner, CHAIN as usize);
        talk_to_neighbours(&short, SAMPLES);
        end(&groups, site, &short);
        assert_eq!(places(&groups, site, &series(&spawner, CHAIN as usize)), [Some(0); CHAIN as usize]);

        let (groups, spawner) = (Groups::new(), Spawner::new());
        let long = series(&spawner, 300);
        talk_to_neighbours(&long, SAMPLES);
        end(&groups, site, &long);
        let places = places(&groups, site, &series(&spawner, 300));
        let lengths: Vec<usize> = places.chunk_by(|one, other| one == other).map(<[_]>::len).collect();
        assert_eq!(lengths, [75, 150, 75]);
    }

    #[test]
    fn where_domains_are_many_groups_are_still_of_one_size() {
        let (groups, spawner, site) = (Groups::new(), Spawner::new(), site());
        let first = series(&spawner, 102);
        talk_to_neighbours(&first, SAMPLES);
        end(&groups, site, &first);
        let place = |kin: &Kin| groups.place(site, kin, 16);
        let places: Vec<_> = series(&spawner, 102).iter().map(place).collect();
        let lengths: Vec<usize> = places.chunk_by(|one, other| one == other).map(<[_]>::len).collect();
        assert_eq!(lengths, [17; 6]);
    }

    #[test]
    fn those_that_end_soon_or_talk_to_others_are_not_learned() {
        let (groups, spawner, site) = (Groups::new(), Spawner::new(), site());
        end(&groups, site, &series(&spawner, 10));
        let talkers = series(&spawner, 10);
        for (index, fiber) in talkers.iter().enumerate() {
            (0..100).for_each(|_| fiber.was_woken_by(mark(100 + index), mark(0), &Kin::new()));
        }
        end(&groups, site, &talkers);
        assert!(!groups.knows(site));
        assert_eq!(groups.place(site, &spawner.spawn(), 2), None);
    }

    /// With buffers they may be woken for each message, and the fibers in between once for many.
    #[test]
    fn a_place_is_kept_where_only_the_edges_of_groups_are_woken_from_elsewhere() {
        let (groups, spawner, site) = (Groups::new(), Spawner::new(), site());
        let first = series(&spawner, 2 * CHAIN as usize);
        talk_to_neighbours(&first, SAMPLES);
        end(&groups, site, &first);
        let second = series(&spawner, 2 * CHAIN as usize);
        let placed = places(&groups, site, &second);
        let edges = (1..second.len()).filter(|&index| placed[index - 1] != placed[index]);
        for edge in edges {
            (0..100).for_each(|_| second[edge - 1].was_woken_from_elsewhere());
            (0..100).for_each(|_| second[edge].was_woken_from_elsewhere());
        }
        talk_to_neighbours(&second, 1);
        end(&groups, site, &second);
        assert!(groups.knows(site));
    }

    /// The ends of a chain are woken more often than the fibers between them, by fibers that were
    /// spawned elsewhere. Of a short series nothing else may be known.
    #[test]
    fn a_chain_is_known_beside_its_ends() {
        let (groups, spawner, site) = (Groups::new(), Spawner::new(), site());
        let chain = series(&spawner, 5);
        talk_to_neighbours(&chain[1..4], SAMPLES);
        for end in [&chain[0], &chain[4]] {
            (0..SAMPLES).for_each(|_| end.was_woken_from_elsewhere());
        }
        end(&groups, site, &chain[1..]);
        end(&groups, site, &chain[..1]);
        assert!(groups.knows(site));
    }

    #[test]
    fn a_place_is_given_up_if_too_much_crosses() {
        let (groups, spawner, site) = (Groups::new(), Spawner::new(), site());
        let first = series(&spawner, 4);
        talk_to_children(&first);
        end(&groups, site, &first);
        let second = series(&spawner, 4);
        assert_eq!(places(&groups, site, &second).last(), Some(&Some(1)));
        second.iter().for_each(|fiber| (0..SAMPLES).for_each(|_| fiber.was_woken_from_elsewhere()));
        end(&groups, site, &second);
        assert!(!groups.knows(site));
        // Their later wakes do not bring it back.
        let third = series(&spawner, 100);
        talk_to_children(&third);
        end(&groups, site, &third);
        assert!(!groups.knows(site));
    }
}
