//! Effects and loops, sockets and tasks.

use lisle::effect::{Effect, generate, generator, handle, perform};
use lisle::par::{self, prelude::*};
use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};

struct Ask;
impl Effect for Ask {
    type Answer = u32;
}

fn message_of<T>(f: impl FnOnce() -> T) -> String {
    let Err(panic) = catch_unwind(AssertUnwindSafe(f)) else { panic!("there was no panic") };
    panic.downcast_ref::<String>().expect("a message").clone()
}

fn by_all(f: impl Fn() + Send + Sync + Copy) {
    f();
    for domains in [1, 2, 4] {
        lisle::Runtime::builder().domains(domains).run(f);
    }
}

/// It is an error, and always, not only if the part runs elsewhere.
#[test]
fn an_effect_does_not_leave_a_loop() {
    by_all(|| {
        let in_loop = || (0..1_000_u32).into_par_iter().map(|_| perform(Ask)).sum::<u32>();
        let in_join = || par::join(|| perform(Ask), || perform(Ask)).0;
        let in_scope = || par::scope(|scope| scope.spawn(|| perform(Ask)).wait());
        for handled in [
            message_of(|| handle(in_loop).on(|Ask, k| k.resume(1)).run()),
            message_of(|| handle(in_join).on(|Ask, k| k.resume(1)).run()),
            message_of(|| handle(in_join).answer(|Ask| 1).run()),
            message_of(|| handle(in_loop).answer(|Ask| 1).run()),
            message_of(|| handle(in_scope).answer(|Ask| 1).run()),
        ] {
            assert!(
                handled.contains("in a part of a loop or join")
                    || handled.contains("no handler for the effect"),
                "{handled}"
            );
        }
    });
}

#[test]
fn parts_of_loops_have_handlers_of_their_own() {
    by_all(|| {
        let part = |n: u32| handle(|| perform(Ask) + perform(Ask)).on(|Ask, k| k.resume(n)).run();
        let sum: u32 = (0..1_000_u32).into_par_iter().map(part).sum();
        assert_eq!(sum, 999_000);
        let (a, b) = par::join(|| part(1), || par::join(|| part(2), || part(3)));
        assert_eq!((a, b), (2, (4, 6)));
    });
}

#[test]
fn handled_code_runs_loops() {
    by_all(|| {
        fn count(n: u32) -> u32 {
            if n < 2 {
                return n;
            }
            let (a, b) = par::join(|| count(n - 1), || count(n - 2));
            a + b
        }
        let sum = handle(|| count(12) + perform(Ask) + (0..100_u32).into_par_iter().sum::<u32>())
            .on(|Ask, k| k.resume(count(10)))
            .run();
        assert_eq!(sum, 144 + 55 + 4_950);
    });
}

/// A computation is dropped whose performer is in a join: it is not left, and so the join is whole.
#[test]
fn a_join_whose_half_performs_is_unwound_as_a_whole() {
    by_all(|| {
        let others = AtomicU32::new(0);
        let message = message_of(|| {
            handle(|| {
                par::join(|| perform(Ask), || others.fetch_add(1, Ordering::Relaxed));
                0
            })
            .catch(|Ask| 1)
            .run()
        });
        assert!(message.contains("in a part of a loop or join"), "{message}");
        assert!(others.load(Ordering::Relaxed) <= 1);
    });
}

/// A generator may be consumed by a loop, but is not sent to others.
#[test]
fn generators_beside_loops() {
    by_all(|| {
        let squares = |items: &lisle::effect::Items<u64>| {
            (0..100_u64).for_each(|n| items.give((0..n).into_par_iter().map(|_| n).sum()));
        };
        assert_eq!(generate(squares, |values| values.sum::<u64>()), 328_350);
        assert_eq!(generator(squares).sum::<u64>(), 328_350);
    });
}

/// Handled code waits for a socket, and another fiber runs meanwhile.
#[test]
fn handled_code_waits_for_sockets() {
    struct Log(String);
    impl Effect for Log {
        type Answer = ();
    }
    lisle::Runtime::builder().domains(1).run(|| {
        let listener = lisle::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = lisle::spawn(move || {
            let mut lines = Vec::new();
            handle(|| {
                let (mut stream, _) = listener.accept().unwrap();
                let mut text = String::new();
                stream.read_to_string(&mut text).unwrap();
                perform(Log(text));
            })
            .answer(|Log(line)| lines.push(line))
            .run();
            lines
        });
        let client = handle(|| {
            let mut stream = lisle::net::TcpStream::connect(address).unwrap();
            write!(stream, "asked {}", perform(Ask)).unwrap();
        });
        client.on(|Ask, k| k.resume(7)).run();
        assert_eq!(server.join().unwrap(), ["asked 7"]);
    });
}

/// The examples of this crate's README are compiled and run. They include the examples of the project's
/// README, if that is there: the package does not contain it.
#[test]
fn the_examples_of_the_projects_readme_are_tested() {
    let of_crate = include_str!("../../README.md");
    let Ok(of_project) = std::fs::read_to_string("../../README.md") else { return };
    let examples: Vec<_> =
        of_project.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!examples.is_empty(), "the project's README has no example");
    for example in examples {
        assert!(of_crate.contains(example), "in the project's README only:\n{example}");
    }
}
