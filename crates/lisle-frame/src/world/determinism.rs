//! Finding streams that depend on the time that calls take.
//!
//! Calls are retired in the order in which they were made, so that a frame has the same values for
//! any number of workers. These can still depend on time: unordered functions, calls over frames,
//! calls with a deadline, and bodies that share data that the world does not know, such as a list to
//! which they push when their call is done. The mode that shuffles retires calls in a random order,
//! as if they had taken random times. It retires calls that may end in a later frame in a random
//! frame.

use crate::error::{Origin, StreamError};
use crate::streams::handle::{Stream, for_a_fingerprint};
use crate::world::World;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A stream that is watched.
pub(crate) struct Watched {
    origin: Origin,
    fingerprint: Box<dyn Fn(&World) -> u64>,
}

/// A stream whose values depend on the time that foreign calls take; see [`find_dependence`].
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dependence {
    /// The first of the watched streams that differed.
    pub stream: Origin,
    /// The frame in which it differed.
    pub frame: u64,
    /// The seed with which it differed, for [`World::shuffle`].
    pub seed: u64,
    /// A function with a call that may end in a later frame, because it was made [over
    /// frames](crate::Foreign::call_over_frames) or has a [deadline](crate::Deadline). If there is
    /// such a function, it is the likely cause.
    pub untimed: Option<&'static str>,
}

impl fmt::Display for Dependence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the value of {} in frame {} depends on the order in which calls end",
            self.stream, self.frame
        )?;
        match self.untimed {
            None => write!(f, " (seed {})", self.seed),
            Some(function) => write!(
                f,
                ", or on the frames in which they end (seed {}); the function '{function}' is called over frames \
                 or has a deadline, so that the frame in which a call of it ends depends on time",
                self.seed
            ),
        }
    }
}

/// Writes the same text as `Display`: a program whose `main` returns the error prints its `Debug`
/// form.
impl fmt::Debug for Dependence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Dependence {}

impl World {
    /// Retires foreign calls in a random order from now on, one by one, for tests. Calls that may end
    /// in a later frame, by [`call_over_frames`](crate::Foreign::call_over_frames) or a
    /// [deadline](crate::Deadline), end in a random frame. The same seed gives the same order.
    pub fn shuffle(&mut self, seed: u64) {
        self.core.foreigns().order().shuffle.set(Some(seed));
    }

    /// Makes a stream's value a part of the world's [`fingerprint`](World::fingerprint).
    ///
    /// # Errors
    ///
    /// Returns an error if the stream was removed or belongs to another world.
    pub fn watch<T: Hash + 'static>(&mut self, stream: Stream<T>) -> Result<(), StreamError> {
        self.watch_by(stream, T::hash::<DefaultHasher>)
    }

    /// Does the same as [`watch`](World::watch) for values that have no hash, such as floating-point
    /// numbers: `f` hashes them.
    ///
    /// ```
    /// use lisle_frame::World;
    /// use std::hash::Hash;
    ///
    /// let mut world = World::new();
    /// let height = world.fold(world.stream(async || 0.1), 0.0_f64, |height, step| *height += step);
    /// world.watch_by(height, |height, hasher| height.to_bits().hash(hasher))?;
    /// world.frame();
    /// let first = world.fingerprint();
    /// world.frame();
    /// assert_ne!(world.fingerprint(), first);
    /// # Ok::<(), lisle_frame::StreamError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`watch`](World::watch).
    pub fn watch_by<T: 'static>(
        &mut self,
        stream: Stream<T>,
        f: impl Fn(&T, &mut DefaultHasher) + 'static,
    ) -> Result<(), StreamError> {
        let living = stream.living(&self.core)?;
        let fingerprint = move |world: &World| {
            let mut hasher = DefaultHasher::new();
            // A stream that has failed has no value; the reason does not count.
            let hashes = |value: &T| for_a_fingerprint(&world.core, || f(value, &mut hasher));
            world.with(stream, hashes).is_ok().hash(&mut hasher);
            hasher.finish()
        };
        let origin = self.core.origin(living.head);
        self.watched.push(Watched { origin, fingerprint: Box::new(fingerprint) });
        Ok(())
    }

    /// Returns a hash of the values that the watched streams had in the last frame. For one build of
    /// a program the hash is the same in each run, and for any number of workers, unless a watched
    /// stream depends on the time that calls take: see [`find_dependence`]. Handles of this world's
    /// streams are hashed by the position of the stream in the world.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.fingerprints().for_each(|fingerprint| fingerprint.hash(&mut hasher));
        hasher.finish()
    }

    fn fingerprints(&self) -> impl Iterator<Item = u64> {
        self.watched.iter().map(|watched| (watched.fingerprint)(self))
    }
}

/// Looks for a stream that depends on the time that foreign calls take. Runs a world for a number of
/// frames as it is, and again for each seed with [shuffled](World::shuffle) calls, and compares the
/// watched streams. `make` makes the same world each time.
///
/// A stream that it finds does depend on time. There may be others that it does not find. A stream
/// that awaits a call [over frames](crate::Foreign::call_over_frames), or a call with a
/// [deadline](crate::Deadline), depends on time, and so do the streams that read it. The error names
/// such a function. Streams that must be the same on each computer await only calls within the frame.
/// (Without shuffling, this waits for calls over frames between the frames, for a tenth of a second
/// at most. With shuffling they end in one of the next frames.)
///
/// ```
/// use lisle_frame::{Foreign, World, find_dependence};
/// use std::cell::Cell;
/// use std::rc::Rc;
///
/// let work = Foreign::new("work", |n: u32| n);
/// let world = |is_planted| {
///     let mut world = World::new();
///     let shared = Rc::new(Cell::new(0));
///     for n in 1..10 {
///         let shared = shared.clone();
///         let place = world.named("place").stream(async move || {
///             let n = work.call(n).await;
///             // The counter tells the order of arrival.
///             shared.set(shared.get() + 1);
///             if is_planted { shared.get() } else { n }
///         });
///         world.watch(place).unwrap();
///     }
///     world
/// };
/// assert!(find_dependence(3, 0..10, || world(false)).is_ok());
/// let found = find_dependence(3, 0..10, || world(true)).unwrap_err();
/// assert_eq!(found.stream.name(), Some("place"));
/// ```
///
/// # Errors
///
/// Returns the first stream that differs.
pub fn find_dependence(
    frames: u64,
    seeds: impl IntoIterator<Item = u64>,
    mut make: impl FnMut() -> World,
) -> Result<(), Dependence> {
    let mut make = || {
        let world = make();
        world.core.foreigns().order().is_patient.set(true);
        world
    };
    let mut ordered = make();
    let expected = (0..frames).map(|_| {
        ordered.frame();
        ordered.fingerprints().collect::<Vec<_>>()
    });
    let expected = expected.collect::<Vec<_>>();
    for seed in seeds {
        let mut shuffled = make();
        shuffled.shuffle(seed);
        for (frame, expected) in (1..).zip(&expected) {
            shuffled.frame();
            let differs =
                shuffled.fingerprints().zip(expected).position(|(found, expected)| found != *expected);
            if let Some(at) = differs {
                let stream = shuffled.watched[at].origin.clone();
                let untimed = [&shuffled, &ordered].map(|world| world.core.foreigns().order().untimed.get());
                let untimed = untimed.into_iter().flatten().next();
                return Err(Dependence { stream, frame, seed, untimed });
            }
        }
    }
    Ok(())
}
