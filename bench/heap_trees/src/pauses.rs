//! Pauses: threads make garbage and replace objects of a large table. The time of each step is counted, and the pauses of the
//! collector are the longest steps. A thread that only looks at the clock shows what the machine adds to that.
//!
//! Go runs the same program (`go/pauses`), if it is there. Each system runs in a process of its own, one after the other.

use crate::clock::resident;
use lisle_heap::{Gc, Heap, Local, Object, Scope, Slot};
use std::process::Command;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

#[derive(Object)]
struct Node {
    left: Slot<Option<Node>>,
    right: Slot<Option<Node>>,
    _filled: [u64; 4],
}

#[derive(Object)]
struct Link {
    _number: u64,
    _next: Gc<Option<Link>>,
}

/// The number of steps by the binary logarithm of their nanoseconds.
type Steps = [u64; 64];

/// The bytes of a node, with what a heap adds.
const NODE: u64 = 56;

/// Calls `step` with random numbers for so long, and counts the time of each call.
fn count(seconds: u64, seed: u64, mut step: impl FnMut(u64)) -> Steps {
    let (mut steps, mut random) = ([0; 64], 88_172_645_463_325_252 + seed);
    let begun = Instant::now();
    let mut last = begun;
    while last - begun < Duration::from_secs(seconds) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        step(random);
        let now = Instant::now();
        let took = u64::try_from((now - last).as_nanos()).expect("a step takes less than an age");
        steps[(64 - took.leading_zeros()) as usize] += 1;
        last = now;
    }
    steps
}

fn on_threads(threads: u64, f: impl Fn(u64) -> Steps + Sync) -> Steps {
    let mut sum = [0; 64];
    thread::scope(|t| {
        let threads: Vec<_> = (0..threads)
            .map(|me| {
                let f = &f;
                t.spawn(move || f(me))
            })
            .collect();
        for thread in threads {
            let steps = thread.join().expect("the thread has counted its steps");
            sum.iter_mut().zip(steps).for_each(|(sum, steps)| *sum += steps);
        }
    });
    sum
}

fn clock(_nodes: u64, threads: u64, seconds: u64) -> Steps {
    on_threads(threads, |me| count(seconds, me, |_| {}))
}

fn make_node<'s>(s: &mut Scope<'s>, left: Local<'_, Option<Node>>) -> Local<'s, Node> {
    s.alloc::<Node>(Node::init(left, None, [0; 4]))
}

fn heap(nodes: u64, threads: u64, seconds: u64) -> Steps {
    let (heap, ready) = (Heap::new(), Barrier::new(threads as usize));
    let each = nodes / threads;
    on_threads(threads, |me| {
        heap.enter(|s| {
            let table = s.array::<Option<Node>>(each as usize, None);
            for at in 0..each as usize {
                s.scope(|s| {
                    let nothing = s.local::<Option<Node>>(None);
                    let node = make_node(s, nothing);
                    table.get(s).at(at).set(s, node);
                });
            }
            s.outside(|| ready.wait());
            count(seconds, me, |random| {
                s.scope(|s| {
                    let mut list = s.root::<Option<Link>>(None);
                    for number in 0..20 {
                        let link = s.alloc::<Link>(Link::init(number, &list));
                        list.set(s, link);
                    }
                    if random % 8 == 0 {
                        let (to, from) = ((random >> 20) % each, (random >> 40) % each);
                        let old = s.local::<Option<Node>>(table.get(s).at(from as usize).get());
                        let node = make_node(s, old);
                        table.get(s).at(to as usize).set(s, node);
                        table.get(s).at(from as usize).set(s, None);
                    }
                });
            })
        })
    })
}

/// Runs one system, in this process, and prints its figures as the program in Go does.
pub fn run_one(system: &str, nodes: u64, threads: u64, seconds: u64) {
    let run = if system == "heap" { heap } else { clock };
    let steps = run(nodes, threads, seconds);
    println!("{}", steps.map(|steps| steps.to_string()).join(" "));
    println!("VmHWM: {} kB", resident() * 1024.0);
}

/// Prints the row of a system whose process has printed its figures.
fn row(name: &str, out: &str) {
    let steps: Vec<u64> = out
        .lines()
        .next()
        .unwrap_or("")
        .split_whitespace()
        .map(|text| text.parse().expect("a number"))
        .collect();
    let total: u64 = steps.iter().sum();
    // The shortest power of two that so many of a million steps do not pass.
    let quantile = |of_million: f64| {
        let enough = total as f64 * of_million / 1e6;
        let mut seen = 0;
        let bucket = steps.iter().position(|steps| {
            seen += steps;
            seen as f64 >= enough
        });
        (1_u64 << bucket.unwrap_or(0)) as f64 / 1e3
    };
    let memory = out.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the resident memory");
    let memory: f64 = memory.trim().trim_end_matches(" kB").parse().expect("a number");
    println!(
        "| {name} | {:.1} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} |",
        total as f64 / 1e6,
        quantile(990_000.0),
        quantile(999_900.0),
        quantile(999_999.0),
        quantile(1e6),
        memory / 1024.0
    );
}

/// Compares the systems, and prints a table.
pub fn compare(mebibytes: u64, seconds: u64, threads: u64) {
    let nodes = mebibytes * (1 << 20) / NODE;
    let numbers = [nodes, threads, seconds].map(|number| number.to_string());
    println!("{mebibytes} MiB live, {threads} threads for {seconds} s; a bound is a power of two\n");
    println!("| system | million steps | 99 % µs | 99.99 % | 99.9999 % | longest | MiB |");
    println!("|---|---|---|---|---|---|---|");
    let program = std::env::current_exe().expect("the program has a path");
    for (name, system) in [("clock only", "clock"), ("lisle-heap", "heap")] {
        let out = Command::new(&program).args(["pauses-of", system]).args(&numbers).output();
        row(name, &String::from_utf8_lossy(&out.expect("the program starts").stdout));
    }
    let go = std::env::temp_dir().join(format!("heap-trees-go-pauses-{}", std::process::id()));
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/go/pauses/main.go");
    let built = Command::new("go").args(["build", "-o"]).arg(&go).arg(source).status();
    if !built.is_ok_and(|status| status.success()) {
        println!("\nGo is not there, or did not build {source}");
        return;
    }
    for percent in ["80", "200"] {
        let out = Command::new(&go).args(&numbers).arg(percent).output().expect("the program starts");
        row(&format!("Go, GOGC={percent}"), &String::from_utf8_lossy(&out.stdout));
    }
    // Nothing depends on it.
    let _ = std::fs::remove_file(&go);
}
