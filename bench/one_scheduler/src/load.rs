//! The load: light requests at fixed times, and heavy ones, each after the answer to the one before.

use hdrhistogram::Histogram;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// Connections with light requests, and the time between two requests of one.
const LIGHT: u32 = 8;
const EVERY: Duration = Duration::from_millis(20);
/// Connections with heavy requests.
const HEAVY: usize = 2;

/// Times of light requests in microseconds, and heavy requests a second.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    pub p50: f64,
    pub p99: f64,
    pub p999: f64,
    pub heavy: f64,
}

/// Measures for some seconds.
///
/// A time begins when the request was to be sent, so that a late answer counts also for the requests behind it.
pub fn measure(address: SocketAddr, seconds: u64) -> io::Result<Measured> {
    let begin = Instant::now() + Duration::from_millis(200);
    let end = begin + Duration::from_secs(seconds);
    let heavy: Vec<_> = (0..HEAVY).map(|_| thread::spawn(move || heavy_requests(address, end))).collect();
    let light: Vec<_> = (0..LIGHT)
        .map(|i| thread::spawn(move || light_requests(address, begin + EVERY * i / LIGHT, end)))
        .collect();
    let mut times = histogram();
    for thread in light {
        times.add(thread.join().expect("it does not panic")?).expect("they have the same range");
    }
    let mut count = 0;
    for thread in heavy {
        count += thread.join().expect("it does not panic")?;
    }
    let at = |quantile| times.value_at_quantile(quantile) as f64;
    Ok(Measured { p50: at(0.5), p99: at(0.99), p999: at(0.999), heavy: f64::from(count) / seconds as f64 })
}

fn histogram() -> Histogram<u64> {
    Histogram::new(3).expect("three digits are possible")
}

fn light_requests(address: SocketAddr, mut next: Instant, end: Instant) -> io::Result<Histogram<u64>> {
    let mut times = histogram();
    let mut stream = connect(address)?;
    while next < end {
        thread::sleep(next.saturating_duration_since(Instant::now()));
        request(&mut stream, "/light")?;
        times.record(next.elapsed().as_micros() as u64).expect("it grows by itself");
        next += EVERY;
    }
    Ok(times)
}

fn heavy_requests(address: SocketAddr, end: Instant) -> io::Result<u32> {
    let mut stream = connect(address)?;
    let mut count = 0;
    while Instant::now() < end {
        request(&mut stream, "/heavy")?;
        count += 1;
    }
    Ok(count)
}

fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Sends a request and reads the answer, which comes in one piece.
fn request(stream: &mut TcpStream, path: &str) -> io::Result<()> {
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").as_bytes())?;
    let mut answer = [0; 1_024];
    let count = stream.read(&mut answer)?;
    if answer[..count].starts_with(b"HTTP/1.1 200 OK\r\n") {
        return Ok(());
    }
    Err(io::Error::other(format!("the server answers {:?}", String::from_utf8_lossy(&answer[..count]))))
}
