//! Operations that wait when their fiber is cancelled, or when a deadline passes: they return an error,
//! and have done nothing.

use crate::support::{on_domains, watched};
use lisle::fiber::{Cancelled, JoinHandle, cancelled_evt};
use lisle::io::Lines;
use lisle::net::{
    PartlyDone, TcpListener, TcpStream, UdpSocket, UnixDatagram, UnixListener, UnixStream, pipe,
};
use lisle::time::{DeadlinePassed, sleep, with_deadline, without_deadline};
use lisle::{Event, channel, process, waiting};
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::net::Ipv4Addr;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const SOON: Duration = Duration::from_millis(2);
const LONG: Duration = Duration::from_secs(1000);

type Wait = Box<dyn FnOnce() -> io::Result<()> + Send>;

fn tcp_pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (listener.accept().unwrap().0, client)
}

/// A listener whose backlog is full, and the streams that fill it.
fn full_listener() -> (UnixListener, Vec<UnixStream>) {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("lisle-{}-full-{number}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path).unwrap();
    let mut connected = Vec::new();
    while let Ok(Ok(stream)) = with_deadline(SOON, || UnixStream::connect(&path)) {
        connected.push(stream);
    }
    (listener, connected)
}

/// Operations that wait for ever. Each keeps its object alive.
fn waits() -> Vec<(&'static str, Wait)> {
    fn wait<T: Send + 'static, R>(
        mut on: T,
        mut operation: impl FnMut(&mut T) -> io::Result<R> + Send + 'static,
    ) -> Wait {
        Box::new(move || operation(&mut on).map(drop))
    }
    let local = (Ipv4Addr::LOCALHOST, 0);
    let sleeper = || {
        let mut command = Command::new("sleep");
        process::spawn(command.arg("1000").stdout(Stdio::piped())).unwrap().kill_on_drop(true)
    };
    vec![
        ("read", wait(tcp_pair(), |(one, _)| one.read(&mut [0]))),
        ("peek", wait(tcp_pair(), |(one, _)| one.peek(&mut [0]))),
        ("write_all", wait(tcp_pair(), |(one, _)| one.write_all(&vec![0; 20_000_000]))),
        (
            "read_exact",
            wait(pipe().unwrap(), |(reader, writer)| {
                writer.write_all(b"a part")?;
                reader.read_exact(&mut [0; 100])
            }),
        ),
        ("read_within", wait(pipe().unwrap(), |(reader, _)| reader.read_within(&mut [0], LONG))),
        ("accept", wait(TcpListener::bind(local).unwrap(), |listener| listener.accept())),
        ("incoming", wait(TcpListener::bind(local).unwrap(), |listener| listener.incoming().next().unwrap())),
        ("recv_from", wait(UdpSocket::bind(local).unwrap(), |socket| socket.recv_from(&mut [0]))),
        ("recv", wait(UnixDatagram::pair().unwrap(), |(one, _)| one.recv(&mut [0]))),
        (
            "send",
            wait(UnixDatagram::pair().unwrap(), |(one, _)| {
                (0..1_000_000).try_for_each(|_| one.send(&[0; 1024]).map(drop))
            }),
        ),
        ("a line", {
            let (one, other) = UnixStream::pair().unwrap();
            wait((Lines::new(one), other), |(lines, _)| lines.next_line())
        }),
        (
            "connect to a full backlog",
            wait(full_listener(), |(listener, _)| {
                let address = listener.local_addr()?;
                let outcome = UnixStream::connect_addr(&address);
                let _ = std::fs::remove_file(address.as_pathname().unwrap());
                outcome
            }),
        ),
        ("a process", wait(sleeper(), |child| child.wait())),
        ("a process's output", wait(Some(sleeper()), |child| child.take().unwrap().wait_with_output())),
    ]
}

/// Waits until as many fibers wait for the world, or are about to end anyway.
fn until_all_wait(fibers: &[JoinHandle<io::Error>]) {
    while waiting().fibers.len() + fibers.iter().filter(|fiber| fiber.is_finished()).count() < fibers.len() {
        sleep(Duration::from_micros(200));
    }
}

#[test]
fn a_fiber_that_waits_for_io_ends_when_it_is_cancelled() {
    on_domains(|| {
        for begun in [true, false] {
            let mut names = Vec::new();
            let fibers: Vec<_> = waits()
                .into_iter()
                .map(|(name, wait)| {
                    names.push(name);
                    lisle::spawn(move || wait().expect_err(name))
                })
                .collect();
            if begun {
                until_all_wait(&fibers);
            }
            fibers.iter().for_each(JoinHandle::cancel);
            for (name, fiber) in names.into_iter().zip(fibers) {
                let error = fiber.join().unwrap();
                assert!(Cancelled::is(&error), "{name}: {error}");
                assert_eq!(error.kind(), ErrorKind::Other);
            }
        }
    });
}

