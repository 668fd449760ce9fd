//! The product of two matrices, a thread for each row, which sends its elements one by one.

use crate::{
    forms::{self, Forms, checksum},
    job::Job,
    parts::in_order,
    workload::{Case, Unit, Workload, size},
};
use lisle::{spawn_task, task::inflate};
use std::{array, sync::Arc};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "mat-mult",
    about: "the product of two matrices; a thread for each row, which sends each element to the one that collects them",
    follows: "Mat-mult of the evaluation of parasitic threads: 500 x 500, some 250,000 messages",
    unit: Unit::lower_is_better("ms"),
    units: &[],
    cases: &[Case::new("-", &[size("side", 500, 100)])],
    programs: &forms::in_four_forms::<MatMult>(),
};

/// How many sums of products run beside each other, so that an addition need not wait for the one
/// before.
const LANES: usize = 8;

struct MatMult {
    side: usize,
    /// The first matrix, row after row.
    rows: Vec<f64>,
    /// The second, column after column, as the product wants it.
    columns: Vec<f64>,
}

/// The place in the product, row after row, and the value.
type Element = (usize, f64);

impl MatMult {
    fn element(&self, row: usize, column: usize) -> Element {
        let part = |of: usize| of * self.side..(of + 1) * self.side;
        (row * self.side + column, dot(&self.rows[part(row)], &self.columns[part(column)]))
    }

    /// The product, of elements that come in any order.
    fn product(&self, elements: impl Iterator<Item = Element>) -> u64 {
        let product = in_order(self.side * self.side, elements);
        checksum(product.into_iter().map(|value| value as u64))
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a_parts, a_rest) = a.as_chunks::<LANES>();
    let (b_parts, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (a, b) in a_parts.iter().zip(b_parts) {
        sums = array::from_fn(|lane| sums[lane] + a[lane] * b[lane]);
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}

impl Forms for MatMult {
    /// Of small whole numbers, whose sums are exact in any order.
    fn input(job: &Job) -> Self {
        let side = job.param("side") as usize;
        let matrix = |element: fn(usize, usize) -> usize| {
            (0..side * side).map(|place| element(place / side, place % side) as f64).collect()
        };
        MatMult {
            side,
            rows: matrix(|row, column| (3 * row + 5 * column) % 17),
            columns: matrix(|column, row| (7 * row + 2 * column) % 13),
        }
    }

    fn serial(&self) -> u64 {
        let places = 0..self.side * self.side;
        self.product(places.map(|place| self.element(place / self.side, place % self.side)))
    }

    fn fibers(self: &Arc<Self>) -> u64 {
        let (tx, rx) = lisle::channel();
        for row in 0..self.side {
            let (this, tx) = (self.clone(), tx.clone());
            lisle::spawn(move || {
                (0..this.side).for_each(|column| tx.send(this.element(row, column)).unwrap());
            });
        }
        drop(tx);
        self.product(rx.iter())
    }

    fn tasks(self: &Arc<Self>) -> u64 {
        let (tx, rx) = lisle::channel();
        for row in 0..self.side {
            let (this, tx) = (self.clone(), tx.clone());
            spawn_task(async move {
                inflate().await;
                for column in 0..this.side {
                    // Not asynchronous: rows run ahead of the one that collects. On one worker that
                    // takes a sixth less, on two, where both sides write to the same words for each
                    // element, a quarter more.
                    tx.send_evt(this.element(row, column)).await.unwrap();
                }
            });
        }
        drop(tx);
        self.product(rx.iter())
    }
}
