//! A builder for fibers: the name of a fiber, and the domain on which it is placed.

use super::join::JoinHandle;
use super::scope::{Scope, ScopedJoinHandle};
use super::spawn::spawn_unchecked;
use crate::sched::destination::Destination;
use crate::spawned::fiber_cell::Traits;
use std::panic::Location;
use std::sync::Arc;

/// A builder for fibers with a name, or on a given domain.
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// let fiber = lisle::fiber::Builder::new().name("adder").spawn(|| 1 + 1);
/// assert_eq!(fiber.name(), Some("adder"));
/// assert_eq!(fiber.join().unwrap(), 2);
/// ```
///
/// # Where a fiber runs
///
/// A fiber that is spawned without a destination begins on the domain of its spawner, unless an idle
/// domain takes it over because it has not begun for 100 µs. From then on it stays. So fibers that
/// are spawned together and soon wait run on one domain for as long as they live, although another
/// domain sleeps. That is best for fibers that live short, and for fibers that exchange messages
/// with their spawner.
///
/// For fibers that live long a runtime *learns*. It notes a line of the program if the fibers
/// spawned there have exchanged hundreds of messages with their own children, or with the fibers
/// that were spawned just before and after them. It then deals out later fibers of this line to the
/// domains, in groups of neighbours. Such a fiber waits for its domain, as a fiber with a destination
/// does. If the messages cross domains all the same, the runtime gives the line up. It cannot learn
/// from a line that runs once. So if fibers live long and have more work than one domain can do,
/// place them. The last of these calls counts:
///
/// | | where the fiber runs |
/// |---|---|
/// | [`spread`](Builder::spread) | on a domain that has room: the first of a group of fibers |
/// | [`near`](Builder::near) | on the domain of another fiber: the others of the group |
/// | [`domain`](Builder::domain) | on the domain with an index |
/// | [`first_free`](Builder::first_free) | on the domain that is free first |
///
/// A [task](crate::task) needs no destination. It begins on its spawner's stack, goes on on the domain of
/// the partner that wakes it, and may be taken over by an idle domain whenever it is ready.
#[derive(Debug, Clone, Default)]
pub struct Builder {
    name: Option<Arc<str>>,
    destination: Destination,
}

impl Builder {
    /// Creates a builder for a fiber without a name, on any domain.
    pub fn new() -> Self {
        Builder::default()
    }

    /// Sets the name that appears in messages about panics, overflows and shutdowns.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::fiber::Builder;
    ///
    /// lisle::run(|| {
    ///     let fails = Builder::new().name("parser").spawn(|| "x".parse::<u32>().unwrap());
    ///     assert!(fails.join().unwrap_err().to_string().contains("'parser'"));
    /// });
    /// ```
    #[must_use]
    pub fn name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the domain that the fiber stays on.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::fiber::Builder;
    ///
    /// lisle::Runtime::builder().domains(2).run(|| {
    ///     let beside = || Builder::new().domain(1).spawn(|| std::thread::current().id());
    ///     let (one, other) = (beside(), beside());
    ///     assert_eq!(one.join().unwrap(), other.join().unwrap()); // on the thread of domain 1
    /// });
    /// ```
    #[must_use]
    pub fn domain(mut self, index: usize) -> Self {
        self.destination = Destination::Domain(index);
        self
    }

    /// Places the fiber on the domain that has the most room, where it stays.
    ///
    /// That is the domain on which the fewest spread fibers live. Of several such domains it is one
    /// that sleeps, if any does; else the spawner's, if it is one of them. Fibers that were not
    /// spread do not count: spread all fibers that carry the load.
    ///
    /// This is for fibers that live long and each have their own work: the connections of a server,
    /// players, the first one of each pair or group. The fibers that such a fiber spawns begin
    /// beside it. A fiber that lives short, or that exchanges most of its messages with its
    /// spawner, is better spawned without it, since a message between two domains costs several
    /// times as much as a message within one.
    ///
    /// On a runtime with one domain this has no effect. Outside any runtime it spreads over the
    /// domains of the default one.
    ///
    /// # Complexity
    ///
    /// Linear in the number of domains, at some nanoseconds each; and a wake, if the domain sleeps.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::{fiber::Builder, sync::Latch};
    /// use std::sync::Arc;
    ///
    /// lisle::Runtime::builder().domains(2).run(|| {
    ///     let begin = Arc::new(Latch::new(1));
    ///     let players = [1, 2].map(|_| {
    ///         let begin = begin.clone();
    ///         Builder::new().spread().spawn(move || {
    ///             begin.wait();
    ///             std::thread::current().id()
    ///         })
    ///     });
    ///     begin.count_down();
    ///     let [one, other] = players.map(|player| player.join().unwrap());
    ///     assert_ne!(one, other); // each has a domain of its own
    /// });
    /// ```
    #[must_use]
    pub fn spread(mut self) -> Self {
        self.destination = Destination::Spread;
        self
    }

