//! Sockets and pipes: from plain threads, and from fibers on one domain and on two. A separate
//! module tests them with futures.

mod accepting;
mod connecting;
mod datagrams;
mod ending;
mod futures;
mod pipes;
mod pressure;
mod reuse;
mod send_file;
mod std_methods;
mod streams;
mod waiting;

use crate::support::watched;
use lisle::Runtime;
use lisle::fiber::JoinHandle;
use lisle::net::{TcpListener, TcpStream, UnixStream};

/// The kind of performers of a case.
#[derive(Debug, Clone, Copy)]
enum World {
    /// Plain OS threads.
    Threads,
    /// Fibers of a runtime with this many domains. The test's thread is one of them.
    Fibers(usize),
}

/// A performer to be joined.
enum Performer<T> {
    Thread(std::thread::JoinHandle<T>),
    Fiber(JoinHandle<T>),
}

impl World {
    fn run(self, case: impl FnOnce(World)) {
        let _watched = watched();
        match self {
            World::Threads => case(self),
            World::Fibers(domains) => Runtime::builder().domains(domains).run(|| case(self)),
        }
    }

    fn spawn<T: Send + 'static>(self, f: impl FnOnce() -> T + Send + 'static) -> Performer<T> {
        match self {
            World::Threads => Performer::Thread(std::thread::spawn(f)),
            World::Fibers(_) => Performer::Fiber(lisle::spawn(f)),
        }
    }
}

impl<T: Send> Performer<T> {
    fn join(self) -> T {
        match self {
            Performer::Thread(thread) => thread.join().expect("no panic"),
            Performer::Fiber(fiber) => fiber.join().expect("no panic"),
        }
    }
}

/// Returns the two ends of a TCP connection.
fn tcp_pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (server, from) = listener.accept().unwrap();
    assert_eq!(from, client.local_addr().unwrap());
    (client, server)
}

fn unix_pair() -> (UnixStream, UnixStream) {
    UnixStream::pair().unwrap()
}

/// A path in the file system for one socket. Dropping it removes the file.
struct SocketPath(std::path::PathBuf);

impl SocketPath {
    fn new() -> Self {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("lisle-test-{}-{number}", std::process::id());
        SocketPath(std::env::temp_dir().join(name))
    }
}

impl AsRef<std::path::Path> for SocketPath {
    fn as_ref(&self) -> &std::path::Path {
        &self.0
    }
}

impl Drop for SocketPath {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Makes one test of each case for each world.
macro_rules! everywhere {
    ($($case:ident),* $(,)?) => {
        $crate::net::everywhere!(@ threads (Threads) $($case)*);
        $crate::net::everywhere!(@ one_domain (Fibers(1)) $($case)*);
        $crate::net::everywhere!(@ two_domains (Fibers(2)) $($case)*);
    };
    (@ $name:ident $world:tt $($case:ident)*) => {
        mod $name {
            $(
                #[test]
                fn $case() {
                    use $crate::net::World::*;
                    let world: $crate::net::World = $world;
                    world.run(super::$case);
                }
            )*
        }
    };
}
use everywhere;
