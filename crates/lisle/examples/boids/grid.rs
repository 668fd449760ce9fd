//! The agents of one frame, in the cells of a uniform grid, so that an agent finds those around it
//! without asking all.
//!
//! A grid is built once a frame and then only read. The agents lie in the order of their cells, and
//! cells of one row lie one after the other. So an agent that looks around reads three runs of memory.
//! The plane has no edges: an agent that leaves it on one side enters it on the other.

use crate::flock::Boid;
use std::ops::Range;

/// The width of the plane.
pub(crate) const WIDTH: f32 = 1.6;

/// The height of the plane.
pub(crate) const HEIGHT: f32 = 1.0;

/// The mean number of agents that an agent sees, if all are spread evenly.
const SEEN: f32 = 8.0;

/// The agents of a frame, by their places.
#[derive(Debug)]
pub(crate) struct Grid {
    columns: usize,
    rows: usize,
    radius: f32,
    /// The index in `boids` at which each cell begins, and the end of the last cell.
    starts: Vec<u32>,
    boids: Vec<Boid>,
}

impl Grid {
    /// Returns a grid that holds these agents. The more agents there are, the less far they see. So the
    /// step of an agent takes about as long for any number of agents.
    pub(crate) fn of(agents: &[Boid]) -> Grid {
        let radius = (SEEN * WIDTH * HEIGHT / (std::f32::consts::PI * agents.len().max(1) as f32)).sqrt();
        // With three cells in a row, the cells on the two sides of a cell are not the same.
        let radius = radius.min(HEIGHT / 3.0);
        let cells = |size: f32| usize::max((size / radius) as usize, 3);
        let (columns, rows) = (cells(WIDTH), cells(HEIGHT));
        let mut grid = Grid { columns, rows, radius, starts: Vec::new(), boids: Vec::new() };
        grid.fill(agents);
        grid
    }

    /// Sorts the agents by cell: counts the agents of each cell, adds the counts up, and puts each
    /// agent into the next place of its cell.
    fn fill(&mut self, agents: &[Boid]) {
        let cells: Vec<u32> = agents.iter().map(|boid| self.cell(boid.x, boid.y) as u32).collect();
        let mut ends = vec![0; self.columns * self.rows + 1];
        for &cell in &cells {
            ends[cell as usize] += 1;
        }
        let mut sum = 0;
        for end in &mut ends {
            sum += *end;
            *end = sum;
        }
        // Each cell is filled from its end, so afterwards its end has become its start. The loop goes
        // from the last agent to the first, so the agents of a cell keep their order.
        let mut boids = vec![Boid::default(); agents.len()];
        for (boid, &cell) in agents.iter().zip(&cells).rev() {
            let place = &mut ends[cell as usize];
            *place -= 1;
            boids[*place as usize] = *boid;
        }
        self.starts = ends;
        self.boids = boids;
    }

    /// Returns the distance at which an agent sees.
    pub(crate) fn radius(&self) -> f32 {
        self.radius
    }

    /// Returns the agents, in the order of their cells.
    pub(crate) fn boids(&self) -> &[Boid] {
        &self.boids
    }

    fn column(&self, x: f32) -> usize {
        ((x * (self.columns as f32 / WIDTH)) as usize).min(self.columns - 1)
    }

    fn row(&self, y: f32) -> usize {
        ((y * (self.rows as f32 / HEIGHT)) as usize).min(self.rows - 1)
    }

    fn cell(&self, x: f32, y: f32) -> usize {
        self.row(y) * self.columns + self.column(x)
    }

    /// Calls `see` with each agent that is nearer to a point than the radius, and with the way from the
    /// point to the agent. Also calls it with some agents that are a little farther. An agent at the
    /// point itself is among them.
    pub(crate) fn around(&self, x: f32, y: f32, mut see: impl FnMut(&Boid, f32, f32)) {
        let (column, row) = (self.column(x), self.row(y));
        for (row, beyond_y) in beside(row, self.rows, HEIGHT) {
            for (columns, beyond_x) in self.runs(column) {
                let first = row * self.columns;
                let run = self.starts[first + columns.start]..self.starts[first + columns.end];
                for boid in &self.boids[run.start as usize..run.end as usize] {
                    let (dx, dy) = (boid.x + beyond_x - x, boid.y + beyond_y - y);
                    see(boid, dx, dy);
                }
            }
        }
    }

    /// Returns a column and its two neighbours, as runs. Each run comes with the offset at which it is
    /// seen from the column. Only at the sides of the plane is there more than one run.
    fn runs(&self, column: usize) -> impl Iterator<Item = (Range<usize>, f32)> {
        let last = self.columns - 1;
        let (run, beyond) = match column {
            0 => (0..2, Some((last..last + 1, -WIDTH))),
            _ if column == last => (last - 1..last + 1, Some((0..1, WIDTH))),
            _ => (column - 1..column + 2, None),
        };
        std::iter::once((run, 0.0)).chain(beyond)
    }
}

/// Returns an index and the indices before and after it, where the first follows the last. Each comes
/// with the offset at which its place is seen from the index.
fn beside(index: usize, count: usize, size: f32) -> [(usize, f32); 3] {
    let before = if index == 0 { (count - 1, -size) } else { (index - 1, 0.0) };
    let after = if index == count - 1 { (0, size) } else { (index + 1, 0.0) };
    [before, (index, 0.0), after]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flock::scattered;

    /// Returns the way from `from` to `to` over the nearer side.
    fn way(from: f32, to: f32, size: f32) -> f32 {
        [to - from - size, to - from, to - from + size]
            .into_iter()
            .min_by(|a, b| a.abs().total_cmp(&b.abs()))
            .unwrap()
    }

    #[test]
    fn an_agent_sees_those_that_a_search_of_all_finds() {
        for agents in [1, 2, 10, 300, 2_000] {
            let agents = scattered(agents);
            let grid = Grid::of(&agents);
            let corners = [(0.0, 0.0), (WIDTH * 0.999, 0.5), (0.3, HEIGHT * 0.999), (0.0, 0.5)];
            for (x, y) in agents.iter().take(100).map(|boid| (boid.x, boid.y)).chain(corners) {
                let mut seen = Vec::new();
                grid.around(x, y, |boid, dx, dy| {
                    if dx * dx + dy * dy >= grid.radius() * grid.radius() {
                        return;
                    }
                    assert!((dx - way(x, boid.x, WIDTH)).abs() < 1e-5, "the way is the shorter one");
                    assert!((dy - way(y, boid.y, HEIGHT)).abs() < 1e-5, "the way is the shorter one");
                    seen.push((boid.x.to_bits(), boid.y.to_bits()));
                });
                let mut near: Vec<_> = agents
                    .iter()
                    .filter(|boid| {
                        let (dx, dy) = (way(x, boid.x, WIDTH), way(y, boid.y, HEIGHT));
                        dx * dx + dy * dy < grid.radius() * grid.radius()
                    })
                    .map(|boid| (boid.x.to_bits(), boid.y.to_bits()))
                    .collect();
                seen.sort_unstable();
                near.sort_unstable();
                assert_eq!(seen, near);
            }
        }
    }

    #[test]
    fn a_grid_holds_each_agent_once() {
        let agents = scattered(1_000);
        let bits = |boids: &[Boid]| {
            let mut bits: Vec<_> = boids.iter().map(|boid| (boid.x.to_bits(), boid.y.to_bits())).collect();
            bits.sort_unstable();
            bits
        };
        assert_eq!(bits(Grid::of(&agents).boids()), bits(&agents));
        assert!(Grid::of(&[]).boids().is_empty());
    }
}