#[test]
fn a_deadline_is_an_error_of_io() {
    let case = || {
        for (name, wait) in waits() {
            let error = with_deadline(SOON, wait).expect("it is the operation that ends").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::TimedOut, "{name}");
            assert!(error.get_ref().unwrap().is::<DeadlinePassed>(), "{name}");
        }
    };
    {
        let _watched = watched();
        case();
    }
    on_domains(case);
}

#[test]
fn it_goes_on_to_say_so_and_what_need_not_wait_is_done() {
    on_domains(|| {
        let (mut client, server) = UnixStream::pair().unwrap();
        let ((go, gone), (tell, told)) = (channel::<()>(), channel::<()>());
        let fiber = lisle::spawn(move || {
            cancelled_evt().sync();
            for _ in 0..3 {
                assert!(Cancelled::is(&(&server).read(&mut [0; 8]).unwrap_err()));
            }
            tell.send(()).unwrap(); // other waits go on
            gone.recv().unwrap();
            let mut said = BufWriter::new(&server);
            said.write_all(b"good-bye")?;
            said.flush()?; // there is room
            assert_eq!((&server).read(&mut [0; 8])?, 3); // they are there
            // It may also wait, where it says so.
            let mut last = [0];
            without_deadline(|| (&server).read_exact(&mut last))?;
            io::Result::Ok(last)
        });
        fiber.cancel();
        told.recv().unwrap(); // it has looked in vain
        client.write_all(b"abc").unwrap();
        go.send(()).unwrap();
        let mut said = [0; 8];
        client.read_exact(&mut said).unwrap();
        assert_eq!(&said, b"good-bye");
        sleep(SOON);
        client.write_all(b"z").unwrap();
        assert_eq!(&fiber.join().unwrap().unwrap(), b"z");
    });
}

#[test]
fn an_accept_loop_ends() {
    on_domains(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let accepts = lisle::spawn(move || {
            // Many programs write it so: they skip failures.
            let (taken, failed): (Vec<_>, Vec<_>) = listener.incoming().partition(Result::is_ok);
            (taken.len(), failed.into_iter().map(Result::unwrap_err).all(|error| Cancelled::is(&error)))
        });
        for _ in 0..3 {
            drop(TcpStream::connect(address).unwrap());
        }
        let mut last = TcpStream::connect(address).unwrap();
        accepts.cancel();
        assert_eq!(accepts.join().unwrap(), (4, true));
        assert!(last.read(&mut [0]).is_ok_and(|read| read == 0) || last.take_error().is_ok());
    });
}

#[test]
fn destructors_that_unwind_are_not_ended() {
    struct Says(UnixStream);
    impl Drop for Says {
        fn drop(&mut self) {
            let mut answer = [0];
            self.0.write_all(b"?").unwrap();
            self.0.read_exact(&mut answer).unwrap();
            assert_eq!(&answer, b"!");
        }
    }
    on_domains(|| {
        for cancel in [true, false] {
            let (client, server) = UnixStream::pair().unwrap();
            let fiber = lisle::spawn(move || {
                with_deadline(if cancel { LONG } else { SOON }, || {
                    let _says = Says(server);
                    if cancel {
                        cancelled_evt().sync();
                        std::panic::resume_unwind(Box::new(5));
                    }
                    sleep(LONG);
                })
            });
            if cancel {
                fiber.cancel();
            }
            let mut asked = [0];
            (&client).read_exact(&mut asked).unwrap();
            sleep(SOON);
            (&client).write_all(b"!").unwrap();
            match fiber.join() {
                Err(error) => assert!(cancel && error.is_panic()),
                Ok(ended) => assert!(!cancel && ended == Err(DeadlinePassed)),
            }
        }
    });
}

#[test]
fn nothing_is_read_or_accepted_by_one_that_ends() {
    on_domains(|| {
        let (mut reader, mut writer) = pipe().unwrap();
        let source = lisle::spawn(move || {
            for byte in 0..=255u8 {
                writer.write_all(&[byte]).unwrap();
                sleep(Duration::from_micros(u64::from(byte) % 3 * 50));
            }
        });
        let mut read = Vec::new();
        let mut ended = false;
        while !ended {
            let within = Duration::from_micros(read.len() as u64 % 5 * 40);
            let mut byte = [0];
            match with_deadline(within, || reader.read(&mut byte)).unwrap() {
                Ok(0) => ended = true,
                Ok(_) => read.push(byte[0]),
                Err(error) => assert_eq!(error.kind(), ErrorKind::TimedOut),
            }
        }
        source.join().unwrap();
        assert_eq!(read, (0..=255).collect::<Vec<u8>>());
    });
}

