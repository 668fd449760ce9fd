//! The client: one thread that asks at fixed times, over several connections in turn.

use super::answer::{ANSWER, REQUEST};
use hdrhistogram::Histogram;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    thread::set_current_timer_slack,
};
use std::{
    collections::VecDeque,
    io::{self, ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream},
    num::NonZero,
    time::{Duration, Instant},
};

const CONNECTIONS: usize = 16;

/// How long an answer may take before it counts as lost.
const LOST: Duration = Duration::from_secs(5);

pub(crate) struct Client {
    connections: Vec<Connection>,
    /// The time from one request to the next.
    period: Duration,
}

/// The result of asking. All answers were right.
pub(crate) struct Asked {
    pub(crate) requests: u64,
    /// The 50th, 99th and 99.9th, in microseconds.
    pub(crate) percentiles: [f64; 3],
    pub(crate) rows_a_second: f64,
}

#[derive(Clone, Copy, Default)]
struct Answer {
    number: u64,
    rows: u64,
    checksum: u64,
}

impl Client {
    /// Connects from this thread, which is to do the asking.
    pub(crate) fn connect(address: SocketAddr, rate: u64) -> io::Result<Self> {
        // The kernel may be late by 50 µs otherwise, for the sake of fewer wakes.
        set_current_timer_slack(NonZero::new(1))?;
        go_first();
        let connections = (0..CONNECTIONS).map(|_| Connection::open(address)).collect::<io::Result<_>>()?;
        Ok(Client { connections, period: Duration::from_secs(1) / rate as u32 })
    }

    /// Asks until the loop has run once. The checksum of its result.
    pub(crate) fn first_picture(&mut self) -> io::Result<u64> {
        let start = Instant::now();
        loop {
            let last = self.ask_for(Duration::from_millis(20), |_| ())?;
            if last.checksum != 0 {
                return Ok(last.checksum);
            }
            if start.elapsed() > LOST {
                return Err(io::Error::new(ErrorKind::TimedOut, "the loop does not end"));
            }
        }
    }

    /// Asks nothing for so long. How many rows the loop has made in a second.
    pub(crate) fn wait(&mut self, duration: Duration) -> io::Result<f64> {
        self.rate(|_| {
            std::thread::sleep(duration);
            Ok(())
        })
    }

    /// Asks for so long.
    pub(crate) fn ask(&mut self, duration: Duration) -> io::Result<Asked> {
        let mut nanoseconds = Histogram::<u64>::new(3).expect("three digits are allowed");
        let rows_a_second = self.rate(|client| {
            let record = |late: Duration| nanoseconds.record(late.as_nanos() as u64).expect("it resizes");
            client.ask_for(duration, record).map(drop)
        })?;
        let percentile = |quantile| nanoseconds.value_at_quantile(quantile) as f64 / 1000.0;
        let percentiles = [0.5, 0.99, 0.999].map(percentile);
        Ok(Asked { requests: nanoseconds.len(), percentiles, rows_a_second })
    }

    /// How many rows the loop makes in a second of `during`.
    fn rate(&mut self, during: impl FnOnce(&mut Self) -> io::Result<()>) -> io::Result<f64> {
        let now = |client: &mut Self| {
            let last = client.ask_for(Duration::ZERO, |_| ())?;
            io::Result::Ok((last.rows, Instant::now()))
        };
        let (before, start) = now(self)?;
        during(self)?;
        let (after, end) = now(self)?;
        Ok((after - before) as f64 / (end - start).as_secs_f64())
    }

    /// Asks for so long, but once at least, and tells `answered` how long after its time each
    /// request was answered. The last of the answers.
    fn ask_for(&mut self, duration: Duration, mut answered: impl FnMut(Duration)) -> io::Result<Answer> {
        let start = Instant::now();
        let count = (duration.as_nanos() / self.period.as_nanos()).max(1) as u64;
        let due = |number: u64| start + self.period * number as u32;
        let (mut asked, mut open) = (0, 0);
        let mut last = Answer::default();
        while asked < count || open > 0 {
            let mut now = Instant::now();
            while asked < count && due(asked) <= now {
                self.connections[asked as usize % CONNECTIONS].ask(asked)?;
                (asked, open) = (asked + 1, open + 1);
                now = Instant::now();
            }
            let wait = if asked < count { due(asked) - now } else { LOST };
            for nth in readable(&self.connections, wait)? {
                let connection = &mut self.connections[nth];
                connection.receive()?;
                while let Some(answer) = connection.next()? {
                    answered(due(answer.number).elapsed());
                    open -= 1;
                    last = if answer.rows >= last.rows { answer } else { last };
                }
            }
            let oldest = self.connections.iter().filter_map(|connection| connection.expected.front()).min();
            if oldest.is_some_and(|&oldest| due(oldest).elapsed() > LOST) {
                return Err(io::Error::new(ErrorKind::TimedOut, "no answer for 5 s"));
            }
        }
        Ok(last)
    }
}

