//! A load of our own, for the warm-up and for where there is no wrk: closed loops over connections
//! kept alive.

use super::site::{FILE, LENGTH};
use hdrhistogram::Histogram;
use std::{
    io,
    net::{SocketAddr, TcpStream},
    thread,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    runtime::Builder,
    task::JoinSet,
    time::timeout,
};

/// How long a request may take before it counts as lost.
const LOST: Duration = Duration::from_secs(5);

/// Whom to ask, and how.
pub(super) struct Load {
    pub(super) address: SocketAddr,
    pub(super) connections: usize,
    pub(super) threads: usize,
}

/// The result. All answers were right.
#[derive(Debug)]
pub(super) struct Answers {
    pub(super) requests: u64,
    pub(super) elapsed: Duration,
    /// The 50th, 99th and 99.9th, in microseconds.
    pub(super) percentiles: [f64; 3],
}

impl Load {
    /// Asks for the file on all connections at once, again and again.
    pub(super) fn run(&self, duration: Duration) -> io::Result<Answers> {
        let streams: Vec<TcpStream> =
            (0..self.connections).map(|_| self.connect()).collect::<io::Result<_>>()?;
        let mut shares: Vec<Vec<TcpStream>> = (0..self.threads).map(|_| Vec::new()).collect();
        for (nth, stream) in streams.into_iter().enumerate() {
            shares[nth % self.threads].push(stream);
        }
        let start = Instant::now();
        let nanoseconds = thread::scope(|scope| {
            let threads: Vec<_> = shares
                .into_iter()
                .map(|share| scope.spawn(move || ask_all(share, start + duration)))
                .collect();
            let mut all = histogram();
            for thread in threads {
                all.add(thread.join().expect("the load does not panic")?).expect("it resizes");
            }
            io::Result::Ok(all)
        })?;
        let elapsed = start.elapsed();
        let percentile = |quantile| nanoseconds.value_at_quantile(quantile) as f64 / 1000.0;
        Ok(Answers { requests: nanoseconds.len(), elapsed, percentiles: [0.5, 0.99, 0.999].map(percentile) })
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(self.address)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(stream)
    }
}

/// One thread's share of the connections. The latencies are in nanoseconds.
fn ask_all(streams: Vec<TcpStream>, end: Instant) -> io::Result<Histogram<u64>> {
    Builder::new_current_thread().enable_all().build()?.block_on(async {
        let mut loops = JoinSet::new();
        for stream in streams {
            let stream = tokio::net::TcpStream::from_std(stream)?;
            loops.spawn(ask(stream, end));
        }
        let mut all = histogram();
        let rest = end.saturating_duration_since(Instant::now());
        while let Some(one) = timeout(rest + LOST, loops.join_next()).await? {
            all.add(one??).expect("it resizes");
        }
        Ok(all)
    })
}

async fn ask(mut stream: tokio::net::TcpStream, end: Instant) -> io::Result<Histogram<u64>> {
    let request = format!("GET /{FILE} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let mut buffer = vec![0; 2 * LENGTH];
    let mut latencies = histogram();
    let mut asked = Instant::now();
    while asked < end {
        stream.write_all(request.as_bytes()).await?;
        answer(&mut stream, &mut buffer).await?;
        let answered = Instant::now();
        latencies.record((answered - asked).as_nanos() as u64).expect("it resizes");
        asked = answered;
    }
    Ok(latencies)
}

/// Reads one answer, and checks it.
async fn answer(stream: &mut tokio::net::TcpStream, buffer: &mut [u8]) -> io::Result<()> {
    let mut filled = 0;
    let mut total = None;
    while total.is_none_or(|total| filled < total) {
        match stream.read(&mut buffer[filled..]).await? {
            0 if filled == buffer.len() => return Err(wrong("is too long".to_owned())),
            0 => return Err(wrong("ends in the middle".to_owned())),
            count => filled += count,
        }
        total = total.or(head(&buffer[..filled])?.map(|head| head + LENGTH));
    }
    if total == Some(filled) { Ok(()) } else { Err(wrong("is longer than it says".to_owned())) }
}

/// The length of an answer's head, once it is there: it must promise the file.
fn head(bytes: &[u8]) -> io::Result<Option<usize>> {
    let mut fields = [httparse::EMPTY_HEADER; 32];
    let mut response = httparse::Response::new(&mut fields);
    let parsed = response.parse(bytes).map_err(|error| wrong(format!("makes no sense: {error}")))?;
    let httparse::Status::Complete(head) = parsed else {
        return Ok(None);
    };
    if response.code != Some(200) {
        return Err(wrong(format!("has status {}", response.code.unwrap_or_default())));
    }
    let length = response.headers.iter().find(|field| field.name.eq_ignore_ascii_case("content-length"));
    let length = length.and_then(|field| std::str::from_utf8(field.value).ok()?.trim().parse().ok());
    if length == Some(LENGTH) { Ok(Some(head)) } else { Err(wrong("has not the file's length".to_owned())) }
}

fn wrong(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("an answer {what}"))
}

fn histogram() -> Histogram<u64> {
    Histogram::new(3).expect("three digits are allowed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        io::{Read, Write},
        net::TcpListener,
    };

    /// Asks a server that answers each request with `answer`; it ends with its last connection.
    fn ask_one(answer: String) -> io::Result<Answers> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let load = Load { address: listener.local_addr().unwrap(), connections: 4, threads: 2 };
        thread::scope(|scope| {
            let answer = answer.as_bytes();
            scope.spawn(move || {
                for _ in 0..4 {
                    let (mut stream, _) = listener.accept().unwrap();
                    scope.spawn(move || {
                        // A request of this client comes whole, and one at a time.
                        while stream.read(&mut [0; 1024]).is_ok_and(|count| count > 0) {
                            if stream.write_all(answer).is_err() || answer.is_empty() {
                                break;
                            }
                        }
                    });
                }
            });
            load.run(Duration::from_millis(50))
        })
    }

    fn file(head: &str, length: usize) -> String {
        format!("{head}\r\n\r\n{}", "x".repeat(length))
    }

    #[test]
    fn right_answers_are_counted_and_timed() {
        let answers = ask_one(file("HTTP/1.1 200 OK\r\ncontent-LENGTH: 10240", LENGTH)).unwrap();
        assert!(answers.requests >= 4);
        assert!(answers.elapsed >= Duration::from_millis(50));
        let [p50, p99, p999] = answers.percentiles;
        assert!(0.0 < p50 && p50 <= p99 && p99 <= p999, "{answers:?}");
    }

    #[test]
    fn wrong_answers_are_errors() {
        for (answer, what) in [
            (file("HTTP/1.1 404 Not Found\r\nContent-Length: 0", 0), "has status 404"),
            (file("HTTP/1.1 200 OK\r\nContent-Length: 10", 10), "has not the file's length"),
            (file("HTTP/1.1 200 OK\r\nContent-Length: 10240", LENGTH + 1), "is longer than it says"),
            (file("HTTP/1.1 200 OK", LENGTH), "has not the file's length"),
            (file("SSH-2.0", 0), "makes no sense"),
            (String::new(), "ends in the middle"),
        ] {
            let error = ask_one(answer).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }
}
