//! Snapshots of a world's values, to which it can go back.

use crate::engine::saved::{Refusal, Saved};
use crate::error::Origin;
use crate::streams::reading::Looking;
use crate::world::World;
use std::fmt;
use std::rc::Rc;

/// The values of all streams of a world after a frame; see [`World::snapshot`].
///
/// As long as a snapshot exists, streams that it has are kept when they are removed, with the
/// captures of their bodies.
pub struct Snapshot(Rc<Saved>);

/// Why a world has no snapshot, or cannot go back to one.
#[derive(Clone)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The stream lives over frames, or waits over frames, or has failed: it has more state than
    /// its value.
    NotAtRest(Origin),
    /// This number of streams of the snapshot have failed for good since, and were removed.
    Removed(usize),
    /// The snapshot belongs to another world.
    OtherWorld,
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SnapshotError::NotAtRest(origin) => write!(
                f,
                "{origin} has state beside its value, because it lives or waits over frames or has failed; make it of \
                 `stream`, `fold`, `previous` and the like, or leave it out of snapshots by `cosmetic`"
            ),
            SnapshotError::Removed(streams) => {
                write!(f, "{streams} streams of the snapshot have failed since and were removed")
            }
            SnapshotError::OtherWorld => f.write_str("the snapshot belongs to another world"),
        }
    }
}

/// Writes the same text as `Display`: a program whose `main` returns the error prints its `Debug`
/// form.
impl fmt::Debug for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for SnapshotError {}

impl World {
    /// Returns a copy of the values of all streams. [`restore`](World::restore) goes back to it, as
    /// a networked game with rollback does.
    ///
    /// The state of a stream must be in its value. This holds for inputs, for a
    /// [`stream`](crate::Here::stream) whose body does not change its captures, for
    /// [`fold`](crate::Here::fold), [`previous`](crate::Here::previous), [lists](crate::Here::keyed)
    /// and streams made of them. [`cosmetic`](crate::Here::cosmetic) leaves streams out of snapshots
    /// that live over frames and only show the game. A snapshot takes time and memory for each
    /// stream. A change of a closure's captures cannot be noticed, and is not undone.
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
        // `clone` is the user's code, and may remove streams: their values stay until it has
        // returned.
        let looking = Looking::new(core);
        let saved = core.save();
        drop(looking);
        core.bury_at_rest();
        let error = |restless| SnapshotError::NotAtRest(core.origin(restless));
        saved.map(Snapshot).map_err(error)
    }

    /// Goes back to a snapshot of this world. Each stream gets the value that it had then, and the
    /// frame gets the number that it had then. Streams that were made since are removed. Streams
    /// that were removed since come back: the members of a [keyed](crate::Here::keyed) list, the
    /// streams that were made for them, and all their handles. Bodies that wait over frames are
    /// dropped where they wait, and are run anew in the next frame.
    ///
    /// [Cosmetic](crate::Here::cosmetic) streams stay as they are.
    ///
    /// ```
    /// use lisle_frame::{World, here};
    ///
    /// let mut world = World::new();
    /// let ships = world.input(vec!["Argo", "Beagle"]);
    /// let ages = world.keyed(ships.stream(), |ship| {
    ///     let one = here().stream(async || 1);
    ///     let age = here().fold(one, 0, |age, one| *age += one);
    ///     async move || (ship, age.await)
    /// });
    /// let ages = world.values(ages);
    /// world.frame();
    /// let then = world.snapshot()?;
    /// world.set(ships, vec!["Beagle"])?; // the Argo sinks
    /// world.frame();
    /// assert_eq!(world.get(ages)?, [("Beagle", 2)]);
    /// world.restore(&then)?;
    /// world.frame();
    /// assert_eq!(world.get(ages)?, [("Argo", 2), ("Beagle", 2)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if streams of the snapshot have failed for good since: such a stream has no
    /// body any more. Then nothing has changed.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), SnapshotError> {
        self.core.go_back(&snapshot.0).map_err(|refusal| match refusal {
            Refusal::OtherWorld => SnapshotError::OtherWorld,
            Refusal::Failed(stream) => SnapshotError::NotAtRest(self.core.origin(stream)),
            Refusal::Removed(streams) => SnapshotError::Removed(streams),
        })
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("frame", &self.0.frames)
            .field("streams", &self.0.streams())
            .finish_non_exhaustive()
    }
}
