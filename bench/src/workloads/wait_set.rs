//! One receiver waits for messages from many sources, a random one of which has something: the cost
//! of a source that stays silent.
//!
//! Every source is a channel of one slot. The receiver tells by which source a message has come,
//! and gives it back as the answer, on a channel that all share. Which source is next is known to
//! neither side's system: the sources follow a generator of random numbers. One message is on its
//! way at a time, or sixteen: then the receiver finds several sources ready when it runs.

#[path = "wait_set/futures.rs"]
mod futures;
#[path = "wait_set/lisle.rs"]
mod lisle;
#[path = "wait_set/threads.rs"]
mod threads;

use self::futures::futures;
use crate::{
    job::Job,
    peers::{
        AsyncChannel, Flume, Kanal, LisleTasks, Smol, Tokio, TokioCurrentThread, TokioMpsc, TokioMultiThread,
    },
    workload::{Case, Program, Unit, Workload, param},
};

const ONE: &str = "one-in-flight";
const SIXTEEN: &str = "sixteen-in-flight";

pub(crate) static WORKLOAD: Workload = Workload {
    name: "wait-set",
    about: "one receiver waits for many channels, a random one of which has a message, and answers it",
    follows: "the comparisons of select, poll and epoll: many connections, most of them idle",
    unit: Unit::lower_is_better("ns/answer"),
    units: &[],
    cases: &[
        Case::new(ONE, &[param("sources", 10)]).workers(1),
        Case::new(ONE, &[param("sources", 1000)]).workers(1),
        Case::new(ONE, &[param("sources", 100_000)]).workers(1),
        Case::new(SIXTEEN, &[param("sources", 10)]).workers(1),
        Case::new(SIXTEEN, &[param("sources", 1000)]).workers(1),
        Case::new(SIXTEEN, &[param("sources", 100_000)]).workers(1),
    ],
    programs: &[
        Program::here("lisle", lisle::wait_set).note("WaitSet"),
        Program::here("lisle-choose", lisle::choose).note("a choice made once, performed for each message"),
        Program::here("lisle-tasks", lisle::futures::<LisleTasks>).note("WaitSet"),
        Program::here("lisle-futures", lisle::futures::<Tokio>).note("WaitSet"),
        Program::here("tokio-ct", futures::<TokioCurrentThread, TokioMpsc>).note("FuturesUnordered"),
        Program::here("tokio-mt", futures::<TokioMultiThread, TokioMpsc>).note("FuturesUnordered"),
        Program::here("kanal", futures::<Tokio, Kanal>).note("FuturesUnordered on tokio"),
        Program::here("flume", futures::<Tokio, Flume>).note("FuturesUnordered on tokio"),
        Program::here("async-channel", futures::<Tokio, AsyncChannel>).note("FuturesUnordered on tokio"),
        Program::here("smol", futures::<Smol, AsyncChannel>).note("FuturesUnordered"),
        Program::here("crossbeam-channel", threads::crossbeam).note("Select, on two threads"),
        Program::elsewhere("go").note("reflect.Select"),
    ],
};

/// One case.
#[derive(Clone, Copy)]
struct Plan {
    sources: u64,
    /// How many messages may be on their way.
    in_flight: u64,
}

impl Plan {
    fn new(job: &Job) -> Self {
        let in_flight = match job.variant.as_str() {
            ONE => 1,
            SIXTEEN => 16,
            variant => panic!("no variant `{variant}`"),
        };
        Plan { sources: job.param("sources"), in_flight }
    }

    /// Makes the sources' channels, and the one for the answers.
    fn ends<S, R>(self, mut channel: impl FnMut(usize) -> (S, R)) -> (Asker<S, R>, Server<S, R>) {
        let (senders, receivers) = (0..self.sources).map(|_| channel(1)).unzip();
        let (answer, answers) = channel(self.in_flight as usize);
        (Asker { plan: self, senders, answers }, Server { receivers, answer })
    }

    /// Where the messages go, from the first, which goes to the last source.
    fn route(self) -> impl Iterator<Item = usize> {
        std::iter::once(self.sources as usize - 1).chain(Route { sources: self.sources, state: 0 })
    }

    /// Have the `n` messages, and the one before, come by the sources they were sent to?
    fn check(self, n: u64, tally: Tally) {
        let mut expected = Tally::default();
        for (message, source) in (0..=n).zip(self.route()) {
            expected.note(source as u64, message);
        }
        assert_eq!(tally, expected, "the sums of the received numbers");
    }
}

/// The sender of the messages, which waits for the answers. The first message is not timed. It
/// comes by the last source. So a receiver that begins by enlisting with each source has done so
/// when it answers.
struct Asker<S, R> {
    plan: Plan,
    senders: Vec<S>,
    answers: R,
}

/// The server, which waits for the sources.
struct Server<S, R> {
    receivers: Vec<R>,
    answer: S,
}

/// A random source for each message: a linear congruential generator, whose upper half is scaled to
/// the number of sources.
struct Route {
    sources: u64,
    state: u64,
}

impl Iterator for Route {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some((((self.state >> 32) * self.sources) >> 32) as usize)
    }
}

/// The count and the sum of the received messages.
#[derive(Default, Debug, PartialEq, Eq)]
struct Tally {
    sources: u64,
    messages: u64,
}

impl Tally {
    fn note(&mut self, source: u64, message: u64) {
        self.sources += source;
        self.messages += message;
    }
}

/// The loop of an asker over `n` messages after the first; its steps are macros or functions of the
/// system. It sends a message, but first takes an answer where `in_flight` messages are on their
/// way already. Gives the time.
macro_rules! ask {
    ($asker:ident, $n:ident, send $send:expr, receive $receive:expr $(, $await:ident)?) => {{
        let in_flight = $asker.plan.in_flight;
        let mut route = $asker.plan.route();
        let mut source = || route.next().expect("it has no end");
        $send(&$asker.senders[source()], 0)$(.$await)?;
        let mut sum = $receive(&mut $asker.answers)$(.$await)?;
        let start = std::time::Instant::now();
        for message in 1..=$n {
            if message > in_flight {
                sum += $receive(&mut $asker.answers)$(.$await)?;
            }
            $send(&$asker.senders[source()], message)$(.$await)?;
        }
        for _ in 0..in_flight.min($n) {
            sum += $receive(&mut $asker.answers)$(.$await)?;
        }
        let elapsed = start.elapsed();
        assert_eq!(sum, $n * ($n + 1) / 2, "the sum of the answers");
        elapsed
    }};
}
use ask;