/// Has the kernel run this thread as soon as it can be run, if it may ask for that. Where a client
/// shares its cores with the server's loop, it would otherwise be its own lateness that it
/// measures, of some milliseconds.
fn go_first() {
    let lowest = libc::sched_param { sched_priority: 1 };
    // SAFETY: the parameter is in place during the call, and 0 is this thread.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_RR | libc::SCHED_RESET_ON_FORK, &raw const lowest) };
}

/// Returns the connections on which an answer has come, after waiting for one for at most `wait`.
fn readable(connections: &[Connection], wait: Duration) -> io::Result<Vec<usize>> {
    let mut fds: Vec<_> =
        connections.iter().map(|connection| PollFd::new(&connection.stream, PollFlags::IN)).collect();
    let wait = Timespec { tv_sec: wait.as_secs().cast_signed(), tv_nsec: wait.subsec_nanos().into() };
    poll(&mut fds, Some(&wait))?;
    Ok((0..fds.len()).filter(|&nth| !fds[nth].revents().is_empty()).collect())
}

struct Connection {
    stream: TcpStream,
    /// The numbers of the requests that have not been answered, in their order.
    expected: VecDeque<u64>,
    received: Vec<u8>,
}

impl Connection {
    fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(Connection { stream, expected: VecDeque::new(), received: Vec::new() })
    }

    /// This few bytes always fit the kernel's buffer.
    fn ask(&mut self, number: u64) -> io::Result<()> {
        self.expected.push_back(number);
        let request: [u8; REQUEST] = number.to_le_bytes();
        self.stream.write_all(&request)
    }

    fn receive(&mut self) -> io::Result<()> {
        let mut buffer = [0; 64 * ANSWER];
        match self.stream.read(&mut buffer) {
            Ok(0) => Err(wrong("the server has hung up")),
            Ok(count) => {
                self.received.extend(&buffer[..count]);
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The next answer that has come whole.
    fn next(&mut self) -> io::Result<Option<Answer>> {
        if self.received.len() < ANSWER {
            return Ok(None);
        }
        let bytes: Vec<u8> = self.received.drain(..ANSWER).collect();
        let value =
            |nth: usize| u64::from_le_bytes(bytes[8 * nth..][..8].try_into().expect("it has 8 bytes"));
        let answer = Answer { number: value(0), rows: value(1), checksum: value(2) };
        if self.expected.pop_front() == Some(answer.number) {
            Ok(Some(answer))
        } else {
            Err(wrong("a wrong answer"))
        }
    }
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::{super::answer::Progress, *};
    use std::{net::TcpListener, thread};

    /// Asks a server that gives back each request with `answer`, for 50 ms.
    fn ask(answer: impl Fn(&Progress, [u8; REQUEST]) -> [u8; ANSWER] + Sync) -> io::Result<Asked> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let progress = Progress::new();
        progress.picture(|| 7);
        thread::scope(|scope| {
            let (answer, progress) = (&answer, &progress);
            scope.spawn(move || {
                for _ in 0..CONNECTIONS {
                    let (mut stream, _) = listener.accept().unwrap();
                    scope.spawn(move || {
                        let mut request = [0; REQUEST];
                        while stream.read_exact(&mut request).is_ok() {
                            progress.row();
                            if stream.write_all(&answer(progress, request)).is_err() {
                                break;
                            }
                        }
                    });
                }
            });
            let mut client = Client::connect(address, 1000)?;
            assert_eq!(client.first_picture()?, 7);
            client.ask(Duration::from_millis(50))
        })
    }

    #[test]
    fn all_requests_are_counted_and_timed() {
        let asked = ask(|progress, request| progress.answer(request)).unwrap();
        assert_eq!(asked.requests, 50);
        let [p50, p99, p999] = asked.percentiles;
        assert!(0.0 < p50 && p50 <= p99 && p99 <= p999);
        assert!(asked.rows_a_second > 0.0);
    }

    #[test]
    fn an_answer_to_something_else_is_an_error() {
        let other = |progress: &Progress, _| progress.answer([9; REQUEST]);
        assert!(ask(other).is_err_and(|error| error.to_string() == "a wrong answer"));
    }
}
