//! Clusters by the k-means algorithm, of stages that are servers.

use crate::{
    forms::{self, Forms, Numbers, checksum},
    job::Job,
    workload::{Case, Unit, Workload, param, size},
};
use lisle::{spawn_task, task::inflate};
use std::{ops::Range, sync::Arc};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "k-clustering",
    about: "k-means; servers send for each of their points the nearest center to the one that makes the next centers",
    follows: forms::FOLLOWS,
    unit: Unit::lower_is_better("ms"),
    units: &[],
    cases: &[Case::new("-", &[param("clusters", 64), param("servers", 16), size("rounds", 50, 5)])],
    programs: &forms::in_four_forms::<KClustering>(),
};

const POINTS: usize = 1024;
const DIMENSIONS: usize = 16;
/// Coordinates are below this, so that a squared distance is no more than an `i32`.
const EXTENT: u32 = 1 << 12;

/// With whole numbers the order in which they are added up makes no difference.
type Point = [i32; DIMENSIONS];
type Centers = Arc<[Point]>;

struct KClustering {
    points: Vec<Point>,
    clusters: usize,
    servers: usize,
    rounds: usize,
}

impl KClustering {
    /// The points of each server.
    fn shares(&self) -> impl Iterator<Item = Range<usize>> {
        let share = self.points.len() / self.servers;
        (0..self.servers).map(move |server| server * share..(server + 1) * share)
    }

    fn first_centers(&self) -> Centers {
        self.points[..self.clusters].into()
    }

    /// Which of the centers is nearest to the point of that number.
    fn nearest(&self, centers: &[Point], point: usize) -> usize {
        let point = &self.points[point];
        let distance =
            |center: &Point| -> i32 { center.iter().zip(point).map(|(a, b)| (a - b) * (a - b)).sum() };
        let (mut nearest, mut least) = (0, i32::MAX);
        for (cluster, center) in centers.iter().enumerate() {
            let distance = distance(center);
            if distance < least {
                (nearest, least) = (cluster, distance);
            }
        }
        nearest
    }

    /// The mean of the points of each cluster. One without points stays where it is.
    fn next_centers(&self, centers: &[Point], assigned: impl Iterator<Item = (usize, usize)>) -> Centers {
        let mut sums = vec![([0; DIMENSIONS], 0); centers.len()];
        for (point, cluster) in assigned {
            let (sum, count) = &mut sums[cluster];
            sum.iter_mut().zip(&self.points[point]).for_each(|(sum, coordinate)| *sum += coordinate);
            *count += 1;
        }
        let mean = |(&center, (sum, count)): (&Point, ([i32; DIMENSIONS], i32))| {
            if count == 0 { center } else { sum.map(|sum| sum / count) }
        };
        centers.iter().zip(sums).map(mean).collect()
    }
}

fn result(centers: &[Point]) -> u64 {
    checksum(centers.iter().flatten().map(|&coordinate| coordinate as u64))
}

impl Forms for KClustering {
    fn input(job: &Job) -> Self {
        let mut numbers = Numbers::new(2);
        let mut point = || [(); DIMENSIONS].map(|()| numbers.below(EXTENT) as i32);
        KClustering {
            points: (0..POINTS).map(|_| point()).collect(),
            clusters: job.param("clusters") as usize,
            servers: job.param("servers") as usize,
            rounds: job.param("rounds") as usize,
        }
    }

    fn serial(&self) -> u64 {
        let mut centers = self.first_centers();
        for _ in 0..self.rounds {
            let assigned = (0..self.points.len()).map(|point| (point, self.nearest(&centers, point)));
            centers = self.next_centers(&centers, assigned);
        }
        result(&centers)
    }

    fn fibers(self: &Arc<Self>) -> u64 {
        let (assign, assigned) = lisle::channel();
        let serve = |points: Range<usize>| {
            let (this, assign) = (self.clone(), assign.clone());
            let (tx, rx) = lisle::channel::<Centers>();
            lisle::spawn(move || {
                for centers in &rx {
                    for point in points.clone() {
                        assign.send((point, this.nearest(&centers, point))).unwrap();
                    }
                }
            });
            tx
        };
        let servers: Vec<_> = self.shares().map(serve).collect();
        let mut centers = self.first_centers();
        for _ in 0..self.rounds {
            servers.iter().for_each(|server| server.send(centers.clone()).unwrap());
            centers = self.next_centers(&centers, assigned.iter().take(self.points.len()));
        }
        result(&centers)
    }

    fn tasks(self: &Arc<Self>) -> u64 {
        let (assign, assigned) = lisle::channel();
        let serve = |points: Range<usize>| {
            let (this, assign) = (self.clone(), assign.clone());
            let (tx, rx) = lisle::channel::<Centers>();
            spawn_task(async move {
                inflate().await;
                while let Ok(centers) = rx.recv_evt().await {
                    for point in points.clone() {
                        let nearest = this.nearest(&centers, point);
                        // Not asynchronous: a server that runs ahead of the one that receives only
                        // fills the cache with messages, and has nothing better to do. That takes a
                        // quarter longer.
                        assign.send_evt((point, nearest)).await.unwrap();
                    }
                }
            });
            tx
        };
        let servers: Vec<_> = self.shares().map(serve).collect();
        let mut centers = self.first_centers();
        for _ in 0..self.rounds {
            for server in &servers {
                drop(server.send_async(centers.clone()));
            }
            centers = self.next_centers(&centers, assigned.iter().take(self.points.len()));
        }
        result(&centers)
    }
}
