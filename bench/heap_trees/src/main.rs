//! Binary trees, after the Computer Language Benchmarks Game: many trees of several depths are made, counted and
//! dropped, while one long-lived tree stays.
//!
//! `cargo run --release --manifest-path bench/heap_trees/Cargo.toml -- [DEPTH [ROUNDS]]` prints the processor time of each
//! system, its resident memory afterwards, and the ratios of the first, in each of the rounds. Each system runs in a process
//! of its own, one after the other.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod heap {
    use lisle_heap::{Gc, Heap, Local, Object, Ref, Scope};

    #[derive(Object)]
    struct Tree {
        left: Gc<Option<Tree>>,
        right: Gc<Option<Tree>>,
    }

    fn make<'s>(s: &mut Scope<'s>, depth: u32) -> Local<'s, Tree> {
        if depth == 0 {
            return s.alloc::<Tree>(Tree::init(None, None));
        }
        s.escape(|s| {
            let left = make(s, depth - 1);
            let right = make(s, depth - 1);
            s.alloc::<Tree>(Tree::init(left, right))
        })
    }

    fn count(tree: Ref<'_, Tree>) -> u64 {
        1 + tree.left().map_or(0, count) + tree.right().map_or(0, count)
    }

    pub fn run(depth: u32) -> u64 {
        Heap::new().enter(|s| {
            let one = |s: &mut Scope<'_>, depth| {
                s.scope(|s| {
                    let tree = make(s, depth);
                    count(tree.get(s))
                })
            };
            let mut total = one(s, depth + 1);
            let long_lived = make(s, depth);
            for shallow in (4..=depth).step_by(4) {
                for _ in 0..1 << (depth - shallow + 4) {
                    total += one(s, shallow);
                }
            }
            total + count(long_lived.get(s))
        })
    }
}

mod boxes {
    struct Tree {
        left: Option<Box<Tree>>,
        right: Option<Box<Tree>>,
    }

    fn make(depth: u32) -> Box<Tree> {
        if depth == 0 {
            return Box::new(Tree { left: None, right: None });
        }
        let left = make(depth - 1);
        let right = make(depth - 1);
        Box::new(Tree { left: Some(left), right: Some(right) })
    }

    fn count(tree: &Tree) -> u64 {
        1 + tree.left.as_deref().map_or(0, count) + tree.right.as_deref().map_or(0, count)
    }

    pub fn run(depth: u32) -> u64 {
        let mut total = count(&make(depth + 1));
        let long_lived = make(depth);
        for shallow in (4..=depth).step_by(4) {
            for _ in 0..1 << (depth - shallow + 4) {
                total += count(&make(shallow));
            }
        }
        total + count(&long_lived)
    }
}

mod gc_arena_trees {
    use gc_arena::{Arena, Collect, Gc, Mutation, Rootable};

    #[derive(Collect)]
    #[collect(no_drop)]
    struct Tree<'gc> {
        left: Option<Gc<'gc, Tree<'gc>>>,
        right: Option<Gc<'gc, Tree<'gc>>>,
    }

    fn make<'gc>(mutation: &Mutation<'gc>, depth: u32) -> Gc<'gc, Tree<'gc>> {
        if depth == 0 {
            return Gc::new(mutation, Tree { left: None, right: None });
        }
        let left = make(mutation, depth - 1);
        let right = make(mutation, depth - 1);
        Gc::new(mutation, Tree { left: Some(left), right: Some(right) })
    }

    fn count(tree: Gc<'_, Tree<'_>>) -> u64 {
        1 + tree.left.map_or(0, count) + tree.right.map_or(0, count)
    }

    pub fn run(depth: u32) -> u64 {
        let mut arena = Arena::<Rootable![Option<Gc<'_, Tree<'_>>>]>::new(|_| None);
        let mut total = arena.mutate(|mutation, _| count(make(mutation, depth + 1)));
        arena.collect_debt();
        arena.mutate_root(|mutation, root| *root = Some(make(mutation, depth)));
        for shallow in (4..=depth).step_by(4) {
            for _ in 0..1 << (depth - shallow + 4) {
                total += arena.mutate(|mutation, _| count(make(mutation, shallow)));
                arena.collect_debt();
            }
        }
        total + arena.mutate(|_, root| count(root.expect("the long-lived tree")))
    }
}

/// The name of a system, and its program, which takes a depth and returns a number of nodes.
type System = (&'static str, fn(u32) -> u64);

const SYSTEMS: [System; 3] =
    [("lisle-heap", heap::run), ("boxes, mimalloc", boxes::run), ("gc-arena", gc_arena_trees::run)];

/// Returns the processor time of this process in seconds.
fn processor_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to the time.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Returns the largest resident memory of this process in MiB.
fn resident() -> f64 {
    let status =
        std::fs::read_to_string("/proc/self/status").expect("the kernel tells the status of a process");
    let line =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("it has the resident memory");
    line.trim().trim_end_matches(" kB").parse::<f64>().expect("it is a number") / 1024.0
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |index: usize, otherwise: u32| {
        arguments.get(index).map_or(otherwise, |text| text.parse().expect("an argument is a number"))
    };
    let (depth, rounds) = (number(1, 18), number(2, 3));
    if let Some(system) = arguments.get(3) {
        let (_, run) = SYSTEMS[system.parse::<usize>().expect("an index")];
        let begun = processor_time();
        let total = run(depth);
        println!("{} {} {total}", processor_time() - begun, resident());
        return;
    }
    println!("| system | seconds | ratio to lisle-heap | MiB |\n|---|---|---|---|");
    for _ in 0..rounds {
        let mut first = None;
        for (index, (name, _)) in SYSTEMS.iter().enumerate() {
            let program = std::env::current_exe().expect("the program has a path");
            let out = std::process::Command::new(program)
                .args([depth.to_string(), "1".into(), index.to_string()])
                .output()
                .expect("the program runs");
            let text = String::from_utf8(out.stdout).expect("it prints text");
            let numbers: Vec<f64> =
                text.split_whitespace().map(|word| word.parse().expect("a number")).collect();
            let [seconds, resident, total] = numbers[..] else { panic!("{name} has failed") };
            let (base, expected) = *first.get_or_insert((seconds, total));
            assert!(total == expected, "{name} has counted {total} nodes, and others {expected}");
            println!("| {name} | {seconds:.3} | {:.2} | {resident:.0} |", seconds / base);
        }
    }
}
