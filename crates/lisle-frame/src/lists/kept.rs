//! The streams that a list has made for its keys.
//!
//! The entries of a list are a part of its value, in the order of the list, so that `restore` sets them back
//! with the value. A map finds the stream of a key. The order of the map has no effect that can be seen.
//!
//! From one frame to the next most keys stay, in their order. So the new keys are compared with the list, one
//! after the other, and the map is asked only for keys that do not come next in the list.

use super::Members;
use crate::engine::group::Kind;
use crate::engine::waits::Living;
use crate::streams::body::Out;
use crate::streams::handle::Stream;
use crate::streams::making::{Here, How, Making, here};
use std::any::Any;
use std::borrow::Borrow;
use std::cell::Cell;
use std::collections::HashSet;
use std::future::ready;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// A stream that is kept for a key.
pub(super) struct Member<T> {
    stream: Stream<T>,
    /// The owner that is removed with the key: the stream, or a scope with all streams that were made for the
    /// key.
    owner: Option<Living>,
}

/// Returns a function that makes members of bodies. Streams that were made for a body live as long as the
/// body's stream.
pub(super) fn of_bodies<K, T, B>(mut make: impl FnMut(K) -> B) -> impl FnMut(Making<'_>, K) -> Member<T>
where
    T: Clone + 'static,
    B: AsyncFnMut() -> T + 'static,
{
    move |making, key| {
        let core = &making.here.core;
        let (body, made) = core.make_for_member(|| make(key));
        let stream = making.stream(body);
        let owner = stream.living(core).ok();
        if let Some(owner) = owner {
            core.keep(owner, made);
        }
        Member { stream, owner }
    }
}

/// Returns a function that makes members of streams that the closure has made.
pub(super) fn of_streams<K, T>(
    mut make: impl FnMut(K) -> Stream<T>,
) -> impl FnMut(Making<'_>, K) -> Member<T> {
    move |making, key| {
        let core = &making.here.core;
        let (stream, made) = core.make_for_member(|| make(key));
        let scope = making.make(Some(()), Kind::AtRest, |_| ready(()));
        let owner = scope.living(core).ok();
        if let Some(owner) = owner {
            core.keep(owner, made);
        }
        Member { stream, owner }
    }
}

impl<T> Member<T> {
    /// Removes the streams of the key. They may have been removed by hand.
    fn remove_owner(&self, here: &Here) {
        if let Some(owner) = self.owner {
            here.core.remove(owner);
        }
    }
}

impl<T> Clone for Member<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Member<T> {}

/// A key with its member. It is never changed, since snapshots refer to it.
struct Entry<K, T> {
    key: K,
    member: Member<T>,
    /// The round in which the key was seen last.
    seen: Cell<u64>,
    /// Whether the entry is in the map.
    is_mapped: Cell<bool>,
}

/// The entries of a list, in its order.
type Roster<K, T> = Rc<Vec<Rc<Entry<K, T>>>>;

/// An entry, which is found by its key.
struct ByKey<K, T>(Rc<Entry<K, T>>);

impl<K, T> Borrow<K> for ByKey<K, T> {
    fn borrow(&self) -> &K {
        &self.0.key
    }
}

impl<K: Hash, T> Hash for ByKey<K, T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.key.hash(state);
    }
}

impl<K: PartialEq, T> PartialEq for ByKey<K, T> {
    fn eq(&self, other: &Self) -> bool {
        self.0.key == other.0.key
    }
}

impl<K: Eq, T> Eq for ByKey<K, T> {}

/// Finds the members of keys. The keys are dropped in the order of the list, after the map.
pub(super) struct Kept<K, T> {
    members: HashSet<ByKey<K, T>>,
    round: u64,
    /// The entries of the map, unless `restore` has set the list back since.
    of: Option<Roster<K, T>>,
    /// The other entries of the map: entries of a round in which the list's closure has panicked.
    new: Vec<Rc<Entry<K, T>>>,
    /// Memory for the next roster.
    spare: Option<Roster<K, T>>,
    how: How,
}

impl<K: Clone + Eq + Hash + 'static, T: Clone + 'static> Kept<K, T> {
    pub(super) fn new(how: How) -> Self {
        Kept { members: HashSet::new(), round: 0, of: None, new: Vec::new(), spare: None, how }
    }

