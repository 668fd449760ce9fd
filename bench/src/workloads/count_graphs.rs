//! The symmetries of each graph of a set: how many ways there are to permute its vertices that keep
//! all its edges.

use crate::{
    forms::{self, Forms, Numbers, checksum},
    job::Job,
    parts::{by_fibers, by_tasks, in_order},
    workload::{Case, Unit, Workload, param, size},
};
use lisle::spawn_task;
use std::sync::Arc;

pub(crate) static WORKLOAD: Workload = Workload {
    name: "count-graphs",
    about: "automorphisms of graphs; a thread for each graph, which starts one for each image of its first vertex",
    follows: forms::FOLLOWS,
    unit: Unit::lower_is_better("ms"),
    units: &[],
    cases: &[Case::new("-", &[param("vertices", 14), size("graphs", 32, 2)])],
    programs: &forms::in_four_forms::<CountGraphs>(),
};

struct CountGraphs {
    graphs: Vec<Graph>,
}

/// For each vertex the set of its neighbours, a bit each.
struct Graph(Vec<u32>);

/// Vertices of one kind have the same neighbours, so that there are symmetries to be found.
const KINDS: usize = 5;

impl Graph {
    fn new(vertices: usize, numbers: &mut Numbers) -> Self {
        let mut joined = [[false; KINDS]; KINDS];
        for (a, b) in (0..KINDS).flat_map(|a| (0..=a).map(move |b| (a, b))) {
            joined[a][b] = numbers.below(2) == 1;
            joined[b][a] = joined[a][b];
        }
        let neighbours = |a: usize| {
            let of_a = (0..vertices).filter(|&b| a != b && joined[a % KINDS][b % KINDS]);
            of_a.fold(0, |set, b| set | 1 << b)
        };
        Graph((0..vertices).map(neighbours).collect())
    }

    fn vertices(&self) -> usize {
        self.0.len()
    }

    /// How many symmetries bring the first vertex to `image`.
    fn symmetries(&self, image: usize) -> u64 {
        let mut images = [0; 32];
        images[0] = image;
        let all = u32::MAX >> (32 - self.vertices());
        self.extensions(&mut images, 1, all & !(1 << image))
    }

    /// In how many ways the images of the first `mapped` vertices can be extended by vertices that
    /// are `free`.
    fn extensions(&self, images: &mut [usize; 32], mapped: usize, free: u32) -> u64 {
        if mapped == self.vertices() {
            return 1;
        }
        let neighbours = self.0[mapped];
        let mut candidates = free;
        for (vertex, &image) in images[..mapped].iter().enumerate() {
            let is_joined = neighbours >> vertex & 1 == 1;
            candidates &= if is_joined { self.0[image] } else { !self.0[image] };
        }
        let mut sum = 0;
        while candidates != 0 {
            let image = candidates.trailing_zeros() as usize;
            candidates &= candidates - 1;
            images[mapped] = image;
            sum += self.extensions(images, mapped + 1, free & !(1 << image));
        }
        sum
    }
}

impl CountGraphs {
    /// The symmetries of all graphs, of counts that come in any order.
    fn result(&self, counts: impl IntoIterator<Item = (usize, u64)>) -> u64 {
        checksum(in_order(self.graphs.len(), counts))
    }
}

impl Forms for CountGraphs {
    fn input(job: &Job) -> Self {
        let mut numbers = Numbers::new(4);
        let graphs =
            (0..job.param("graphs")).map(|_| Graph::new(job.param("vertices") as usize, &mut numbers));
        CountGraphs { graphs: graphs.collect() }
    }

    fn serial(&self) -> u64 {
        let count = |graph: &Graph| (0..graph.vertices()).map(|image| graph.symmetries(image)).sum();
        self.result(self.graphs.iter().map(count).enumerate())
    }

    fn fibers(self: &Arc<Self>) -> u64 {
        let this = self.clone();
        self.result(by_fibers(self.graphs.len(), move |graph| {
            let this = this.clone();
            let vertices = this.graphs[graph].vertices();
            let parts = by_fibers(vertices, move |image| this.graphs[graph].symmetries(image));
            (graph, parts.iter().sum())
        }))
    }

    fn tasks(self: &Arc<Self>) -> u64 {
        let (tx, rx) = lisle::channel();
        for graph in 0..self.graphs.len() {
            let (this, tx) = (self.clone(), tx.clone());
            spawn_task(async move {
                let vertices = this.graphs[graph].vertices();
                let parts = by_tasks(vertices, move |image| this.graphs[graph].symmetries(image));
                let mut sum = 0;
                while let Ok(part) = parts.recv_evt().await {
                    sum += part;
                }
                drop(tx.send_async_evt((graph, sum)).await);
            });
        }
        drop(tx);
        self.result(rx.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symmetries(neighbours: &[u32]) -> u64 {
        let graph = Graph(neighbours.to_vec());
        (0..graph.vertices()).map(|image| graph.symmetries(image)).sum()
    }

    #[test]
    fn symmetries_of_known_graphs() {
        let [cycle, complete, path] = [
            [0b10010, 0b00101, 0b01010, 0b10100, 0b01001],
            [0b11110, 0b11101, 0b11011, 0b10111, 0b01111],
            [0b00010, 0b00101, 0b01010, 0b10100, 0b01000],
        ];
        assert_eq!([symmetries(&cycle), symmetries(&complete), symmetries(&path)], [10, 120, 2]);
    }
}
