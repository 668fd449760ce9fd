//! The bodies of one moment, in cubes that are divided in eight until there are few in each.

use std::array;

pub(super) type Vector = [f64; 3];

/// This many bodies are not divided any further.
const FEW: usize = 8;
/// Bodies are pulled by a cube as a whole if the square of its side is less than this part of their
/// squared distance.
const FAR: f64 = 0.25;
/// Added to squared distances: close bodies do not throw each other out.
const SOFTENING: f64 = 1e-4;
const STEP: f64 = 1e-4;

#[derive(Clone)]
pub(super) struct Body {
    pub(super) position: Vector,
    pub(super) velocity: Vector,
}

impl Body {
    /// Moves it by one step.
    pub(super) fn accelerate(&mut self, pull: Vector) {
        for ((position, velocity), pull) in self.position.iter_mut().zip(&mut self.velocity).zip(pull) {
            *velocity += pull * STEP;
            *position += *velocity * STEP;
        }
    }
}

pub(super) struct Sky {
    bodies: Vec<Body>,
    root: Cube,
}

struct Cube {
    side: f64,
    /// Each body has a mass of one.
    mass: f64,
    center_of_mass: Vector,
    parts: Parts,
}

enum Parts {
    Bodies(Vec<usize>),
    Cubes(Vec<Cube>),
}

impl Sky {
    pub(super) fn new(bodies: Vec<Body>) -> Self {
        let side =
            bodies.iter().flat_map(|body| body.position).fold(1.0, |most, at| f64::max(most, 2.0 * at.abs()));
        let root = Cube::new(&bodies, (0..bodies.len()).collect(), [0.0; 3], 2.0 * side);
        Sky { bodies, root }
    }

    pub(super) fn bodies(&self) -> usize {
        self.bodies.len()
    }

    /// How all others pull this body.
    pub(super) fn pull(&self, body: usize) -> Vector {
        let mut sum = [0.0; 3];
        self.add(&self.root, body, &mut sum);
        sum
    }

    fn add(&self, cube: &Cube, body: usize, sum: &mut Vector) {
        let position = &self.bodies[body].position;
        let (towards, square) = distance(position, &cube.center_of_mass);
        if cube.side * cube.side < FAR * square {
            return attract(sum, cube.mass, towards, square);
        }
        match &cube.parts {
            Parts::Cubes(cubes) => cubes.iter().for_each(|part| self.add(part, body, sum)),
            Parts::Bodies(bodies) => {
                for &other in bodies.iter().filter(|&&other| other != body) {
                    let (towards, square) = distance(position, &self.bodies[other].position);
                    attract(sum, 1.0, towards, square);
                }
            }
        }
    }
}

impl Cube {
    fn new(bodies: &[Body], members: Vec<usize>, center: Vector, side: f64) -> Self {
        let mass = members.len() as f64;
        let mut sum = [0.0; 3];
        for &member in &members {
            sum.iter_mut().zip(bodies[member].position).for_each(|(sum, at)| *sum += at);
        }
        let center_of_mass = sum.map(|sum| sum / mass);
        if members.len() <= FEW {
            return Cube { side, mass, center_of_mass, parts: Parts::Bodies(members) };
        }
        let mut eighths: [Vec<usize>; 8] = Default::default();
        for member in members {
            let position = &bodies[member].position;
            let above = |axis: usize| usize::from(position[axis] > center[axis]) << axis;
            eighths[above(0) | above(1) | above(2)].push(member);
        }
        let quarter = side / 4.0;
        let cube = |(eighth, members)| {
            let middle =
                |axis: usize| center[axis] + if eighth >> axis & 1 == 1 { quarter } else { -quarter };
            Cube::new(bodies, members, array::from_fn(middle), side / 2.0)
        };
        let inhabited = eighths.into_iter().enumerate().filter(|(_, members)| !members.is_empty());
        Cube { side, mass, center_of_mass, parts: Parts::Cubes(inhabited.map(cube).collect()) }
    }
}

/// The way from one to the other, and the square of its length.
fn distance(from: &Vector, to: &Vector) -> (Vector, f64) {
    let [x, y, z] = array::from_fn(|axis| to[axis] - from[axis]);
    ([x, y, z], x * x + y * y + z * z + SOFTENING)
}

fn attract(sum: &mut Vector, mass: f64, towards: Vector, square: f64) {
    let strength = mass / (square * square.sqrt());
    sum.iter_mut().zip(towards).for_each(|(sum, towards)| *sum += towards * strength);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forms::Numbers;

    #[test]
    fn the_pull_is_nearly_that_of_each_body_by_itself() {
        let mut numbers = Numbers::new(8);
        let mut place = || [(); 3].map(|()| f64::from(numbers.next()) / 4e9);
        let sky = Sky::new((0..500).map(|_| Body { position: place(), velocity: [0.0; 3] }).collect());
        for body in 0..sky.bodies() {
            let mut exact = [0.0; 3];
            for other in (0..sky.bodies()).filter(|&other| other != body) {
                let (towards, square) = distance(&sky.bodies[body].position, &sky.bodies[other].position);
                attract(&mut exact, 1.0, towards, square);
            }
            let length = |v: Vector| v.iter().map(|x| x * x).sum::<f64>().sqrt();
            let pull = sky.pull(body);
            let error = array::from_fn(|axis| pull[axis] - exact[axis]);
            assert!(length(error) < 0.05 * length(exact), "{pull:?} instead of {exact:?}");
        }
    }
}
