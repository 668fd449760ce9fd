//! Datagrams, over UDP and between the processes of a machine.

use super::{SocketPath, World, everywhere};
use lisle::net::{UdpSocket, UnixDatagram};
use lisle::time::after;
use lisle::{Event, choose};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

everywhere!(
    udp_echo,
    udp_connected,
    udp_against_time,
    nobody_there,
    multicast,
    unix_pairs,
    unix_queues_that_are_full
);

fn udp() -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

fn udp_echo(world: World) {
    let (server, address) = udp();
    let server = world.spawn(move || {
        let mut buffer = [0; 64];
        for _ in 0..200 {
            let (length, from) = server.recv_from(&mut buffer).unwrap();
            assert_eq!(server.send_to(&buffer[..length], from).unwrap(), length);
        }
    });
    let (client, _) = udp();
    for number in 0..200_u8 {
        client.send_to(&[number; 3], address).unwrap();
        let mut buffer = [0; 64];
        assert_eq!(client.recv_from(&mut buffer).unwrap(), (3, address));
        assert_eq!(buffer[..3], [number; 3]);
    }
    server.join();
}

fn udp_connected(_: World) {
    let ((one, one_address), (other, other_address)) = (udp(), udp());
    one.connect(other_address).unwrap();
    other.connect(one_address).unwrap();
    assert_eq!(one.peer_addr().unwrap(), other_address);
    let mut buffer = [0; 64];
    assert_eq!(other.try_recv(&mut buffer).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    assert_eq!(one.send(b"abc").unwrap(), 3);
    assert_eq!(other.peek(&mut buffer).unwrap(), 3);
    assert_eq!(other.peek_from(&mut buffer).unwrap(), (3, one_address));
    assert_eq!(other.recv(&mut buffer[..2]).unwrap(), 2, "the rest is lost");
    assert_eq!(other.try_recv_from(&mut buffer).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    assert_eq!(one.try_send(b"").unwrap(), 0);
    assert_eq!(other.recv(&mut buffer).unwrap(), 0, "an empty datagram is one");
}

fn udp_against_time(_: World) {
    let (socket, address) = udp();
    let mut buffer = [0; 8];
    let error = socket.recv_from_within(&mut buffer, Duration::from_millis(5)).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    let patience = Duration::from_millis(1);
    assert!(choose((socket.readable_evt().wrap(|_| false), after(patience).wrap(|()| true))).sync());
    socket.try_send_to(b"self", address).unwrap();
    assert_eq!(socket.recv_from_within(&mut buffer, Duration::from_secs(600)).unwrap(), (4, address));
}

fn nobody_there(_: World) {
    let (socket, _) = udp();
    let (other, address) = udp();
    drop(other);
    socket.connect(address).unwrap();
    socket.send(b"x").unwrap();
    assert_eq!(socket.recv(&mut [0; 8]).unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
}

fn multicast(_: World) {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    let group = Ipv4Addr::new(239, 255, 42, 7);
    socket.join_multicast_v4(&group, &Ipv4Addr::LOCALHOST).unwrap();
    socket.leave_multicast_v4(&group, &Ipv4Addr::LOCALHOST).unwrap();
    for on in [false, true] {
        socket.set_multicast_loop_v4(on).unwrap();
        assert_eq!(socket.multicast_loop_v4().unwrap(), on);
        socket.set_broadcast(on).unwrap();
        assert_eq!(socket.broadcast().unwrap(), on);
    }
    socket.set_multicast_ttl_v4(3).unwrap();
    assert_eq!(socket.multicast_ttl_v4().unwrap(), 3);
    socket.set_ttl(9).unwrap();
    assert_eq!(socket.ttl().unwrap(), 9);
}

fn unix_pairs(world: World) {
    let (one, other) = UnixDatagram::pair().unwrap();
    let sender = world.spawn(move || {
        for number in 0..2000_u16 {
            one.send(&number.to_be_bytes()).unwrap();
        }
    });
    let mut buffer = [0; 8];
    for number in 0..2000_u16 {
        assert_eq!(other.recv(&mut buffer).unwrap(), 2);
        assert_eq!(buffer[..2], number.to_be_bytes());
    }
    sender.join();
    assert_eq!(other.try_recv(&mut buffer).unwrap_err().kind(), io::ErrorKind::WouldBlock);
}

/// Senders wait for room, connected or not, and none is forgotten.
fn unix_queues_that_are_full(world: World) {
    let path = SocketPath::new();
    let receiver = UnixDatagram::bind(&path).unwrap();
    let senders: Vec<_> = (0..6)
        .map(|index| {
            let path = path.0.clone();
            world.spawn(move || {
                let socket = UnixDatagram::unbound().unwrap();
                if index % 2 == 0 {
                    socket.connect(&path).unwrap();
                }
                for _ in 0..200 {
                    let sent =
                        if index % 2 == 0 { socket.send(&[index]) } else { socket.send_to(&[index], &path) };
                    assert_eq!(sent.unwrap(), 1);
                }
            })
        })
        .collect();
    let mut counts = [0; 6];
    for _ in 0..6 * 200 {
        let mut byte = [0];
        let (length, from) = receiver.recv_from(&mut byte).unwrap();
        assert!(length == 1 && from.is_unnamed());
        counts[usize::from(byte[0])] += 1;
    }
    assert_eq!(counts, [200; 6]);
    senders.into_iter().for_each(|sender| sender.join());
}
