//! Pipes. Case 47: an empty read waits, a full write waits, an accept waits and then succeeds.

use super::{World, everywhere};
use lisle::Event;
use lisle::net::{TcpListener, TcpStream, pipe};
use lisle::time::after;
use std::io::{self, Read, Write};
use std::time::Duration;

everywhere!(an_empty_read_waits, a_full_write_waits, an_accept_waits, ends);

fn an_empty_read_waits(world: World) {
    let (reader, mut writer) = pipe().unwrap();
    assert_eq!(reader.try_read(&mut [0]).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    assert!(reader.readable_evt().poll().is_none());
    let waiting = world.spawn(move || {
        let mut bytes = [0; 100];
        (&reader).read_exact(&mut bytes).unwrap();
        bytes
    });
    let bytes = std::array::from_fn(|index| index as u8);
    for byte in bytes {
        writer.write_all(&[byte]).unwrap();
        lisle::fiber::yield_now();
    }
    assert_eq!(waiting.join(), bytes);
}

fn a_full_write_waits(world: World) {
    let (mut reader, writer) = pipe().unwrap();
    let mut room = 0;
    while let Ok(length) = writer.try_write(&[1; 4096]) {
        room += length;
    }
    assert!(writer.writable_evt().poll().is_none());
    let waiting = world.spawn(move || (&writer).write_all(&vec![2; 3 * room]).unwrap());
    let mut all = Vec::new();
    reader.read_to_end(&mut all).unwrap();
    waiting.join();
    let (ones, twos) = all.split_at(room);
    assert!(ones.iter().all(|&byte| byte == 1) && twos.iter().all(|&byte| byte == 2));
    assert_eq!(twos.len(), 3 * room);
}

fn an_accept_waits(world: World) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    assert_eq!(listener.try_accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
    let waiting = world.spawn(move || listener.accept().unwrap());
    after(Duration::from_millis(1)).sync();
    let client = TcpStream::connect(address).unwrap();
    assert_eq!(waiting.join().1, client.local_addr().unwrap());
}

fn ends(world: World) {
    let (mut reader, writer) = pipe().unwrap();
    let second = writer.try_clone().unwrap();
    drop(writer);
    let waiting = world.spawn(move || {
        let mut all = Vec::new();
        reader.read_to_end(&mut all).unwrap();
        all
    });
    (&second).write_all(b"last").unwrap();
    drop(second);
    assert_eq!(waiting.join(), b"last");

    let (reader, mut writer) = pipe().unwrap();
    let waiting = world.spawn(move || {
        loop {
            if let Err(error) = writer.write(&[0; 4096]) {
                return error.kind();
            }
        }
    });
    (&reader).read_exact(&mut [0; 10_000]).unwrap();
    drop(reader);
    assert_eq!(waiting.join(), io::ErrorKind::BrokenPipe);
}
