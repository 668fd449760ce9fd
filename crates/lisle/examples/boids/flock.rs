//! The rules by which an agent moves: the three rules of C. Reynolds, and a fourth, which keeps the
//! agent away from a threat.
//!
//! [`step`] is a pure function of the agent and of the agents around it. It reads the last frame and
//! writes nothing, so steps may run in any order, on any core, and give the same flock.

use crate::grid::{Grid, HEIGHT, WIDTH};

/// The time between two frames, in seconds.
pub(crate) const STEP: f32 = 1.0 / 60.0;

/// The bounds of an agent's speed, in heights of the plane per second.
const SLOWEST: f32 = 0.06;
const FASTEST: f32 = 0.20;

/// Agents that are nearer than this part of the radius are too near.
const NEAR: f32 = 0.45;

/// The weight of each rule, as an acceleration.
const SEPARATION: f32 = 4.0;
const ALIGNMENT: f32 = 2.4;
const COHESION: f32 = 0.35;
const FLIGHT: f32 = 3.0;

/// The distance from which a threat is seen.
const ALARM: f32 = 0.16;

/// An agent: its place and its velocity.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Boid {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) vx: f32,
    pub(crate) vy: f32,
}

/// The surroundings that all agents of a frame see: the agents as they were in the frame before, and
/// the threat from which they flee.
#[derive(Debug)]
pub(crate) struct Sight {
    pub(crate) grid: Grid,
    pub(crate) threat: Option<(f32, f32)>,
}

/// Returns the agent one frame later.
pub(crate) fn step(sight: &Sight, me: Boid) -> Boid {
    let grid = &sight.grid;
    let radius = grid.radius() * grid.radius();
    let near = radius * NEAR * NEAR;
    let (mut seen, mut away, mut along, mut towards) = (0.0, (0.0, 0.0), (0.0, 0.0), (0.0, 0.0));
    grid.around(me.x, me.y, |other, dx, dy| {
        // Weights instead of branches: half of the agents in the cells are too far away, in an
        // order that no processor can foresee.
        let distance = dx * dx + dy * dy;
        let counts = f32::from(u8::from(distance < radius));
        let push = f32::max(near - distance, 0.0);
        seen += counts;
        along = (along.0 + counts * other.vx, along.1 + counts * other.vy);
        towards = (towards.0 + counts * dx, towards.1 + counts * dy);
        away = (away.0 - push * dx, away.1 - push * dy);
    });
    let scale = near * near.sqrt();
    let away = (away.0 / scale, away.1 / scale);
    // The grid has the agent itself at this place, unless the agent was not in the grid yet.
    let seen = f32::max(seen, 1.0);
    let towards = (towards.0 / (seen * grid.radius()), towards.1 / (seen * grid.radius()));
    let along = (along.0 / seen - me.vx, along.1 / seen - me.vy);
    let flight = sight.threat.map_or((0.0, 0.0), |threat| flight(threat, me));
    let force = |away, along, towards, flight| {
        SEPARATION * away + ALIGNMENT * along + COHESION * towards + FLIGHT * flight
    };
    let vx = me.vx + STEP * force(away.0, along.0, towards.0, flight.0);
    let vy = me.vy + STEP * force(away.1, along.1, towards.1, flight.1);
    let (vx, vy) = within(vx, vy);
    Boid { x: wrapped(me.x + STEP * vx, WIDTH), y: wrapped(me.y + STEP * vy, HEIGHT), vx, vy }
}

/// Returns the direction away from a threat. The nearer the threat is, the longer is the vector.
fn flight((x, y): (f32, f32), me: Boid) -> (f32, f32) {
    let (dx, dy) = (me.x - x, me.y - y);
    let distance = (dx * dx + dy * dy).sqrt();
    if distance >= ALARM || distance == 0.0 {
        return (0.0, 0.0);
    }
    let strength = (ALARM - distance) / (ALARM * distance);
    (dx * strength, dy * strength)
}

