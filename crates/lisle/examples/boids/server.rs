//! The server of the page: a fiber that accepts, and one for each connection.
//!
//! The browser asks for one frame at a time, "the next after this one", and receives the newest frame.
//! So a slow browser, or a browser on a slow line, misses frames. The server keeps no frame for it, and
//! neither the world nor another browser waits. (A server that pushed a stream would fill the buffers
//! on the way, and a slow browser would see the past. Also, a browser opens few connections to one
//! host, and the streams of several tabs would take them all.)

use crate::grid::{HEIGHT, WIDTH};
use crate::http::{Request, respond};
use crate::shown::Shown;
use lisle::net::{TcpListener, TcpStream};
use lisle::sync::{Condition, WaitGroup, Watch, Watcher};
use lisle::time::after;
use lisle::{Event, choose, fiber};
use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

const PAGE: &str = include_str!("page.html");

/// The time for which a connection may be idle.
const IDLE: Duration = Duration::from_secs(30);

/// The time for which a browser may take no byte of a response.
const STUCK: Duration = Duration::from_secs(10);

/// The time after which a pointer is ignored if its browser has not sent its place again.
const HEEDED: Duration = Duration::from_millis(500);

/// The state that the world and the connections share.
#[derive(Clone)]
pub(crate) struct Board {
    /// The newest frame, written by the world.
    pub(crate) newest: Watch<Shown>,
    /// The place and the time of a browser's pointer, written by the connections.
    pub(crate) pointer: Watch<Option<((f32, f32), Instant)>>,
    /// The open connections.
    pub(crate) connections: WaitGroup,
    pub(crate) stop: Arc<Condition>,
}

impl Board {
    pub(crate) fn new(first: Shown) -> Board {
        Board {
            newest: Watch::new(first),
            pointer: Watch::new(None),
            connections: WaitGroup::new(),
            stop: Arc::new(Condition::new()),
        }
    }

    /// Returns the threat from which the agents flee: the place of a browser's pointer.
    pub(crate) fn threat(&self) -> Option<(f32, f32)> {
        self.pointer.get().filter(|(_, when)| when.elapsed() < HEEDED).map(|(place, _)| place)
    }
}

/// Serves the page until told to stop, and then waits for the connections to end.
pub(crate) fn serve(listener: TcpListener, board: &Board, domains: usize) {
    let accepted = choose((listener.accept_evt().wrap(Some), board.stop.wait_evt().wrap(|()| None)));
    let mut number = 0;
    while let Some(accepted) = accepted.sync() {
        let Ok((stream, _)) = accepted else {
            // Most likely the system is out of descriptors. Some may be free a little later.
            lisle::time::sleep(Duration::from_millis(10));
            continue;
        };
        // The world keeps the first domain busy for most of a frame.
        let domain = if domains > 1 { 1 + number % (domains - 1) } else { 0 };
        number += 1;
        let (board, member) = (board.clone(), board.connections.enter());
        let connection = move || {
            let _member = member;
            // The server does not report a client that disconnects or sends nonsense.
            let _ = converse(&stream, &board);
        };
        fiber::Builder::new().name("connection").domain(domain).spawn(connection);
    }
    drop(listener);
    board.connections.wait();
}

/// Answers requests until the client has gone, is idle for too long, or the server stops.
fn converse(stream: &TcpStream, board: &Board) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut client = Client { stream, stop: &board.stop };
    let frames = board.newest.watcher();
    let mut input = Vec::new();
    loop {
        match Request::parse(&input)? {
            Some((request, length)) => {
                answer(&mut client, board, &frames, &request)?;
                if !request.stays {
                    return Ok(());
                }
                input.drain(..length);
            }
            None => {
                client.wait(stream.readable_evt(), IDLE)?;
                let mut chunk = [0; 2_048];
                let read = (&mut &*stream).read(&mut chunk)?;
                if read == 0 {
                    return Ok(());
                }
                input.extend_from_slice(&chunk[..read]);
            }
        }
    }
}

