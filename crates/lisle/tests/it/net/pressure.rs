//! More data than fits into the system's buffers.

use super::{World, everywhere, tcp_pair, unix_pair};
use lisle::net::pipe;
use std::io::{self, Read, Write};
use std::time::Duration;

everywhere!(sixty_four_mebibytes, writes_stop_when_nobody_reads, many_readers_of_one_stream);

const MEBIBYTE: usize = 1 << 20;

/// A sequence of bytes whose order can be checked.
struct Pattern(u32);

impl Pattern {
    fn fill(&mut self, buffer: &mut [u8]) {
        for byte in buffer {
            self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *byte = (self.0 >> 24) as u8;
        }
    }
}

fn transfer(
    world: World,
    total: usize,
    mut from: impl Write + Send + 'static,
    mut to: impl Read + Send + 'static,
) {
    let writer = world.spawn(move || {
        let mut pattern = Pattern(1);
        let mut buffer = vec![0; 300_001];
        let mut left = total;
        while left > 0 {
            let part = left.min(buffer.len());
            pattern.fill(&mut buffer[..part]);
            from.write_all(&buffer[..part]).unwrap();
            left -= part;
        }
    });
    let reader = world.spawn(move || {
        let mut pattern = Pattern(1);
        let (mut buffer, mut expected) = (vec![0; 100_003], vec![0; 100_003]);
        let mut count = 0;
        loop {
            let length = to.read(&mut buffer).unwrap();
            if length == 0 {
                return count;
            }
            pattern.fill(&mut expected[..length]);
            assert!(buffer[..length] == expected[..length], "after {count} bytes");
            count += length;
        }
    });
    writer.join();
    assert_eq!(reader.join(), total);
}

fn sixty_four_mebibytes(world: World) {
    let (client, server) = tcp_pair();
    transfer(world, 64 * MEBIBYTE, client, server);
    let (one, other) = unix_pair();
    transfer(world, 8 * MEBIBYTE, one, other);
    let (reader, writer) = pipe().unwrap();
    transfer(world, 8 * MEBIBYTE, writer, reader);
}

fn writes_stop_when_nobody_reads(_: World) {
    let (client, server) = tcp_pair();
    let mut sent = 0;
    loop {
        match client.try_write(&[7; 64 * 1024]) {
            Ok(length) => sent += length,
            Err(error) => {
                assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
                // Bytes that have left the buffer may make room once more.
                match client.write_within(&[7; 64 * 1024], Duration::from_millis(50)) {
                    Ok(length) => sent += length,
                    Err(error) => {
                        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
                        break;
                    }
                }
            }
        }
    }
    // A read makes room.
    let mut left = sent;
    let mut buffer = vec![0; 64 * 1024];
    while left > 0 {
        left -= (&server).read(&mut buffer).unwrap();
    }
    assert!((&client).write(&[7; 64 * 1024]).unwrap() > 0);
}

fn many_readers_of_one_stream(world: World) {
    const TOTAL: usize = 200_000;
    let (client, server) = unix_pair();
    let server = std::sync::Arc::new(server);
    let readers: Vec<_> = (0..8)
        .map(|_| {
            let server = server.clone();
            world.spawn(move || {
                let mut count = 0;
                loop {
                    match (&*server).read(&mut [0; 64]).unwrap() {
                        0 => return count,
                        length => count += length,
                    }
                }
            })
        })
        .collect();
    let mut left = TOTAL;
    while left > 0 {
        let part = left.min(997);
        (&client).write_all(&vec![1; part]).unwrap();
        left -= part;
    }
    drop(client);
    assert_eq!(readers.into_iter().map(|reader| reader.join()).sum::<usize>(), TOTAL);
}
