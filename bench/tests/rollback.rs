//! Rollback networking: a world passes the test session of `ggrs`. This session goes back and
//! forward again in each frame, and compares the states.

use ggrs::{Config, GgrsRequest, InputStatus, PredictRepeatLast, SessionBuilder, SyncTestSession};
use lisle_frame::{Foreign, Input, Snapshot, Stream, Workers, World};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::hash::Hash;

/// How many frames the session goes back.
const BACK: usize = 8;

/// The input of a player in a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Push(i8);

struct Game;

impl Config for Game {
    type Input = Push;
    type InputPredictor = PredictRepeatLast;
    /// The number of the frame whose snapshot is meant.
    type State = i32;
    type Address = String;
}

/// Two players push a ball; its flight is a foreign call.
struct Ball {
    world: World,
    pushes: [Input<i8>; 2],
    place: Stream<f64>,
    snapshots: HashMap<i32, Snapshot>,
}

impl Ball {
    fn new(mut world: World) -> Ball {
        let pushes = [world.input(0), world.input(0)];
        let both = world.zip(pushes[0].stream(), pushes[1].stream());
        let speed = world.fold(both, 0.0, |speed: &mut f64, (left, right)| {
            *speed += f64::from(left) - f64::from(right);
        });
        let fly = Foreign::new("fly", |(speed, last): (f64, f64)| last * 0.99 + speed.sin());
        let last = world.delay(0.0);
        let before = last.stream();
        let place = world.stream(async move || fly.call((speed.await, before.await)).await);
        last.follow(place);
        world.watch_by(place, |place, hasher| place.to_bits().hash(hasher)).unwrap();
        Ball { world, pushes, place, snapshots: HashMap::new() }
    }

    /// Fulfils the requests of the session.
    fn answer(&mut self, request: GgrsRequest<Game>) {
        match request {
            GgrsRequest::SaveGameState { cell, frame } => {
                self.snapshots.insert(frame, self.world.snapshot().unwrap());
                cell.save(frame, Some(frame), Some(self.world.fingerprint().into()));
            }
            GgrsRequest::LoadGameState { frame, .. } => self.world.restore(&self.snapshots[&frame]).unwrap(),
            GgrsRequest::AdvanceFrame { inputs } => self.advance(&inputs),
        }
    }

    fn advance(&mut self, inputs: &[(Push, InputStatus)]) {
        for (push, (input, _)) in self.pushes.into_iter().zip(inputs) {
            self.world.set(push, input.0).unwrap();
        }
        self.world.frame();
    }
}

/// Plays 200 frames. Returns where the ball is then.
fn play(world: World, back: usize) -> f64 {
    let builder = SessionBuilder::<Game>::new().with_num_players(2).unwrap();
    let mut session: SyncTestSession<Game> = builder
        .with_max_prediction_window(BACK + 1)
        .with_check_distance(back)
        .start_synctest_session()
        .unwrap();
    let mut ball = Ball::new(world);
    for frame in 0..200 {
        session.add_local_input(0, Push((frame % 7) as i8)).unwrap();
        session.add_local_input(1, Push((frame % 5) as i8)).unwrap();
        // It is an error here if a frame has another state than the first time.
        for request in session.advance_frame().unwrap() {
            ball.answer(request);
        }
    }
    ball.world.get(ball.place).unwrap()
}

#[test]
fn a_session_that_goes_back_eight_frames_accepts_a_world() {
    let workers = Workers::new(2).unwrap();
    let places = [
        play(World::new(), 0),
        play(World::new(), BACK),
        play(World::builder().pool(&workers).build(), BACK),
    ];
    assert_ne!(places[0], 0.0);
    assert!(places.iter().all(|place| place.to_bits() == places[0].to_bits()), "{places:?}");
}
