//! Trees, whose nodes give their children.
//!
//! The children of a node are run as a loop within the step of the node, with the consumer of the
//! outermost loop. So a loop over a tree is a nest of loops, of which the outermost is divided
//! first. If such an iterator is only a part of another one, as in a chain, its items are collected
//! first.

use crate::at::Nested;
use crate::iter::collect::Gather;
use crate::iter::run::run;
use crate::iter::shown::shown;
use crate::iter::{
    At, Consumer, IndexedParallelIterator, IntoParallelIterator, Once, ParallelIterator, Part, Plan,
};
use std::fmt;
use std::iter;
use std::panic::Location;
use std::vec;

/// Creates an iterator over the nodes of a tree, each before its children. `children_of` returns the
/// children of a node, in their order.
///
/// ```
/// # use lisle_par::facade as lisle;
/// use lisle::par::{iter::walk_tree_prefix, prelude::*};
///
/// // Node n has the children 2n and 2n + 1.
/// let tree = walk_tree_prefix(1, |n| [2 * n, 2 * n + 1].into_iter().filter(|n| *n < 8));
/// assert_eq!(tree.collect::<Vec<u32>>(), [1, 2, 4, 5, 3, 6, 7]);
/// ```
///
/// The nodes may be references:
///
/// ```
/// # use lisle_par::facade as lisle;
/// use lisle::par::{iter::walk_tree_prefix, prelude::*};
///
/// struct Folder {
///     files: u32,
///     folders: Vec<Folder>,
/// }
///
/// let leaf = |files| Folder { files, folders: vec![] };
/// let root = Folder { files: 1, folders: vec![leaf(2), leaf(3)] };
/// let files: u32 = walk_tree_prefix(&root, |folder| &folder.folders).map(|folder| folder.files).sum();
/// assert_eq!(files, 6);
/// ```
///
/// # Cost
///
/// A node with several children costs a vector of them and a short loop, some hundred nanoseconds.
/// The loops nest as deeply as the tree: beyond the room on the stack they continue on another one.
#[track_caller]
pub fn walk_tree_prefix<S, B, I>(root: S, children_of: B) -> WalkTreePrefix<S, B>
where
    S: Send,
    B: Fn(&S) -> I + Send + Sync,
    I: IntoIterator<Item = S>,
{
    WalkTreePrefix { root: Some(root), children_of, site: Location::caller() }
}

/// Creates an iterator over the nodes of a tree, each after its children. `children_of` returns the
/// children of a node, in their order.
///
/// The costs are those of [`walk_tree_prefix`].
///
/// ```
/// # use lisle_par::facade as lisle;
/// use lisle::par::{iter::walk_tree_postfix, prelude::*};
///
/// let tree = walk_tree_postfix(1, |n| [2 * n, 2 * n + 1].into_iter().filter(|n| *n < 8));
/// assert_eq!(tree.collect::<Vec<u32>>(), [4, 5, 2, 6, 7, 3, 1]);
/// ```
#[track_caller]
pub fn walk_tree_postfix<S, B, I>(root: S, children_of: B) -> WalkTreePostfix<S, B>
where
    S: Send,
    B: Fn(&S) -> I + Send + Sync,
    I: IntoIterator<Item = S>,
{
    WalkTreePostfix { root: Some(root), children_of, site: Location::caller() }
}

/// Creates an iterator over the nodes of a tree in any order. `children_of` returns the children of
/// a node.
///
/// The costs are those of [`walk_tree_prefix`].
///
/// ```
/// # use lisle_par::facade as lisle;
/// use lisle::par::{iter::walk_tree, prelude::*};
///
/// let tree = walk_tree(4_u32, |n| if *n > 2 { vec![n / 2, n / 2 + 1] } else { vec![] });
/// assert_eq!(tree.sum::<u32>(), 12);
/// ```
#[track_caller]
pub fn walk_tree<S, B, I>(root: S, children_of: B) -> WalkTree<S, B>
where
    S: Send,
    B: Fn(&S) -> I + Send + Sync,
    I: IntoIterator<Item = S>,
{
    WalkTree { root: Some(root), children_of, site: Location::caller() }
}

