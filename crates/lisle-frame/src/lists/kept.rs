//! The streams that a list has made for its keys.
//!
//! What a list knows of them is a part of its value, in the order of the list, so that it goes back
//! with it to a snapshot. A map finds the stream of a key; nothing that can be seen follows from the
//! order in which the map gives up what it has.

use super::Members;
use crate::engine::group::Kind;
use crate::engine::waits::Living;
use crate::streams::body::Out;
use crate::streams::handle::Stream;
use crate::streams::making::{Here, How, Making, here};
use std::any::Any;
use std::collections::HashMap;
use std::future::ready;
use std::hash::Hash;
use std::rc::Rc;

/// A stream that is kept for a key.
pub(super) struct Member<T> {
    stream: Stream<T>,
    /// What is removed with the key: the stream, or a scope with all that was made for the key.
    owner: Option<Living>,
}

/// Returns how to make members of bodies. What was made for a body lives as long as its stream.
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

/// Returns how to make members that are made otherwise.
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
    /// Removes what belongs to the key. It may have been removed by hand.
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

/// The keys of a list with their members, in the order of the list.
type Roster<K, T> = Rc<Vec<(Rc<K>, Member<T>)>>;

/// Finds the members of keys.
pub(super) struct Kept<K, T> {
    /// With the round in which the key was seen last.
    members: HashMap<Rc<K>, (Member<T>, u64)>,
    round: u64,
    /// What is in the map, unless the list has gone back to a snapshot since.
    of: Option<Roster<K, T>>,
    /// The keys of this round that are new. They are dropped in order, and after the map.
    new: Vec<Rc<K>>,
    /// Memory for the next roster.
    spare: Option<Roster<K, T>>,
    how: How,
}

impl<K: Clone + Eq + Hash + 'static, T: Clone + 'static> Kept<K, T> {
    pub(super) fn new(how: How) -> Self {
        Kept { members: HashMap::new(), round: 0, of: None, new: Vec::new(), spare: None, how }
    }

    /// Makes streams for new keys, removes those of keys that are gone, and puts all into a list.
    pub(super) fn follow(
        &mut self,
        keys: &[K],
        make: impl FnMut(Making<'_>, K) -> Member<T>,
        out: &mut Out<'_, Members<T>>,
    ) {
        let here = here();
        let roster = out.update(|members| members.roster.clone()).flatten();
        let roster = roster.and_then(|roster| roster.downcast::<Vec<(Rc<K>, Member<T>)>>().ok());
        let listed = roster.as_ref().map_or(&[][..], |roster| &roster[..]);
        let is_as_before =
            |((known, member), key): (&(Rc<K>, Member<T>), &K)| **known == *key && here.has(member.stream);
        if listed.len() == keys.len() && listed.iter().zip(keys).all(is_as_before) {
            return;
        }
        self.find_by(&roster);
        let next = self.make_next(&here, keys, make);
        if self.members.len() > next.len() {
            for (key, member) in listed {
                if self.members.get(key).is_some_and(|(_, seen)| *seen != self.round) {
                    self.members.remove(key);
                    member.remove_owner(&here);
                }
            }
        }
        self.of = Some(next.clone());
        self.new.clear();
        out.update(|members| {
            let streams = members.change();
            streams.clear();
            streams.extend(next.iter().map(|(_, member)| member.stream));
            members.roster = Some(next as Rc<dyn Any>);
        });
        // The keys that are gone are dropped here, in the order of the list.
        self.spare = roster.and_then(|mut roster| {
            Rc::get_mut(&mut roster)?.clear();
            Some(roster)
        });
    }

    /// Lets the map be that of a roster.
    fn find_by(&mut self, roster: &Option<Roster<K, T>>) {
        let is_known = match (&self.of, roster) {
            (Some(known), Some(roster)) => Rc::ptr_eq(known, roster),
            (known, roster) => known.is_none() && roster.is_none(),
        };
        if !is_known {
            self.members.clear();
            let all = roster.iter().flat_map(|roster| roster.iter());
            self.members.extend(all.map(|(key, member)| (key.clone(), (*member, self.round))));
            self.of.clone_from(roster);
        }
    }

    /// Returns the roster of these keys, each once. Their members are in the map, and are marked as
    /// seen.
    fn make_next(
        &mut self,
        here: &Here,
        keys: &[K],
        mut make: impl FnMut(Making<'_>, K) -> Member<T>,
    ) -> Roster<K, T> {
        self.round += 1;
        let (now, how) = (self.round, self.how);
        let mut make = |key: &K| make(Making { here, how }, key.clone());
        let mut roster = self.spare.take().unwrap_or_default();
        let next = Rc::get_mut(&mut roster).expect("nobody else has what is spare");
        for key in keys {
            if let Some((member, seen)) = self.members.get_mut(key) {
                if !here.has(member.stream) {
                    // Removed by hand.
                    member.remove_owner(here);
                    *member = make(key);
                }
                if std::mem::replace(seen, now) != now {
                    let member = *member;
                    let (key, _) = self.members.get_key_value(key).expect("it was found");
                    next.push((key.clone(), member));
                }
            } else {
                let (member, key) = (make(key), Rc::new(key.clone()));
                self.new.push(key.clone());
                self.members.insert(key.clone(), (member, now));
                next.push((key, member));
            }
        }
        roster
    }
}
