//! Snapshots of a world's values, to go back to.

use crate::engine::Core;
use crate::engine::group::Group;
use crate::engine::slot::{Phase, State};
use crate::engine::waits::Living;
use crate::error::Origin;
use crate::streams::reading::Looking;
use crate::world::World;
use std::any::Any;
use std::collections::HashSet;
use std::fmt;

/// The values of all streams of a world after a frame; see [`World::snapshot`].
pub struct Snapshot {
    world: u32,
    frames: u64,
    epoch: u32,
    values: Vec<Kept>,
}

/// A stream with its state and its value, if it had one.
type Kept = (Living, State, Option<Box<dyn Any>>);

/// Why a world has no snapshot, or cannot go back to one.
#[derive(Clone)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The stream lives over frames, or waits over frames, or has failed: it has more state than
    /// its value.
    NotAtRest(Origin),
    /// So many streams of the snapshot have been removed since.
    Removed(usize),
    /// The snapshot is another world's.
    OtherWorld,
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SnapshotError::NotAtRest(origin) => write!(
                f,
                "{origin} has state beside its value, since it lives or waits over frames or has failed; \
                 make it of `stream`, `fold`, `previous` and the like"
            ),
            SnapshotError::Removed(streams) => {
                write!(f, "streams of the snapshot have been removed since: {streams} of them")
            }
            SnapshotError::OtherWorld => f.write_str("the snapshot belongs to another world"),
        }
    }
}

/// The same text, since it is what a program prints whose `main` returns the error.
impl fmt::Debug for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for SnapshotError {}

impl World {
    /// Returns a copy of the values of all streams, to go back to with [`restore`](World::restore),
    /// as rollback networking needs it.
    ///
    /// A stream's state must be in its value: inputs, [`stream`](crate::Here::stream) with a body
    /// that changes nothing it has captured, [`fold`](crate::Here::fold),
    /// [`previous`](crate::Here::previous) and what is made of them. It takes time and memory for
    /// each stream. A change of what a closure has captured cannot be noticed, and is not undone.
    ///
    /// ```
    /// use lisle_frame::World;
    ///
    /// let mut world = World::new();
    /// let one = world.input(1);
    /// let sum = world.fold(one.stream(), 0, |sum, n| *sum += n);
    /// world.frame();
    /// let then = world.snapshot()?;
    /// world.frame();
    /// assert_eq!(world.get(sum)?, 2);
    /// world.restore(&then)?;
    /// assert_eq!((world.get(sum)?, world.frames()), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error that names a stream with a state beside its value.
    pub fn snapshot(&self) -> Result<Snapshot, SnapshotError> {
        let core = &self.core;
        let streams = at_rest(core)?;
        // Cloning is the user's code, and may remove streams: their values stay until it is over.
        let looking = Looking::new(core);
        let values = streams.into_iter().map(|(living, state)| {
            // SAFETY: the stream is there, and has a value if its state says so.
            let value = state.has_value().then(|| unsafe { Group::of(living.head).clone_value(living.head) });
            (living, state, value)
        });
        let values = values.collect();
        drop(looking);
        core.bury_at_rest();
        Ok(Snapshot { world: core.id, frames: core.frames.get(), epoch: core.epoch.get(), values })
    }

    /// Goes back to a snapshot of this world: each stream has the value that it had then, and the
    /// number of the frame is that of then. Streams that were made since are removed.
    ///
    /// # Errors
    ///
    /// Returns an error if streams of the snapshot have been removed since, which cannot be made
    /// again, as by a [keyed](crate::Here::keyed) list that has shrunk, or if a stream of it now
    /// lives or waits over frames. Then nothing has changed.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), SnapshotError> {
        let core = &self.core;
        if snapshot.world != core.id {
            return Err(SnapshotError::OtherWorld);
        }
        let removed = snapshot.values.iter().filter(|(living, ..)| living.get().is_none()).count();
        if removed > 0 {
            return Err(SnapshotError::Removed(removed));
        }
        let known = snapshot.values.iter().map(|(living, ..)| living.head).collect::<HashSet<_>>();
        let mut younger = Vec::new();
        at_rest_if(core, |living| known.contains(&living.head), &mut younger)?;
        younger.into_iter().for_each(|living| core.remove(living));
        for (living, state, value) in &snapshot.values {
            // SAFETY: slots live as long as the world; nobody looks at the value.
            unsafe { Group::of(living.head).go_back(*living, *state, value.as_deref()) };
        }
        core.frames.set(snapshot.frames);
        core.set_epoch(snapshot.epoch);
        core.look_again();
        Ok(())
    }
}

type Rest = Vec<(Living, State)>;

fn at_rest(core: &Core) -> Result<Rest, SnapshotError> {
    at_rest_if(core, |_| true, &mut Vec::new())
}

/// Returns the streams that are wanted, which must all be at rest. The others are added to a list.
fn at_rest_if(
    core: &Core,
    wanted: impl Fn(&Living) -> bool,
    others: &mut Vec<Living>,
) -> Result<Rest, SnapshotError> {
    let (mut streams, mut restless) = (Vec::new(), None);
    core.each_stream(|group, pointer, head| {
        // SAFETY: slots live as long as the world.
        let living = unsafe { Living::new(pointer) };
        let state = head.state.get();
        if !wanted(&living) {
            others.push(living);
        } else if matches!(state.phase(), Phase::Settled | Phase::Fresh | Phase::Ended)
            && core.rests(group, pointer)
        {
            streams.push((living, state));
        } else {
            restless.get_or_insert(pointer);
        }
    });
    match restless {
        Some(pointer) => Err(SnapshotError::NotAtRest(core.origin(pointer))),
        None => Ok(streams),
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let streams = self.values.len();
        f.debug_struct("Snapshot")
            .field("frame", &self.frames)
            .field("streams", &streams)
            .finish_non_exhaustive()
    }
}
