//! By genawaiter: generators made of `async` blocks. A function that they call cannot yield unless
//! it is `async`, too, and recursion takes a box for each call. So only programs are here that are
//! one function, or call one.

use crate::effects::{
    Path, Tree,
    suite::{hash, is_safe},
};
use genawaiter::{
    GeneratorState,
    stack::{Co, let_gen_using},
};
use std::{collections::VecDeque, pin::Pin};

/// The programs of the suite that are here.
pub(super) const PROGRAMS: [&str; 6] =
    ["chameneos", "countdown", "generator", "iterator", "nqueens", "triples"];

pub(super) fn run(program: &str, n: u64) -> u64 {
    match program {
        "chameneos" => chameneos(n),
        "countdown" => countdown(n),
        "generator" => generator(n),
        "iterator" => iterator(n),
        "nqueens" => nqueens(n),
        "triples" => triples(n),
        other => panic!("genawaiter has no program {other}"),
    }
}

/// Answers the questions of a generator, until it returns.
macro_rules! handle {
    ($generator:ident, $question:pat => $answer:expr) => {{
        let mut answer = Default::default();
        loop {
            match $generator.resume_with(answer) {
                GeneratorState::Yielded($question) => answer = $answer,
                GeneratorState::Complete(result) => break result,
            }
        }
    }};
}

enum State {
    Get,
    Set(u64),
}

fn countdown(n: u64) -> u64 {
    let mut state = n;
    let_gen_using!(body, |co: Co<'_, State, u64>| async move {
        loop {
            let now = co.yield_(State::Get).await;
            if now == 0 {
                break now;
            }
            co.yield_(State::Set(now - 1)).await;
        }
    });
    handle!(body, question => {
        if let State::Set(new) = question {
            state = new;
        }
        state
    })
}

fn iterator(n: u64) -> u64 {
    let mut sum = 0;
    let_gen_using!(range, |co: Co<'_, u64>| async move {
        for number in 0..=n {
            co.yield_(number).await;
        }
    });
    handle!(range, number => sum += number);
    sum
}

fn walk<'a>(tree: Option<&'a Tree>, co: &'a Co<'_, u64>) -> Pin<Box<dyn Future<Output = ()> + 'a>> {
    Box::pin(async move {
        if let Some(tree) = tree {
            walk(tree.half.as_deref(), co).await;
            co.yield_(tree.value).await;
            walk(tree.half.as_deref(), co).await;
        }
    })
}

fn generator(height: u64) -> u64 {
    let (tree, mut sum) = (Tree::of_height(height), 0);
    let tree = tree.as_deref();
    let_gen_using!(values, |co: Co<'_, u64>| async move { walk(tree, &co).await });
    handle!(values, value => sum += value);
    sum
}

/// Columns are placed in a loop: a box for each would dominate the measurement.
fn nqueens(n: u64) -> u64 {
    let (mut path, mut solutions) = (Path::default(), 0);
    loop {
        let_gen_using!(place, |co: Co<'_, u64, u64>| async move {
            let mut rows = Vec::with_capacity(n as usize);
            for _ in 0..n {
                let row = co.yield_(n).await + 1;
                if !is_safe(row, &rows) {
                    return false;
                }
                rows.push(row);
            }
            true
        });
        solutions += u64::from(handle!(place, options => path.choose(options).0));
        if !path.advance() {
            break solutions;
        }
    }
}

fn triples(n: u64) -> u64 {
    async fn choice(n: u64, co: &Co<'_, u64, u64>) -> Option<u64> {
        for number in (1..=n).rev() {
            if co.yield_(2).await == 0 {
                return Some(number);
            }
        }
        None
    }
    async fn triple(n: u64, co: Co<'_, u64, u64>) -> Option<u64> {
        let i = choice(n, &co).await?;
        let j = choice(i - 1, &co).await?;
        let k = choice(j - 1, &co).await?;
        (i + j + k == n).then(|| hash(i, j, k))
    }
    let (mut path, mut sum) = (Path::default(), 0);
    loop {
        let_gen_using!(triple, |co| triple(n, co));
        let hash = handle!(triple, options => path.choose(options).0);
        sum = (sum + hash.unwrap_or(0)) % 1_000_000_007;
        if !path.advance() {
            break sum;
        }
    }
}

fn chameneos(n: u64) -> u64 {
    use super::chameneos::{COLOURS, Colour, Mall, changed};
    use genawaiter::rc::{Co, Gen};

    let begin = |mut colour| {
        Gen::new(async move |co: Co<Colour, Option<Colour>>| {
            let mut meetings = 0;
            while let Some(other) = co.yield_(colour).await {
                colour = changed(colour, other);
                meetings += 1;
            }
            meetings
        })
    };
    let mut creatures = COLOURS.map(begin);
    let mut ready: VecDeque<(usize, Option<Colour>)> = (0..creatures.len()).map(|id| (id, None)).collect();
    let (mut mall, mut meetings) = (Mall::new(n), 0);
    while let Some((id, other)) = ready.pop_front().or_else(|| mall.close()) {
        match creatures[id].resume_with(other) {
            GeneratorState::Yielded(colour) => {
                mall.enter(id, colour, |id, other| ready.push_back((id, other)))
            }
            GeneratorState::Complete(own) => meetings += own,
        }
    }
    meetings
}
