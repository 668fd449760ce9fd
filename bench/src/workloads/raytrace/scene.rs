//! Balls over a chequered floor, and one lamp. The Go program does each operation in the same
//! order, so that its picture is the same to the bit.

use super::vector::Vector;

/// How often light is followed back over mirrors.
const BOUNCES: usize = 4;
/// How far from a surface its own light begins, so that it does not shade itself.
const SKIN: f64 = 1e-6;
/// Where the floor ends.
const HORIZON: f64 = 1e4;
const LAMP: Vector = Vector(-5.0, 9.0, -6.0);

pub(super) struct Scene {
    balls: Vec<Ball>,
}

struct Ball {
    centre: Vector,
    radius: f64,
    surface: Surface,
}

#[derive(Clone, Copy)]
struct Surface {
    colour: Vector,
    /// The share of the light that is reflected.
    mirror: f64,
}

/// Where a ray ends.
struct Hit {
    point: Vector,
    normal: Vector,
    surface: Surface,
}

impl Ball {
    /// How far along the ray it is hit.
    fn distance(&self, from: Vector, along: Vector) -> Option<f64> {
        let offset = from - self.centre;
        let b = offset.dot(along);
        let inside = b * b - (offset.dot(offset) - self.radius * self.radius);
        if inside < 0.0 {
            return None;
        }
        let root = inside.sqrt();
        [-b - root, -b + root].into_iter().find(|&distance| distance > SKIN)
    }
}

impl Scene {
    pub(super) fn new() -> Self {
        let balls = (0..20).map(|nth| {
            let (i, k) = (nth % 5, nth / 5);
            let radius = 0.4 + 0.1 * f64::from((i + k) % 3);
            let height = radius + 0.5 * f64::from(i * k % 3);
            let centre = Vector(1.5 * f64::from(i - 2), height, 1.5 * f64::from(k) - 2.0);
            let colour = Vector(
                0.2 + 0.2 * f64::from(i),
                0.2 + 0.2 * f64::from(k),
                1.0 - 0.2 * f64::from((i + k) % 5),
            );
            Ball { centre, radius, surface: Surface { colour, mirror: 0.25 * f64::from((i + 2 * k) % 3) } }
        });
        Scene { balls: balls.collect() }
    }

    /// The light that comes to a point from a direction.
    pub(super) fn colour(&self, mut from: Vector, mut along: Vector) -> Vector {
        let mut colour = Vector(0.0, 0.0, 0.0);
        let mut share = 1.0;
        for _ in 0..BOUNCES {
            let Some(hit) = self.hit(from, along) else {
                return colour + sky(along) * share;
            };
            let light = 0.1 + 0.9 * self.lamp_light(&hit);
            colour = colour + hit.surface.colour * (share * (1.0 - hit.surface.mirror) * light);
            share *= hit.surface.mirror;
            if share < 0.01 {
                break;
            }
            from = hit.point;
            along = along - hit.normal * (2.0 * along.dot(hit.normal));
        }
        colour
    }

    fn hit(&self, from: Vector, along: Vector) -> Option<Hit> {
        let mut nearest = HORIZON;
        let mut found = None;
        for ball in &self.balls {
            if let Some(distance) = ball.distance(from, along)
                && distance < nearest
            {
                nearest = distance;
                found = Some(ball);
            }
        }
        let floor = -from.1 / along.1;
        if floor > SKIN && floor < nearest {
            return Some(on_floor(from + along * floor));
        }
        let ball = found?;
        let point = from + along * nearest;
        let normal = (point - ball.centre) * (1.0 / ball.radius);
        Some(Hit { point, normal, surface: ball.surface })
    }

    /// How much of the lamp's light a point gets: none in the shadow.
    fn lamp_light(&self, hit: &Hit) -> f64 {
        let towards = LAMP - hit.point;
        let along = towards.unit();
        let straight = along.dot(hit.normal);
        let far = towards.dot(along);
        let shades = |ball: &Ball| ball.distance(hit.point, along).is_some_and(|distance| distance < far);
        if straight <= 0.0 || self.balls.iter().any(shades) { 0.0 } else { straight }
    }
}

fn on_floor(point: Vector) -> Hit {
    // The numbers are positive: only the nearest part of the floor is seen.
    let tile = |place: f64| (place + 1024.0) as i64;
    let light = if (tile(point.0) + tile(point.2)) % 2 == 0 { 0.9 } else { 0.3 };
    let surface = Surface { colour: Vector(light, light, light), mirror: 0.25 };
    Hit { point, normal: Vector(0.0, 1.0, 0.0), surface }
}

fn sky(along: Vector) -> Vector {
    let height = 0.5 * (along.1 + 1.0);
    Vector(1.0, 1.0, 1.0) * (1.0 - height) + Vector(0.4, 0.6, 1.0) * height
}