/// Returns the velocity, with its speed brought within the bounds.
fn within(vx: f32, vy: f32) -> (f32, f32) {
    let speed = (vx * vx + vy * vy).sqrt();
    if speed == 0.0 {
        return (SLOWEST, 0.0);
    }
    let scale = speed.clamp(SLOWEST, FASTEST) / speed;
    (vx * scale, vy * scale)
}

/// Returns the place on a plane without edges. A step is shorter than the plane.
fn wrapped(at: f32, size: f32) -> f32 {
    // A place a little below zero may be rounded up to `size`, which is the same place as zero.
    let at = if at < 0.0 { at + size } else { at };
    if at >= size { at - size } else { at }
}

/// Returns the velocity's components in parts of the highest speed, from -127 to 127.
pub(crate) fn compact(boid: &Boid) -> [u8; 2] {
    [boid.vx, boid.vy].map(|part| ((part * (127.0 / FASTEST)) as i8) as u8)
}

/// Returns this many agents, at places that look random and are always the same.
pub(crate) fn scattered(agents: usize) -> Vec<Boid> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    // From the generator SplitMix64.
    let mut random = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 40) as f32 / (1u64 << 24) as f32
    };
    (0..agents)
        .map(|_| {
            let (x, y) = (random() * WIDTH, random() * HEIGHT);
            let (sin, cos) = (random() * std::f32::consts::TAU).sin_cos();
            let speed = SLOWEST + random() * (FASTEST - SLOWEST);
            Boid { x, y, vx: cos * speed, vy: sin * speed }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(frames: usize, mut agents: Vec<Boid>, threat: Option<(f32, f32)>) -> Vec<Boid> {
        for _ in 0..frames {
            let sight = Sight { grid: Grid::of(&agents), threat };
            agents = agents.iter().map(|&me| step(&sight, me)).collect();
        }
        agents
    }

    /// Returns 1 if all agents fly in one direction, and nearly 0 if each flies in its own.
    fn order(agents: &[Boid]) -> f32 {
        let unit = |boid: &Boid| {
            let speed = boid.vx.hypot(boid.vy);
            (boid.vx / speed, boid.vy / speed)
        };
        let (x, y) = agents.iter().map(unit).fold((0.0, 0.0), |sum, unit| (sum.0 + unit.0, sum.1 + unit.1));
        f32::hypot(x, y) / agents.len() as f32
    }

    #[test]
    fn agents_stay_on_the_plane_and_within_the_bounds_of_speed() {
        for boid in after(200, scattered(500), Some((0.5, 0.5))) {
            assert!((0.0..WIDTH).contains(&boid.x) && (0.0..HEIGHT).contains(&boid.y), "{boid:?}");
            let speed = boid.vx.hypot(boid.vy);
            assert!((SLOWEST * 0.999..=FASTEST * 1.001).contains(&speed), "{speed}");
        }
    }

    #[test]
    fn agents_that_see_each_other_come_to_fly_one_way() {
        let agents = scattered(60);
        let (before, after) = (order(&agents), order(&after(1_200, agents, None)));
        assert!(after > before + 0.2 && after > 0.5, "{before} became {after}");
    }

    #[test]
    fn agents_leave_a_threat() {
        let at = (0.8, 0.5);
        let close = |agents: &[Boid]| {
            agents.iter().filter(|boid| (boid.x - at.0).hypot(boid.y - at.1) < ALARM / 2.0).count()
        };
        let agents = scattered(2_000);
        let before = close(&agents);
        let after = close(&after(120, agents, Some(at)));
        assert!(after * 4 < before, "{before} agents near the threat became {after}");
    }

    #[test]
    fn a_place_beyond_an_edge_is_at_the_other_side() {
        assert_eq!(wrapped(-1e-9, 1.0), 0.0);
        assert_eq!(wrapped(1.0, 1.0), 0.0);
        assert_eq!(wrapped(-0.25, 1.0), 0.75);
        assert_eq!(wrapped(0.5, 1.0), 0.5);
    }
}