/// Defines the iterators over trees.
macro_rules! walks {
    ($($Walk:ident: $function:ident, $is_prefix:literal;)*) => {$(
        #[doc = concat!("See [`", stringify!($function), "`].")]
        #[must_use = "iterators are lazy and do nothing unless consumed"]
        #[derive(Clone)]
        pub struct $Walk<S, B> {
            root: Option<S>,
            children_of: B,
            /// The call that has created it. The loops of a part run on behalf of this call.
            site: &'static Location<'static>,
        }

        shown!([S: fmt::Debug, B] $Walk<S, B>, stringify!($Walk), root);

        impl<S, B, I> ParallelIterator for $Walk<S, B>
        where
            S: Send,
            B: Fn(&S) -> I + Send + Sync,
            I: IntoIterator<Item = S>,
        {
            type Item = S;
            type Part<'a>
                = TreePart<'a, S, B, $is_prefix>
            where
                Self: 'a;

            fn part(&mut self) -> Self::Part<'_> {
                TreePart { root: self.root.take(), children_of: &self.children_of, site: self.site }
            }

            #[track_caller]
            fn drive<C: Consumer<Item = S>>(self, consumer: &C, plan: Plan) -> C::Acc {
                walk::<_, _, _, _, $is_prefix>(self.root, &self.children_of, consumer, plan)
            }
        }
    )*};
}

walks! {
    WalkTreePrefix: walk_tree_prefix, true;
    WalkTreePostfix: walk_tree_postfix, false;
    WalkTree: walk_tree, true;
}

/// Feeds the nodes of a tree to `consumer`.
#[track_caller]
fn walk<S, B, I, C, const IS_PREFIX: bool>(
    root: Option<S>,
    children_of: &B,
    consumer: &C,
    plan: Plan,
) -> C::Acc
where
    S: Send,
    B: Fn(&S) -> I + Sync,
    I: IntoIterator<Item = S>,
    C: Consumer<Item = S>,
{
    let plan = Plan { site: plan.site.or(Some(Location::caller())), ..plan };
    Once::of(root).drive(&Nodes::<_, _, IS_PREFIX> { children_of, consumer, plan, outer: None }, plan)
}

/// A consumer of nodes, which also feeds the nodes below them to the consumer that it wraps.
struct Nodes<'w, B, C, const IS_PREFIX: bool> {
    children_of: &'w B,
    consumer: &'w C,
    plan: Plan,
    /// The loop over the children of one node, unless the node is the root.
    outer: Option<&'w Nested<'w>>,
}

impl<S, B, I, C, const IS_PREFIX: bool> Nodes<'_, B, C, IS_PREFIX>
where
    S: Send,
    B: Fn(&S) -> I + Sync,
    I: IntoIterator<Item = S>,
    C: Consumer<Item = S>,
{
    /// Feeds a node at the place `at` and all nodes below it.
    fn visit(&self, mut node: S, mut acc: C::Acc, at: At<'_>) -> C::Acc {
        loop {
            let mut children: Vec<S> = (self.children_of)(&node).into_iter().collect();
            if IS_PREFIX {
                acc = self.consumer.feed(acc, at, iter::once(node));
                if self.consumer.is_done(&acc, at) {
                    return acc;
                }
                // A tree may be a list.
                match children.len() {
                    0 => return acc,
                    1 => node = children.remove(0),
                    _ => return self.below(children, acc, at),
                }
            } else {
                if !children.is_empty() {
                    acc = self.below(children, acc, at);
                    if self.consumer.is_done(&acc, at) {
                        return acc;
                    }
                }
                return self.consumer.feed(acc, at, iter::once(node));
            }
        }
    }

    /// Feeds the children of the node at `at` and all nodes below them.
    fn below(&self, children: Vec<S>, acc: C::Acc, at: At<'_>) -> C::Acc {
        let nested = Nested::new(at);
        let inner = Nodes::<_, _, IS_PREFIX> { outer: Some(&nested), ..*self };
        let mut children = children.into_par_iter();
        let next = run(children.exact(), &inner, self.plan);
        self.consumer.merge(acc, next)
    }
}