fn answer(to: &mut Client, board: &Board, frames: &Watcher<Shown>, request: &Request) -> io::Result<()> {
    match request.path {
        "/" => respond(to, "200 OK", "text/html; charset=utf-8", PAGE.as_bytes()),
        "/frame" => {
            if let (Some(x), Some(y)) = (request.number("x"), request.number("y"))
                && (0.0..=WIDTH).contains(&x)
                && (0.0..=HEIGHT).contains(&y)
            {
                board.pointer.set(Some(((x, y), Instant::now())));
            }
            let seen = request.number::<u64>("after");
            // Any frame other than the one that the browser has: after a restart the numbers begin anew.
            let newer = frames.wait_for_evt(|shown| Some(shown.figures.report.frame) != seen);
            let stopped = board.stop.wait_evt().wrap(|()| None);
            match choose((newer.wrap(Result::ok), stopped)).sync() {
                Some(shown) => respond(to, "200 OK", "application/octet-stream", shown.bytes()),
                None => respond(to, "503 Service Unavailable", "text/plain", b"the program ends\n"),
            }
        }
        "/report" => respond(to, "200 OK", "application/json", board.newest.get().figures.json().as_bytes()),
        _ => respond(to, "404 Not Found", "text/plain", b"there is /, /frame and /report\n"),
    }
}

/// A connection whose waits end when the client is too slow, and when the server stops.
struct Client<'a> {
    stream: &'a TcpStream,
    stop: &'a Condition,
}

impl Client<'_> {
    /// Waits for the client.
    ///
    /// # Errors
    ///
    /// Fails with `TimedOut` if the client is too slow or the server stops meanwhile.
    fn wait(&self, ready: impl Event<Output = io::Result<()>> + Send, most: Duration) -> io::Result<()> {
        let over = || Err(ErrorKind::TimedOut.into());
        choose((ready, self.stop.wait_evt().wrap(move |()| over()), after(most).wrap(move |()| over())))
            .sync()
    }
}

impl Write for Client<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.stream.try_write(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.wait(self.stream.writable_evt(), STUCK)?;
                }
                written => return written,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flock::{Sight, scattered};
    use crate::grid::Grid;
    use crate::shown::Figures;
    use std::io::BufRead;

    /// Asks for a path, and returns the body of the response.
    fn get(from: &mut io::BufReader<&TcpStream>, path: &str) -> Vec<u8> {
        // The request is one write: the second of two small writes would wait for the acknowledgement
        // of the first.
        from.get_mut().write_all(format!("GET {path} HTTP/1.1\r\n\r\n").as_bytes()).unwrap();
        let (mut length, mut line) = (0, String::new());
        while line != "\r\n" {
            line.clear();
            from.read_line(&mut line).unwrap();
            if let Some(number) = line.strip_prefix("Content-Length: ") {
                length = number.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        from.read_exact(&mut body).unwrap();
        body
    }

    /// The number of a frame that was sent.
    fn number(body: &[u8]) -> u64 {
        let agents = u32::from_le_bytes(body[..4].try_into().unwrap()) as usize;
        let json = std::str::from_utf8(&body[4 + 6 * agents..]).unwrap();
        json.strip_prefix("{\"frame\":").unwrap().split_once(',').unwrap().0.parse().unwrap()
    }

    #[test]
    fn a_client_that_takes_nothing_holds_up_nobody() {
        lisle::run(|| {
            let sight = Arc::new(Sight { grid: Grid::of(&scattered(50_000)), threat: None });
            let frame = |number| {
                let mut figures = Figures::default();
                figures.report.frame = number;
                Shown::new(figures, sight.clone())
            };
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let board = Board::new(frame(0));
            let server = {
                let board = board.clone();
                lisle::spawn(move || serve(listener, &board, 1))
            };

            let mut stuck = TcpStream::connect(address).unwrap();
            for seen in 0..1_000 {
                write!(stuck, "GET /frame?after={} HTTP/1.1\r\n\r\n", seen % 2).unwrap();
            }
            let stream = TcpStream::connect(address).unwrap();
            let mut client = io::BufReader::new(&stream);
            assert!(get(&mut client, "/").starts_with(b"<!doctype html>"));
            for newest in 1..100 {
                board.newest.set(frame(newest));
                let after = format!("/frame?after={}&x=0.5&y=0.25", newest - 1);
                assert_eq!(number(&get(&mut client, &after)), newest);
            }
            assert_eq!(board.threat(), Some((0.5, 0.25)));
            assert!(get(&mut client, "/report").starts_with(b"{\"frame\":99,"));
            assert!(get(&mut client, "/other").starts_with(b"there is"));

            // Neither an idle client nor a client that is stuck keeps the server from ending.
            let began = Instant::now();
            board.stop.signal();
            server.join().unwrap();
            assert!(began.elapsed() < STUCK);
        });
    }
}