    /// Places the fiber on the domain that is free first: a domain that has nothing to do takes it at once,
    /// and one that sleeps is woken for it.
    ///
    /// This is for a fiber that computes while its spawner goes on. Without it an idle domain takes the
    /// fiber over only if it has not begun for 100 µs.
    ///
    /// # Complexity
    ///
    /// The fiber goes through a queue that all domains share. Waking a domain takes some microseconds.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::fiber::{self, Builder};
    ///
    /// lisle::Runtime::builder().domains(2).run(|| {
    ///     let (tx, rx) = std::sync::mpsc::channel();
    ///     drop(Builder::new().first_free().spawn(move || tx.send(fiber::domain())));
    ///     let domain = rx.recv().unwrap(); // blocks this domain, so it is the other one
    ///     assert_eq!(domain, Some(1));
    /// });
    /// ```
    #[must_use]
    pub fn first_free(mut self) -> Self {
        self.destination = Destination::FirstFree;
        self
    }

    /// Places the fiber on the domain of another fiber, where it stays.
    ///
    /// This is for fibers that exchange many messages: between fibers of one domain a message costs
    /// no transfer between cores and wakes no thread.
    ///
    /// The domain is looked up when `near` is called. It is known from when the other fiber is
    /// spawned, if that one has a destination itself, and otherwise from when it begins; it is still
    /// known when that fiber has ended. If it is not known, because the other fiber has not begun
    /// and may yet begin anywhere, or if it belongs to another runtime than the one that the fiber
    /// is spawned on, then the fiber is spawned as without a destination. So give the first fiber a
    /// destination ([`spread`](Builder::spread), for example), or call this from a fiber that has heard from
    /// it.
    ///
    /// # Complexity
    ///
    /// Spawning is linear in the number of domains, at about a nanosecond each.
    ///
    /// # Examples
    ///
    /// Pairs that are each together, and apart from one another:
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::{channel, fiber::Builder};
    ///
    /// let here = || std::thread::current().id();
    /// lisle::Runtime::builder().domains(2).run(|| {
    ///     let pairs = [1, 2].map(|_| {
    ///         let (question, asked) = channel::<u32>();
    ///         let (answer, answered) = channel();
    ///         let answers = Builder::new().spread().spawn(move || {
    ///             asked.iter().for_each(|n| answer.send(n * n).unwrap());
    ///             here()
    ///         });
    ///         let asks = Builder::new().near(&answers).spawn(move || {
    ///             question.send(7).unwrap();
    ///             assert_eq!(answered.recv(), Ok(49));
    ///             here()
    ///         });
    ///         (answers, asks)
    ///     });
    ///     for (answers, asks) in pairs {
    ///         assert_eq!(answers.join().unwrap(), asks.join().unwrap());
    ///     }
    /// });
    /// ```
    #[must_use]
    pub fn near<T>(mut self, fiber: &JoinHandle<T>) -> Self {
        self.destination = Destination::beside(fiber.fiber());
        self
    }

    /// Spawns the fiber, see [`spawn`](crate::spawn).
    ///
    /// # Panics
    ///
    /// As [`spawn`](crate::spawn), and if the runtime has no such domain.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::fiber::Builder;
    ///
    /// let reader = Builder::new().name("reader");
    /// let fibers = [1, 2].map(|n| reader.clone().spawn(move || n));
    /// assert_eq!(fibers.map(|fiber| fiber.join().unwrap()), [1, 2]);
    /// ```
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let traits = Traits { name: self.name, ..Traits::default() };
        // SAFETY: nothing is borrowed.
        unsafe { spawn_unchecked(f, traits, self.destination, Location::caller()) }
    }

    /// Spawns the fiber in `scope`, so that it may borrow values that outlive the scope. See
    /// [`Scope::spawn`].
    ///
    /// # Panics
    ///
    /// As [`spawn`](Builder::spawn).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::fiber::{self, Builder};
    ///
    /// let lines = ["one two", "three"];
    /// fiber::scope(|scope| {
    ///     let counts = lines.each_ref().map(|line| {
    ///         Builder::new().spread().spawn_scoped(scope, || line.split(' ').count())
    ///     });
    ///     assert_eq!(counts.map(|count| count.join().unwrap()), [2, 1]);
    /// });
    /// ```
    #[track_caller]
    pub fn spawn_scoped<'scope, F, T>(
        self,
        scope: &'scope Scope<'scope, '_>,
        f: F,
    ) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        scope.spawn_placed(f, self.name, self.destination, Location::caller())
    }
}
