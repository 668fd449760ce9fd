//! A short tour through many cities, by dividing them and joining the tours of the parts.

#[path = "tsp/tour.rs"]
mod tour;

use crate::{
    forms::{self, Forms, Numbers, checksum},
    job::Job,
    workload::{Case, Unit, Workload, size},
};
use lisle::{channel::Sender, spawn_task, task::inflate};
use std::sync::Arc;
use tour::{Cities, Divided, Part, Tour};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "tsp",
    about: "a tour, divide and conquer; a thread for each half joins the tours that its two halves send",
    follows: "the program of \"Featherweight Threads for Communication\"; R. Karp's \"Probabilistic Analysis of Partitioning \
              Algorithms for the Traveling-Salesman Problem in the Plane\"",
    unit: Unit::lower_is_better("ms"),
    units: &[],
    cases: &[Case::new("-", &[size("cities", 1 << 14, 1 << 10)])],
    programs: &forms::in_four_forms::<Cities>(),
};

fn tour_by_fiber(cities: Arc<Cities>, part: Part, out: Sender<Tour>) {
    lisle::spawn(move || {
        let tour = match cities.divide(part) {
            Divided::Few(tour) => tour,
            Divided::Halves(axis, halves) => {
                let [left, right] = halves.map(|half| {
                    let (tx, rx) = lisle::channel();
                    tour_by_fiber(cities.clone(), half, tx);
                    rx
                });
                cities.join(axis, left.recv().unwrap(), right.recv().unwrap())
            }
        };
        out.send(tour).unwrap();
    });
}

fn tour_by_task(cities: Arc<Cities>, part: Part, out: Sender<Tour>) {
    spawn_task(async move {
        inflate().await;
        let tour = match cities.divide(part) {
            Divided::Few(tour) => tour,
            Divided::Halves(axis, halves) => {
                let [left, right] = halves.map(|half| {
                    let (tx, rx) = lisle::channel();
                    tour_by_task(cities.clone(), half, tx);
                    rx
                });
                let left = left.recv_evt().await.unwrap();
                cities.join(axis, left, right.recv_evt().await.unwrap())
            }
        };
        drop(out.send_async_evt(tour).await);
    });
}

fn result(tour: Tour) -> u64 {
    checksum(tour.into_iter().map(|city| city as u64))
}

impl Forms for Cities {
    fn input(job: &Job) -> Self {
        let mut numbers = Numbers::new(6);
        let mut coordinate = || i64::from(numbers.below(1 << 20));
        Cities((0..job.param("cities")).map(|_| [coordinate(), coordinate()]).collect())
    }

    fn serial(&self) -> u64 {
        result(self.tour(self.all()))
    }

    fn fibers(self: &Arc<Self>) -> u64 {
        let (tx, rx) = lisle::channel();
        tour_by_fiber(self.clone(), self.all(), tx);
        result(rx.recv().unwrap())
    }

    fn tasks(self: &Arc<Self>) -> u64 {
        let (tx, rx) = lisle::channel();
        tour_by_task(self.clone(), self.all(), tx);
        result(rx.recv().unwrap())
    }
}