    /// Makes streams for new keys, removes the streams of keys that are gone, and puts all into a list.
    pub(super) fn follow(
        &mut self,
        keys: &[K],
        make: impl FnMut(Making<'_>, K) -> Member<T>,
        out: &mut Out<'_, Members<T>>,
    ) {
        let here = here();
        let roster = out.update(|members| members.roster.clone()).flatten();
        let roster = roster.and_then(|roster| roster.downcast::<Vec<Rc<Entry<K, T>>>>().ok());
        let listed = roster.as_ref().map_or(&[][..], |roster| &roster[..]);
        let is_as_before =
            |(entry, key): (&Rc<Entry<K, T>>, &K)| entry.key == *key && here.has(entry.member.stream);
        if listed.len() == keys.len() && listed.iter().zip(keys).all(is_as_before) {
            return;
        }
        self.find_by(&roster);
        let next = self.make_next(&here, listed, keys, make);
        self.remove_others(&here, listed);
        self.of = Some(next.clone());
        self.new.clear();
        out.update(|members| {
            let streams = members.change();
            streams.clear();
            streams.extend(next.iter().map(|entry| entry.member.stream));
            members.roster = Some(next as Rc<dyn Any>);
        });
        // The keys that are gone are dropped here, in the order of the list.
        self.spare = roster.and_then(|mut roster| {
            Rc::get_mut(&mut roster)?.clear();
            Some(roster)
        });
    }

    /// Fills the map from a roster.
    fn find_by(&mut self, roster: &Option<Roster<K, T>>) {
        let is_known = match (&self.of, roster) {
            (Some(known), Some(roster)) => Rc::ptr_eq(known, roster),
            (known, roster) => known.is_none() && roster.is_none(),
        };
        if is_known {
            return;
        }
        self.round += 1;
        let wanted = || roster.iter().flat_map(|roster| roster.iter());
        wanted().for_each(|entry| entry.seen.set(self.round));
        let known = self.of.take();
        let (known, new) = (known.iter().flat_map(|known| known.iter()), std::mem::take(&mut self.new));
        for entry in known.chain(&new).filter(|entry| entry.seen.get() != self.round) {
            unmap(&mut self.members, entry);
        }
        for entry in wanted() {
            map(&mut self.members, entry);
        }
        self.of.clone_from(roster);
    }

    /// Returns the roster of these keys, each once. Their entries are in the map, and are marked as
    /// seen.
    fn make_next(
        &mut self,
        here: &Here,
        listed: &[Rc<Entry<K, T>>],
        keys: &[K],
        mut make: impl FnMut(Making<'_>, K) -> Member<T>,
    ) -> Roster<K, T> {
        self.round += 1;
        let (now, how) = (self.round, self.how);
        let mut roster = self.spare.take().unwrap_or_default();
        let next = Rc::get_mut(&mut roster).expect("a spare roster has one owner");
        let mut places = Places { listed, looks: listed.len() + keys.len() };
        for key in keys {
            let known = match places.next_is(key) {
                Some(entry) if entry.is_mapped.get() => Some(entry.clone()),
                _ => {
                    let found = self.members.get(key).map(|found| found.0.clone());
                    found.inspect(|entry| {
                        if entry.seen.get() != now {
                            places.pass(entry)
                        }
                    })
                }
            };
            let entry = match known {
                Some(entry) if here.has(entry.member.stream) => entry,
                known => {
                    // New, or removed by hand.
                    if let Some(entry) = &known {
                        entry.member.remove_owner(here);
                    }
                    let member = make(Making { here, how }, key.clone());
                    if let Some(entry) = &known {
                        unmap(&mut self.members, entry);
                    }
                    let (seen, is_mapped) = (Cell::new(0), Cell::new(false));
                    let entry = Rc::new(Entry { key: key.clone(), member, seen, is_mapped });
                    map(&mut self.members, &entry);
                    self.new.push(entry.clone());
                    entry
                }
            };
            if entry.seen.replace(now) != now {
                next.push(entry);
            }
        }
        roster
    }

    /// Removes the streams of keys that were not seen in this round.
    fn remove_others(&mut self, here: &Here, listed: &[Rc<Entry<K, T>>]) {
        let others = listed.iter().chain(&self.new).filter(|entry| entry.seen.get() != self.round);
        for entry in others {
            if unmap(&mut self.members, entry) {
                entry.member.remove_owner(here);
            }
        }
    }
}

#[expect(clippy::mutable_key_type, reason = "its hash is that of the key, which does not change")]
fn map<K: Eq + Hash, T>(members: &mut HashSet<ByKey<K, T>>, entry: &Rc<Entry<K, T>>) {
    if !entry.is_mapped.replace(true) {
        let other = members.replace(ByKey(entry.clone()));
        other.inspect(|other| other.0.is_mapped.set(false));
    }
}

/// Returns `true` if the entry was in the map.
#[expect(clippy::mutable_key_type, reason = "its hash is that of the key, which does not change")]
fn unmap<K: Eq + Hash, T>(members: &mut HashSet<ByKey<K, T>>, entry: &Rc<Entry<K, T>>) -> bool {
    entry.is_mapped.replace(false) && members.remove(&entry.key)
}

/// The position in the list at which the next key is expected.
struct Places<'a, K, T> {
    listed: &'a [Rc<Entry<K, T>>],
    /// The number of places that may still be passed in vain: keys in another order are found by the map.
    looks: usize,
}

impl<'a, K: Eq, T> Places<'a, K, T> {
    /// Returns the entry that comes next, if it is this key's.
    fn next_is(&mut self, key: &K) -> Option<&'a Rc<Entry<K, T>>> {
        let (first, rest) = self.listed.split_first()?;
        if first.key != *key {
            return None;
        }
        self.listed = rest;
        Some(first)
    }

    /// Goes on after this entry, if it comes soon.
    fn pass(&mut self, entry: &Rc<Entry<K, T>>) {
        let looks = self.looks.min(self.listed.len());
        match self.listed[..looks].iter().position(|other| Rc::ptr_eq(other, entry)) {
            Some(at) => self.listed = &self.listed[at + 1..],
            None => self.looks -= looks,
        }
    }
}