#[test]
fn a_limit_for_all_bytes() {
    let case = || {
        let (reader, writer) = pipe().unwrap();
        let late = writer.write_all_within(&[1; 1_000_000], SOON).unwrap_err();
        let written = PartlyDone::of(&late).expect("a part").bytes();
        assert!(late.kind() == ErrorKind::TimedOut && (1..1_000_000).contains(&written), "{late}");
        let mut buffer = vec![0; written + 5];
        let late = reader.read_exact_within(&mut buffer, SOON).unwrap_err();
        assert_eq!(PartlyDone::of(&late).expect("a part").bytes(), written);
        assert!(late.to_string().contains(&format!("after {written} of {}", written + 5)), "{late}");
        // Zero is a look.
        assert_eq!(
            PartlyDone::of(&reader.read_exact_within(&mut [0], Duration::ZERO).unwrap_err()).unwrap().bytes(),
            0
        );
        writer.write_all_within(b"abc", Duration::ZERO).unwrap();
        reader.read_exact_within(&mut buffer[..3], Duration::MAX).unwrap();
        reader.read_exact_within(&mut [], Duration::ZERO).unwrap();
        // A deadline around it is told from its own.
        let late = with_deadline(SOON, || reader.read_exact_within(&mut [0], LONG)).unwrap().unwrap_err();
        assert!(PartlyDone::of(&late).is_none() && late.kind() == ErrorKind::TimedOut);
        drop(writer);
        let end = reader.read_exact_within(&mut [0], LONG).unwrap_err();
        assert_eq!(end.kind(), ErrorKind::UnexpectedEof);
    };
    {
        let _watched = watched();
        case();
    }
    on_domains(case);
}

#[test]
fn timeouts_of_a_handle() {
    let case = || {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        for timeout in [Some(SOON), Some(Duration::MAX), Some(Duration::from_nanos(1)), None] {
            socket.set_read_timeout(timeout).unwrap();
            assert_eq!(
                socket.read_timeout().unwrap(),
                timeout.map(|timeout| timeout.min(Duration::from_nanos(u64::MAX)))
            );
        }
        for zero in
            [socket.set_read_timeout(Some(Duration::ZERO)), socket.set_write_timeout(Some(Duration::ZERO))]
        {
            assert_eq!(zero.unwrap_err().kind(), ErrorKind::InvalidInput);
        }
        socket.set_read_timeout(Some(SOON)).unwrap();
        assert_eq!(socket.recv(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
        assert_eq!(socket.try_clone().unwrap().recv(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
        // One of the operation's own goes before, and the earlier deadline of a call before both.
        assert_eq!(socket.recv_from_within(&mut [0], SOON).unwrap_err().kind(), ErrorKind::TimedOut);
        socket.set_read_timeout(Some(LONG)).unwrap();
        let late = with_deadline(SOON, || socket.recv(&mut [0])).unwrap().unwrap_err();
        assert_eq!(late.kind(), ErrorKind::TimedOut);

        // It goes to the standard library's type and back.
        socket.set_write_timeout(Some(SOON)).unwrap();
        let std = socket.into_std().unwrap();
        assert_eq!(std.read_timeout().unwrap(), Some(LONG));
        let socket = UdpSocket::from_std(std).unwrap();
        assert_eq!(socket.read_timeout().unwrap(), Some(LONG));
        assert!(socket.write_timeout().unwrap().is_some());

        socket.set_nonblocking(true).unwrap();
        assert_eq!(socket.recv(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
        let std = socket.try_clone().unwrap().into_std().unwrap();
        assert_eq!(std.recv(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
        socket.set_nonblocking(false).unwrap();
        socket.set_read_timeout(None).unwrap();
        let address = socket.local_addr().unwrap();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        sender.send_to(b"x", address).unwrap();
        assert_eq!(socket.recv(&mut [0]).unwrap(), 1);
    };
    {
        let _watched = watched();
        case();
    }
    on_domains(case);
}

/// The lookup goes on, and nobody waits for it.
#[test]
fn a_lookup_is_left() {
    on_domains(|| {
        let error = with_deadline(Duration::ZERO, || TcpStream::connect("localhost:1")).unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        let fiber = lisle::spawn(|| TcpStream::connect("localhost:1").unwrap_err());
        fiber.cancel();
        assert!(Cancelled::is(&fiber.join().unwrap()));
        assert_eq!(TcpStream::connect("localhost:1").unwrap_err().kind(), ErrorKind::ConnectionRefused);
    });
}
