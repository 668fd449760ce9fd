//! The exploration tree: the explored branches, and the pending ones.
//!
//! A node is a step after the steps of its ancestors. Its children are the branches after it, in
//! the order in which they were found. The first step of a branch sleeps in all branches to the
//! right of it. A sequence that has to run is a chain of pending nodes down to a leaf; below the
//! leaf, the execution is free. So the pending nodes below a node are its wake-up tree.
//!
//! The nodes to the left of a node are explored without its help. The executions below the node may
//! still add to the nodes to its right, even to finished ones, since another worker may have been
//! faster. So the children of a node are forgotten when the node is done, and all nodes to the left
//! of it and of its ancestors are done as well. The node itself stays until its parent's children
//! are forgotten, since it sleeps in its siblings to the right.
//!
//! Invariants:
//! - the step of a node that has run has its real label; the label of a pending node comes from the
//!   execution that found its reversal;
//! - a pending node is taken only when all its siblings to the left have run, so that its sleepers
//!   are known, and do not depend on the number of workers;
//! - all nodes below a pending one are pending;
//! - a worker's plan (a node and its first children down to a leaf) is taken, so that no other
//!   worker makes that leaf longer: the worker would not run the added steps. All other nodes below
//!   are pending;
//! - `open` counts the children that are not done.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::Process;
use super::access::Label;
use super::trace::{Choice, NONE};

/// The choices of a step, from the first one on. The step of a node that has run has all of its
/// choices; a pending one may leave the last ones open.
pub(crate) type Outcome = SmallVec<[Choice; 2]>;

/// A step that a branch begins with before it runs freely.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Planned {
    /// The process of the step.
    pub(crate) process: Process,
    /// The choices of the step.
    pub(crate) outcome: Outcome,
}

/// The state of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum NodeState {
    /// No worker has begun it.
    Pending,
    /// A worker runs it for the first time, alone or as a part of a branch that begins above it.
    Taken,
    /// It has run, and there is a pending node below it.
    Open,
    /// All below it is explored.
    Done,
}

impl NodeState {
    /// Returns `true` if the node's step has run.
    pub(crate) fn has_run(self) -> bool {
        matches!(self, NodeState::Open | NodeState::Done)
    }
}

/// A step after the steps of its ancestors.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Node {
    pub(crate) parent: u32,
    /// The number of steps before this one.
    pub(crate) depth: u32,
    pub(crate) process: Process,
    pub(crate) outcome: Outcome,
    /// The accesses of the step; none if the step has only gone in other ways so far.
    pub(crate) label: Option<Label>,
    pub(crate) state: NodeState,
    /// Executions are free below this node, and nothing sleeps there: they reach all schedules that
    /// begin with it.
    pub(crate) leaf: bool,
    pub(crate) children: SmallVec<[u32; 4]>,
    open: u32,
}

/// The exploration tree.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    free: Vec<u32>,
    /// A step of an execution has chosen. `README.md` gives the consequences.
    pub(crate) has_choices: bool,
    /// The sequences that wait at a leaf until it has run.
    postponed: FxHashMap<u32, Vec<Postponed>>,
}

/// A planned step, with the accesses that it is thought to have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Step {
    pub(crate) own: Planned,
    pub(crate) label: Label,
}

/// A sequence whose place in the tree depends on a leaf that has not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Postponed {
    pub(crate) steps: Vec<Step>,
    /// The last step was reversed. Its choices beyond its outcome are open.
    pub(crate) ends_open: bool,
    /// The steps to the left that can begin some of the schedules that begin with the sequence.
    pub(crate) covered: Vec<(Process, Outcome)>,
}

impl Tree {
    /// The node before all steps.
    pub(crate) const ROOT: u32 = 0;

