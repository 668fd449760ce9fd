//! Points, directions and colours.

use std::ops::{Add, Mul, Sub};

#[derive(Clone, Copy)]
pub(super) struct Vector(pub(super) f64, pub(super) f64, pub(super) f64);

impl Vector {
    pub(super) fn dot(self, other: Self) -> f64 {
        self.0 * other.0 + self.1 * other.1 + self.2 * other.2
    }

    pub(super) fn unit(self) -> Self {
        self * (1.0 / self.dot(self).sqrt())
    }
}

impl Add for Vector {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Vector(self.0 + other.0, self.1 + other.1, self.2 + other.2)
    }
}

impl Sub for Vector {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Vector(self.0 - other.0, self.1 - other.1, self.2 - other.2)
    }
}

impl Mul<f64> for Vector {
    type Output = Self;
    fn mul(self, by: f64) -> Self {
        Vector(self.0 * by, self.1 * by, self.2 * by)
    }
}
