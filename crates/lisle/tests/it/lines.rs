//! Lines as events: a performance that loses has taken no line, and each line goes to one
//! performer.

use crate::support::{Cx, Random, scaled, worlds};
use lisle::io::{Lines, lines_of};
use lisle::net::{TcpListener, TcpStream, pipe};
use lisle::time::after;
use lisle::{Event, choose};
use std::future::Future;
use std::io::{self, ErrorKind, Read, Write};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

worlds!(
    what_has_come_is_kept,
    lines_and_timeouts_race,
    each_line_goes_to_one,
    choices_of_the_same_lines,
    a_socket_is_read_and_written,
    too_long_and_not_text,
    a_reader_that_blocks,
);

async fn what_has_come_is_kept(cx: Cx) {
    let (reader, mut writer) = pipe().unwrap();
    let lines = Lines::new(reader);
    for piece in ["a ", "line ", "in ", "pieces"] {
        writer.write_all(piece.as_bytes()).unwrap();
        let late = after(Duration::from_millis(1)).wrap(|()| None);
        assert!(cx.sync(choose((lines.line_evt().wrap(Some), late))).await.is_none());
        let mut future = pin!(lines.line_evt().future());
        assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    writer.write_all(b"\r\nand a second\nlast").unwrap();
    assert_eq!(cx.sync(lines.line_evt()).await.unwrap().unwrap(), "a line in pieces");
    assert_eq!(lines.line_evt().poll().unwrap().unwrap().unwrap(), "and a second");
    assert!(lines.line_evt().poll().is_none());
    drop(writer);
    assert_eq!(cx.sync(lines.line_evt()).await.unwrap().unwrap(), "last");
    for _ in 0..2 {
        assert_eq!(cx.sync(lines.line_evt()).await.unwrap(), None);
    }
}

/// The writer cuts the text anywhere, and the reader loses as often as it can.
async fn lines_and_timeouts_race(cx: Cx) {
    let count = scaled(2_000, 300);
    let (reader, writer) = pipe().unwrap();
    let performer = cx.spawn(move |cx| async move {
        let mut random = Random::new(1);
        let text: String = (0..count).map(|number| format!("{number}\n")).collect();
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let (piece, after_it) = rest.split_at(random.below(9).min(rest.len()));
            (&writer).write_all(piece).unwrap();
            rest = after_it;
            cx.sync(after(Duration::from_micros(random.below(30) as u64))).await;
        }
    });
    let lines = Lines::new(reader);
    let mut random = Random::new(2);
    let mut expected = 0;
    loop {
        let short = after(Duration::from_micros(random.below(30) as u64)).wrap(|()| None);
        match cx.sync(choose((short, lines.line_evt().wrap(Some)))).await {
            None => {}
            Some(Ok(Some(line))) => {
                assert_eq!(line, expected.to_string());
                expected += 1;
            }
            Some(end) => {
                assert_eq!(end.unwrap(), None);
                break;
            }
        }
    }
    assert_eq!(expected, count);
    cx.join(performer).await;
}

/// A performer that reads a piece also reads the lines of other performers.
async fn each_line_goes_to_one(cx: Cx) {
    let count = scaled(2_000, 300);
    let (reader, writer) = pipe().unwrap();
    let lines = Arc::new(Lines::new(reader));
    let readers: Vec<_> = (0..4)
        .map(|id| {
            let lines = lines.clone();
            cx.spawn(move |cx| async move {
                let (never, mut numbers) = (lisle::channel::<()>(), Vec::new());
                loop {
                    let single = id % 2 == 0;
                    let line = if single {
                        cx.sync(lines.line_evt()).await
                    } else {
                        let other = never.1.recv_evt().wrap(|_| unreachable!());
                        cx.sync(choose((lines.line_evt(), other))).await
                    };
                    match line.unwrap() {
                        Some(line) => numbers.push(line.parse::<usize>().unwrap()),
                        None => return numbers,
                    }
                }
            })
        })
        .collect();
    let performer = cx.spawn(move |cx| async move {
        for first in (0..count).step_by(10) {
            let text: String = (first..(first + 10).min(count)).map(|number| format!("{number}\n")).collect();
            (&writer).write_all(text.as_bytes()).unwrap();
            cx.yield_now().await;
        }
    });
    cx.join(performer).await;
    let mut all = cx.join_all(readers).await.concat();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..count), "lines were lost or doubled");
}

