//! Trees of boxes.

use super::on_threads;

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

/// Makes and counts all trees, each thread its share of them.
pub fn run(depth: u32, threads: usize) -> u64 {
    on_threads(threads, |share| {
        let mut total = 0;
        if share.is_last() {
            total += count(&make(depth + 1));
        }
        let long_lived = share.is_first().then(|| make(depth));
        for shallow in share.depths(depth) {
            total += count(&make(shallow));
        }
        total + long_lived.as_deref().map_or(0, count)
    })
}
