//! One program, explored by one tool: a sample for `lisle-bench check`, which compares them.
//!
//! The programs are written once, for any [`Threads`]: each tool runs the same code, with its own
//! threads, mutexes, condition variables and atomics. Channels are left out, since loom has none
//! that wait: the bounded buffer is made of a mutex and two condition variables everywhere.
//!
//! An execution is one run of the program, for all tools. Executions that are given up count, and
//! so do executions with which an exploration begins anew. A process takes one sample, since a tool
//! may leave something behind, or not come to an end.
//!
//! ```sh
//! cargo bench -p lisle-check --bench peers -- list
//! cargo bench -p lisle-check --bench peers -- sample philosophers-3 lisle 1 20
//! ```

mod lisle;
mod loom;
mod programs;
mod sample;
mod shuttle;
mod threads;

use programs::PROGRAMS;
use std::process::ExitCode;
use threads::Threads;

/// A tool that explores: its name, and the function that explores a program by its name, with a
/// seed.
type Tool = (&'static str, fn(&str, u64));

const TOOLS: [Tool; 7] = [
    ("lisle", |program, _| lisle::exhaustive(program)),
    ("loom", |program, _| loom::exhaustive(program)),
    ("shuttle-dfs", |program, _| shuttle::exhaustive(program)),
    ("lisle-random", lisle::random),
    ("shuttle-random", shuttle::random),
    ("lisle-pct", lisle::priorities),
    ("shuttle-pct", shuttle::priorities),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["sample", program, tool, seed, limit] => {
            let (Some((_, explore)), Ok(seed), Ok(limit)) =
                (TOOLS.iter().find(|(name, _)| *name == tool), seed.parse(), limit.parse())
            else {
                return usage();
            };
            if !PROGRAMS.iter().any(|known| known.name == program) {
                return usage();
            }
            sample::take(limit, || explore(program, seed));
            ExitCode::SUCCESS
        }
        [] | ["list"] => {
            for program in PROGRAMS {
                let ways = if program.fails { "all" } else { "exhaustive" };
                println!("{} {ways}", program.name);
            }
            ExitCode::SUCCESS
        }
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!("peers: want `list`, or `sample PROGRAM TOOL SEED SECONDS`");
    let tools: Vec<_> = TOOLS.iter().map(|(name, _)| *name).collect();
    eprintln!("the tools are {}", tools.join(", "));
    ExitCode::from(2)
}

/// Returns the program of this name, on these threads.
fn program<T: Threads>(name: &str) -> fn() {
    programs::find::<T>(name).expect("`main` has looked for the name")
}
