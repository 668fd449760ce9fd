//! The product of two matrices of 2 × 2 blocks. The values that each product and sum uses determine
//! which of them may be computed at the same time.

use lisle_par::dag; // `lisle::par::dag` in a program that depends on `lisle`
use std::ops::{Add, Mul};

/// A square block.
#[derive(Clone, PartialEq, Debug)]
struct Block(Vec<Vec<f64>>);

impl Mul for &Block {
    type Output = Block;

    fn mul(self, other: &Block) -> Block {
        let size = self.0.len();
        let cell = |row: &[f64], column: usize| (0..size).map(|i| row[i] * other.0[i][column]).sum();
        Block(self.0.iter().map(|row| (0..size).map(|column| cell(row, column)).collect()).collect())
    }
}

impl Add for &Block {
    type Output = Block;

    fn add(self, other: &Block) -> Block {
        let rows = self.0.iter().zip(&other.0);
        Block(rows.map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + b).collect()).collect())
    }
}

/// The four blocks of a matrix.
type Matrix = [[Block; 2]; 2];

fn multiply([[a11, a12], [a21, a22]]: &Matrix, [[b11, b12], [b21, b22]]: &Matrix) -> Matrix {
    let (t11, t12, t21, t22) = dag! {
        let c11 = a11 * b11;
        let d11 = a12 * b21;
        let c12 = a11 * b12;
        let d12 = a12 * b22;
        let c21 = a21 * b11;
        let d21 = a22 * b21;
        let c22 = a21 * b12;
        let d22 = a22 * b22;
        let t11 = |c11, d11| c11 + d11;
        let t12 = |c12, d12| c12 + d12;
        let t21 = |c21, d21| c21 + d21;
        let t22 = |c22, d22| c22 + d22;
        (t11, t12, t21, t22)
    };
    [[t11, t12], [t21, t22]]
}

fn main() {
    const SIZE: usize = 32;
    // Multiples of the unit matrix, so the result is known.
    let block = |factor: f64| {
        let row = |i| (0..SIZE).map(|j| if i == j { factor } else { 0.0 }).collect();
        Block((0..SIZE).map(row).collect())
    };
    let a = [[block(1.0), block(2.0)], [block(3.0), block(4.0)]];
    let b = [[block(5.0), block(6.0)], [block(7.0), block(8.0)]];
    let product = multiply(&a, &b); // helped by the domains of the default runtime
    assert_eq!(product, [[block(19.0), block(22.0)], [block(43.0), block(50.0)]]);
    println!("the product of two matrices of 2 × 2 blocks, each {SIZE} × {SIZE}, is right");
}