/// All performers wait for both, and for one of them twice, and pass the lines that they find there
/// on to each other.
async fn choices_of_the_same_lines(cx: Cx) {
    let count = scaled(2_000, 300);
    let ((one, to_one), (other, to_other)) = (pipe().unwrap(), pipe().unwrap());
    let both = Arc::new([one, other].map(Lines::new));
    let readers: Vec<_> = (0..4)
        .map(|id| {
            let both = both.clone();
            cx.spawn(move |cx| async move {
                let [first, second] = if id % 2 == 0 { [0, 1] } else { [1, 0] };
                let mut taken = 0;
                loop {
                    let event =
                        choose((both[first].line_evt(), both[second].line_evt(), both[first].line_evt()));
                    match cx.sync(event).await.unwrap() {
                        Some(line) if line == "stop" => return taken,
                        Some(_) => taken += 1,
                        None => unreachable!("each has its own end"),
                    }
                }
            })
        })
        .collect();
    let writers: Vec<_> = [to_one, to_other]
        .into_iter()
        .map(|writer| {
            cx.spawn(move |cx| async move {
                for round in 0..count {
                    (&writer).write_all("x\n".repeat(round % 5).as_bytes()).unwrap();
                    cx.yield_now().await;
                }
                writer
            })
        })
        .collect();
    let writers = cx.join_all(writers).await;
    for writer in &writers {
        (&*writer).write_all(b"stop\nstop\n").unwrap();
    }
    let mut taken: usize = cx.join_all(readers).await.into_iter().sum();
    for lines in &*both {
        while let Some(line) = lines.line_evt().poll() {
            assert_eq!(line.unwrap().unwrap(), "x");
            taken += 1;
        }
    }
    assert_eq!(taken, 2 * (0..count).map(|round| round % 5).sum::<usize>());
}

async fn a_socket_is_read_and_written(cx: Cx) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = cx.spawn(move |cx| async move {
        let (stream, _) = cx.sync(listener.accept_evt()).await.unwrap();
        let lines = Lines::new(&stream);
        while let Some(line) = cx.sync(lines.line_evt()).await.unwrap() {
            (&stream).write_all(format!("<{line}>\n").as_bytes()).unwrap();
        }
    });
    let stream = TcpStream::connect(address).unwrap();
    let answers = Lines::new(&stream);
    for number in 0..50 {
        (&stream).write_all(format!("{number}\n").as_bytes()).unwrap();
        assert_eq!(cx.sync(answers.line_evt()).await.unwrap().unwrap(), format!("<{number}>"));
    }
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(cx.sync(answers.line_evt()).await.unwrap(), None);
    cx.join(server).await;
}

async fn too_long_and_not_text(cx: Cx) {
    let (reader, mut writer) = pipe().unwrap();
    let lines = Lines::with_limit(reader, 10);
    writer.write_all(b"ten bytes.\nmore than ten").unwrap();
    assert_eq!(cx.sync(lines.line_evt()).await.unwrap().unwrap(), "ten bytes.");
    let error = cx.sync(lines.line_evt()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidData);
    assert_eq!(error.to_string(), "a line is longer than 10 bytes");
    assert!(lines.line_evt().poll().is_none());
    writer.write_all(b" and more\n\xff\nshort\n").unwrap();
    assert_eq!(cx.sync(lines.line_evt()).await.unwrap_err().to_string(), "a line is not UTF-8");
    assert_eq!(cx.sync(lines.line_evt()).await.unwrap().unwrap(), "short");
}

/// Returns its text and then an error, and closes a channel when it is dropped.
struct Failing(io::Cursor<Vec<u8>>, #[allow(dead_code)] lisle::channel::Sender<()>);

impl Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(ErrorKind::TimedOut.into()),
            count => Ok(count),
        }
    }
}

async fn a_reader_that_blocks(cx: Cx) {
    let (alive, gone) = lisle::channel::<()>();
    let text = (0..100).map(|number| format!("{number}\n")).collect::<String>().into_bytes();
    let lines = lines_of(Failing(io::Cursor::new(text.clone()), alive.clone()), 3).unwrap();
    for number in 0..100 {
        assert_eq!(cx.sync(lines.recv_evt()).await.unwrap().unwrap(), number.to_string());
    }
    assert_eq!(cx.sync(lines.recv_evt()).await.unwrap().unwrap_err().kind(), ErrorKind::TimedOut);
    assert!(cx.sync(lines.recv_evt()).await.is_err(), "an error is the last message");

    // All receivers are gone: the thread ends, although lines are left.
    let lines = lines_of(Failing(io::Cursor::new(text), alive), 3).unwrap();
    assert_eq!(cx.sync(lines.recv_evt()).await.unwrap().unwrap(), "0");
    drop(lines);
    assert!(cx.sync(gone.recv_evt()).await.is_err());
}

#[test]
fn a_reader_is_not_read_ahead_of_its_receiver() {
    struct Counting(lisle::channel::Sender<()>);
    impl Read for Counting {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.try_send(()).map_err(|_| ErrorKind::Other)?;
            buffer[0] = b'\n';
            Ok(1)
        }
    }
    let (read, count) = lisle::channel::bounded(1_000);
    let lines = lines_of(Counting(read), 5).unwrap();
    // There are five in the channel, and one is being sent.
    for _ in 0..6 {
        count.recv().unwrap();
    }
    assert!(
        choose((count.recv_evt().wrap(|_| false), after(Duration::from_millis(20)).wrap(|()| true))).sync()
    );
    assert_eq!(lines.recv().unwrap().unwrap(), "");
    count.recv().unwrap();
}
