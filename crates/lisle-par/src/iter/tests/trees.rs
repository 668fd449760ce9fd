//! Trees, wherever the loops over the children of their nodes are divided.

use super::splits::divided;
use crate::iter::{walk_tree, walk_tree_postfix, walk_tree_prefix};
use crate::prelude::*;
use crate::shim::random::Random;
use std::sync::atomic::{AtomicUsize, Ordering};

const SEEDS: u64 = if cfg!(miri) { 1 } else { 1_000 };

/// The children of each node, whose number is its index. The root is node 0.
type Tree = Vec<Vec<usize>>;

fn tree(random: &Random) -> Tree {
    let nodes = 1 + random.next() as usize % 60;
    // Deep or wide.
    let reach = 1 + random.next() as usize % nodes;
    let mut tree = vec![Vec::new(); nodes];
    for node in 1..nodes {
        let parent = node - 1 - random.next() as usize % reach.min(node);
        tree[parent].push(node);
    }
    tree
}

fn prefix(tree: &Tree, node: usize, all: &mut Vec<usize>) {
    all.push(node);
    tree[node].iter().for_each(|child| prefix(tree, *child, all));
}

fn postfix(tree: &Tree, node: usize, all: &mut Vec<usize>) {
    tree[node].iter().for_each(|child| postfix(tree, *child, all));
    all.push(node);
}

#[test]
fn each_node_is_visited_in_order() {
    for seed in 0..SEEDS {
        let random = Random::seeded(seed);
        let tree = tree(&random);
        let children_of = |node: &usize| tree[*node].iter().copied();
        let (mut before, mut after) = (Vec::new(), Vec::new());
        prefix(&tree, 0, &mut before);
        postfix(&tree, 0, &mut after);
        let wanted = random.next() as usize % 7;
        let is_wanted = |node: &usize| node % 7 == wanted;
        divided(seed, || {
            let walk = || walk_tree_prefix(0, children_of);
            assert_eq!(walk().collect::<Vec<_>>(), before);
            assert_eq!(walk().find_first(is_wanted), before.iter().copied().find(is_wanted));
            assert_eq!(walk().find_last(is_wanted), before.iter().copied().rfind(is_wanted));
            assert_eq!(walk().any(|node| is_wanted(&node)), before.iter().any(is_wanted));
            assert!(walk().chain(walk()).collect::<Vec<_>>().iter().eq(before.iter().chain(&before)));
            let text = walk().map(|node| node.to_string()).reduce(String::new, |a, b| a + "," + &b);
            assert_eq!(text.split(',').filter(|node| !node.is_empty()).count(), before.len());
            let walk = || walk_tree_postfix(0, children_of);
            assert_eq!(walk().collect::<Vec<_>>(), after);
            assert_eq!(walk().find_first(is_wanted), after.iter().copied().find(is_wanted));
            assert_eq!(walk().find_last(is_wanted), after.iter().copied().rfind(is_wanted));
            let failing = |node| if is_wanted(&node) { Err(node) } else { Ok(node) };
            assert_eq!(
                walk().map(failing).collect::<Result<Vec<_>, _>>(),
                after.iter().copied().map(failing).collect::<Result<Vec<_>, _>>()
            );
            // A tree for each item of a loop.
            let forest = (0..3).into_par_iter().flat_map(|_| walk_tree_postfix(0, children_of));
            assert_eq!(forest.collect::<Vec<_>>(), after.repeat(3));
            let mut any: Vec<usize> = walk_tree(0, children_of).collect();
            any.sort_unstable();
            assert!(any.into_iter().eq(0..tree.len()));
        });
    }
}

/// The stack holds only so many loops, and a list is no nest of loops at all.
#[test]
fn trees_may_be_deep() {
    const DEPTH: u32 = if cfg!(miri) { 50 } else { 20_000 };
    let list = |n: &u32| (*n < DEPTH).then_some(n + 1);
    assert_eq!(walk_tree_prefix(0, list).count(), DEPTH as usize + 1);
    assert_eq!(walk_tree_postfix(0, list).collect::<Vec<u32>>().first(), Some(&DEPTH));
    // Each node has a leaf and another such node.
    let comb = |&(n, is_leaf): &(u32, bool)| match is_leaf || n == DEPTH {
        true => vec![],
        false => vec![(n, true), (n + 1, false)],
    };
    assert_eq!(walk_tree((0, false), comb).count(), 2 * DEPTH as usize + 1);
}

#[test]
fn what_is_found_ends_the_walk() {
    let seen = AtomicUsize::new(0);
    let endless = |n: &u64| {
        seen.fetch_add(1, Ordering::Relaxed);
        [n.wrapping_mul(3), n.wrapping_mul(5)]
    };
    assert_eq!(walk_tree_prefix(1, endless).find_any(|n| *n == 3), Some(3));
    assert_eq!(walk_tree_prefix(1, endless).find_first(|n| *n == 27), Some(27));
    assert!(seen.into_inner() < 10_000_000);
    assert_eq!(format!("{:?}", walk_tree(7, |_| None)), "WalkTree { root: Some(7), .. }");
}