impl<'w, B, C, const IS_PREFIX: bool> Nodes<'w, B, C, IS_PREFIX> {
    /// Returns the place in the outermost loop of the block at `at` of this loop.
    fn place<'a>(&'a self, at: &'a At<'a>) -> At<'a> {
        self.outer.map_or(*at, |nested| at.within(nested))
    }
}

impl<S, B, I, C, const IS_PREFIX: bool> Consumer for Nodes<'_, B, C, IS_PREFIX>
where
    S: Send,
    B: Fn(&S) -> I + Sync,
    I: IntoIterator<Item = S>,
    C: Consumer<Item = S>,
{
    type Item = S;
    type Acc = C::Acc;

    fn begin(&self) -> C::Acc {
        self.consumer.begin()
    }

    fn feed<J: Iterator<Item = S>>(&self, mut acc: C::Acc, at: At<'_>, items: J) -> C::Acc {
        let at = self.place(&at);
        for node in items {
            if self.consumer.is_done(&acc, at) {
                break;
            }
            acc = self.visit(node, acc, at);
        }
        acc
    }

    fn merge(&self, left: C::Acc, right: C::Acc) -> C::Acc {
        self.consumer.merge(left, right)
    }

    fn is_done(&self, acc: &C::Acc, at: At<'_>) -> bool {
        self.consumer.is_done(acc, self.place(&at))
    }

    fn needless(&self, at: At<'_>) -> usize {
        self.consumer.needless(self.place(&at))
    }

    fn end(&self, acc: C::Acc) -> C::Acc {
        self.consumer.end(acc)
    }
}

/// A tree as one step, or nothing.
pub struct TreePart<'a, S, B, const IS_PREFIX: bool> {
    root: Option<S>,
    children_of: &'a B,
    site: &'static Location<'static>,
}

impl<'a, S, B, I, const IS_PREFIX: bool> Part for TreePart<'a, S, B, IS_PREFIX>
where
    S: Send,
    B: Fn(&S) -> I + Send + Sync,
    I: IntoIterator<Item = S>,
{
    type Item = S;
    type Items = TreeItems<'a, S, B, IS_PREFIX>;

    fn len(&self) -> usize {
        usize::from(self.root.is_some())
    }

    fn split_at(self, at: usize) -> (Self, Self) {
        let nothing = TreePart { root: None, ..self };
        if at == 0 { (nothing, self) } else { (self, nothing) }
    }

    fn items(self) -> Self::Items {
        TreeItems { tree: self, nodes: Vec::new().into_iter() }
    }
}

/// The iterator of a [`TreePart`].
pub struct TreeItems<'a, S, B, const IS_PREFIX: bool> {
    /// The tree, until it has been walked.
    tree: TreePart<'a, S, B, IS_PREFIX>,
    nodes: vec::IntoIter<S>,
}

impl<S, B, I, const IS_PREFIX: bool> Iterator for TreeItems<'_, S, B, IS_PREFIX>
where
    S: Send,
    B: Fn(&S) -> I + Send + Sync,
    I: IntoIterator<Item = S>,
{
    type Item = S;

    fn next(&mut self) -> Option<S> {
        let TreePart { root, children_of, site } = &mut self.tree;
        if root.is_some() {
            let plan = Plan { site: Some(site), ..Plan::default() };
            let runs = walk::<_, _, _, _, IS_PREFIX>(root.take(), *children_of, &Gather::new(), plan);
            let mut nodes = Vec::new();
            runs.append_to(&mut nodes);
            self.nodes = nodes.into_iter();
        }
        self.nodes.next()
    }
}

shown!([S: fmt::Debug, B, const IS_PREFIX: bool] TreePart<'_, S, B, IS_PREFIX>, "TreePart", root);

impl<S: fmt::Debug, B, const IS_PREFIX: bool> fmt::Debug for TreeItems<'_, S, B, IS_PREFIX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TreeItems").field("tree", &self.tree).field("nodes", &self.nodes).finish()
    }
}
