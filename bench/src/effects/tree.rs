//! Binary trees to walk, in two forms.

/// The tree of the suite: its two halves are one and the same, so that a tree of height `n` takes
/// `n` nodes. A node has the height of the tree below it as its value.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) half: Option<Box<Tree>>,
    pub(crate) value: u64,
}

impl Tree {
    /// `None`: a tree of height 0 has no nodes.
    pub(crate) fn of_height(height: u64) -> Option<Box<Tree>> {
        (height > 0).then(|| Box::new(Tree { half: Tree::of_height(height - 1), value: height }))
    }
}

/// A tree in memory, each node of which is a node of its own.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) left: Option<Box<Node>>,
    pub(crate) value: u64,
    pub(crate) right: Option<Box<Node>>,
}

/// A tree of `count` numbers in order, from `first` on.
pub(crate) fn balanced(first: u64, count: u64) -> Option<Box<Node>> {
    (count > 0).then(|| {
        let before = (count - 1) / 2;
        Box::new(Node {
            left: balanced(first, before),
            value: first + before,
            right: balanced(first + before + 1, count - 1 - before),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_order(tree: Option<&Node>, numbers: &mut Vec<u64>) {
        if let Some(node) = tree {
            in_order(node.left.as_deref(), numbers);
            numbers.push(node.value);
            in_order(node.right.as_deref(), numbers);
        }
    }

    #[test]
    fn a_balanced_tree_has_its_numbers_in_order() {
        let mut numbers = Vec::new();
        in_order(balanced(3, 10).as_deref(), &mut numbers);
        assert_eq!(numbers, (3..13).collect::<Vec<_>>());
    }

    #[test]
    fn the_halves_of_the_suites_tree_are_one() {
        fn sum(tree: Option<&Tree>) -> u64 {
            tree.map_or(0, |tree| tree.value + 2 * sum(tree.half.as_deref()))
        }
        assert_eq!([0, 1, 5].map(|height| sum(Tree::of_height(height).as_deref())), [0, 1, 57]);
    }
}