    /// Creates the tree without any execution.
    pub(crate) fn new() -> Self {
        let root = Node {
            parent: NONE,
            depth: NONE,
            process: Process::ROOT,
            outcome: Outcome::new(),
            label: None,
            state: NodeState::Pending,
            leaf: true,
            children: SmallVec::new(),
            open: 0,
        };
        Tree { nodes: vec![root], free: Vec::new(), has_choices: false, postponed: FxHashMap::default() }
    }

    /// Returns this node.
    pub(crate) fn node(&self, id: u32) -> &Node {
        &self.nodes[id as usize]
    }

    /// Returns the depth at which the children of this node run.
    pub(crate) fn depth_below(&self, id: u32) -> u32 {
        // The root's depth is one less than zero.
        self.node(id).depth.wrapping_add(1)
    }

    /// Returns the siblings to the left of this node.
    pub(crate) fn left_of(&self, id: u32) -> &[u32] {
        let siblings = &self.node(self.node(id).parent).children;
        let place = siblings.iter().position(|&sibling| sibling == id);
        &siblings[..place.expect("a node is among the children of its parent")]
    }

    /// Adds a child to the right of all others.
    pub(crate) fn add(
        &mut self,
        parent: u32,
        step: Planned,
        label: Option<Label>,
        state: NodeState,
        leaf: bool,
    ) -> u32 {
        let node = Node {
            parent,
            depth: self.depth_below(parent),
            process: step.process,
            outcome: step.outcome,
            label,
            state,
            leaf,
            children: SmallVec::new(),
            open: 0,
        };
        let id = match self.free.pop() {
            Some(id) => {
                self.nodes[id as usize] = node;
                id
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
        };
        self.nodes[parent as usize].children.push(id);
        let mut above = parent;
        self.nodes[above as usize].open += 1;
        while self.node(above).state == NodeState::Done {
            self.nodes[above as usize].state = NodeState::Open;
            above = self.node(above).parent;
            self.nodes[above as usize].open += 1;
        }
        id
    }

    /// Notes that this node has run, with its step.
    pub(crate) fn ran(&mut self, id: u32, outcome: Outcome, label: Label, leaf: bool) {
        let node = &mut self.nodes[id as usize];
        (node.outcome, node.label, node.state, node.leaf) = (outcome, Some(label), NodeState::Open, leaf);
    }

    /// Has a sequence wait until this leaf has run.
    pub(crate) fn postpone(&mut self, leaf: u32, sequence: Postponed) {
        let waiting = self.postponed.entry(leaf).or_default();
        if !waiting.contains(&sequence) {
            waiting.push(sequence);
        }
    }

    /// Returns the sequences that have waited for this leaf to run.
    pub(crate) fn take_postponed(&mut self, leaf: u32) -> Vec<Postponed> {
        self.postponed.remove(&leaf).unwrap_or_default()
    }

    /// Takes back a node whose step cannot run, with all pending nodes below it.
    pub(crate) fn remove(&mut self, id: u32) {
        let parent = self.node(id).parent;
        let parent = &mut self.nodes[parent as usize];
        parent.children.retain(|child| *child != id);
        parent.open -= 1;
        self.postponed.remove(&id);
        self.forget_below(id);
        self.free.push(id);
    }

    /// Gives back a node that was taken.
    pub(crate) fn put_back(&mut self, id: u32) {
        self.mark_chain(id, NodeState::Pending);
    }

    /// Gives this state to a branch that has not run: to the node, and to all nodes that a worker
    /// runs with it.
    fn mark_chain(&mut self, id: u32, state: NodeState) {
        let mut next = Some(id);
        while let Some(id) = next {
            let node = &mut self.nodes[id as usize];
            node.state = state;
            next = node.children.first().copied();
        }
    }

    /// Marks this node and its ancestors as done, up to the first ancestor that is not finished.
    /// Returns this ancestor, or the root. `ordered` says that all nodes to the left are done in
    /// any case.
    pub(crate) fn close(&mut self, mut id: u32, ordered: bool) -> u32 {
        while self.node(id).open == 0 {
            self.nodes[id as usize].state = NodeState::Done;
            if ordered || self.is_settled(id) {
                self.forget_below(id);
            }
            if id == Self::ROOT {
                break;
            }
            id = self.node(id).parent;
            self.nodes[id as usize].open -= 1;
        }
        id
    }

    /// Returns `true` if all nodes to the left of this node and of its ancestors are done.
    fn is_settled(&self, mut id: u32) -> bool {
        while id != Self::ROOT {
            if self.left_of(id).iter().any(|&left| self.node(left).state != NodeState::Done) {
                return false;
            }
            id = self.node(id).parent;
        }
        true
    }

    fn forget_below(&mut self, id: u32) {
        let mut left = std::mem::take(&mut self.nodes[id as usize].children);
        while let Some(id) = left.pop() {
            self.postponed.remove(&id);
            left.append(&mut self.nodes[id as usize].children);
            self.free.push(id);
        }
    }

    /// Takes the leftmost pending child of this node, or else of its nearest ancestor that has one.
    pub(crate) fn take_near(&mut self, mut id: u32) -> Option<u32> {
        loop {
            if let Some(child) = self.pending_child(id) {
                return Some(self.take(child));
            }
            if id == Self::ROOT {
                return None;
            }
            id = self.node(id).parent;
        }
    }

    /// Takes the leftmost pending node. No node may be taken, and all nodes to its left are done.
    pub(crate) fn take_leftmost(&mut self) -> Option<u32> {
        let mut id = Self::ROOT;
        while self.node(id).state == NodeState::Open {
            let children = &self.node(id).children;
            id = children.iter().copied().find(|&child| self.node(child).state != NodeState::Done)?;
        }
        (self.node(id).state == NodeState::Pending).then(|| self.take(id))
    }

    /// Takes a pending node that is as near to the root as possible: it has the most nodes below
    /// it.
    pub(crate) fn take_anywhere(&mut self) -> Option<u32> {
        if self.node(Self::ROOT).state == NodeState::Pending {
            return Some(self.take(Self::ROOT));
        }
        let mut level = vec![Self::ROOT];
        while !level.is_empty() {
            if let Some(child) = level.iter().find_map(|&id| self.pending_child(id)) {
                return Some(self.take(child));
            }
            let below = level.iter().flat_map(|&id| self.node(id).children.iter().copied());
            level = below.filter(|&id| self.node(id).state == NodeState::Open).collect();
        }
        None
    }

    fn take(&mut self, id: u32) -> u32 {
        self.mark_chain(id, NodeState::Taken);
        id
    }

    /// Returns the leftmost pending child, if all children to its left have run.
    fn pending_child(&self, id: u32) -> Option<u32> {
        let node = self.node(id);
        if node.open == 0 {
            return None;
        }
        let not_run = |id: &&u32| matches!(self.node(**id).state, NodeState::Pending | NodeState::Taken);
        node.children.iter().find(not_run).copied().filter(|&id| self.node(id).state == NodeState::Pending)
    }

    /// Gives back all taken nodes, so that the tree has all pending work.
    pub(crate) fn untake(&mut self) {
        for node in &mut self.nodes {
            if node.state == NodeState::Taken {
                node.state = NodeState::Pending;
            }
        }
    }

    /// Returns the explored share of the tree, if all branches of a node are of one size.
    pub(crate) fn explored(&self) -> f64 {
        let mut explored = 0.0;
        let mut left = vec![(Self::ROOT, 1.0)];
        while let Some((id, share)) = left.pop() {
            let node = self.node(id);
            match node.state {
                NodeState::Done => explored += share,
                NodeState::Open => {
                    let share = share / node.children.len().max(1) as f64;
                    left.extend(node.children.iter().map(|&child| (child, share)));
                }
                NodeState::Pending | NodeState::Taken => {}
            }
        }
        explored
    }
}
