//! Descriptors whose numbers are reused.

use super::{World, everywhere};
use lisle::net::{TcpListener, TcpStream};
use lisle::time::after;
use lisle::{Event, choose};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::time::Duration;

everywhere!(a_number_is_reused_while_a_waiter_is_pending, a_stream_takes_the_place_of_another);

/// Case 46: a closed descriptor whose number is reused, five times, while a waiter is pending.
///
/// The waiter holds a duplicate; without it nothing could be closed while it waits. The open file
/// and the system's data about it therefore outlive the first descriptor.
fn a_number_is_reused_while_a_waiter_is_pending(world: World) {
    let mut reused = 0;
    // Other tests of this process use numbers, too.
    for _ in 0..10_000 {
        let old = TcpListener::bind("127.0.0.1:0").unwrap();
        let old_address = old.local_addr().unwrap();
        let duplicate = old.try_clone().unwrap();
        let pending = world.spawn(move || duplicate.accept().unwrap());
        let nothing =
            choose((old.accept_evt().wrap(|_| false), after(Duration::from_micros(1)).wrap(|()| true)));
        assert!(nothing.sync());
        let number = old.as_raw_fd();
        drop(old);

        let new = TcpListener::bind("127.0.0.1:0").unwrap();
        let same = new.as_raw_fd() == number;
        let nothing =
            choose((new.accept_evt().wrap(|_| false), after(Duration::from_micros(1)).wrap(|()| true)));
        assert!(nothing.sync());
        let client = TcpStream::connect(new.local_addr().unwrap()).unwrap();
        assert_eq!(new.accept().unwrap().1, client.local_addr().unwrap());

        let client = TcpStream::connect(old_address).unwrap();
        assert_eq!(pending.join().1, client.local_addr().unwrap());
        reused += usize::from(same);
        if reused == 5 {
            return;
        }
    }
    panic!("no number was reused");
}

/// The known readiness of a stream is not used for its successor.
fn a_stream_takes_the_place_of_another(world: World) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = world.spawn(move || {
        for stream in listener.incoming().take(100) {
            let mut stream = stream.unwrap();
            let mut question = [0; 3];
            stream.read_exact(&mut question).unwrap();
            stream.write_all(&question).unwrap();
        }
    });
    for number in 0..100_u8 {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(&[number; 3]).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        assert_eq!(answer, [number; 3]);
    }
    server.join();
}
