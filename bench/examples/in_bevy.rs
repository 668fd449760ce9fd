//! A world of streams in Bevy's loop. Bevy has the entities and the loop; a stream for each wolf has its story,
//! and the calls of streams run on Bevy's threads.
//!
//! Run it with `cargo run --manifest-path bench/Cargo.toml --example in_bevy`.

use bevy_app::{App, AppExit, ScheduleRunnerPlugin, Startup, TaskPoolPlugin, Update};
use bevy_ecs::prelude::*;
use bevy_tasks::ComputeTaskPool;
use lisle_frame::{Foreign, Input, Pool, Stream, Work, World, frames};
use std::time::Duration;

/// Bevy's threads, as a pool of the world.
struct BevyTasks;

impl Pool for BevyTasks {
    fn workers(&self) -> usize {
        ComputeTaskPool::get().thread_num()
    }
    fn submit(&self, work: Work) {
        // Once: Bevy's own tasks come next.
        ComputeTaskPool::get().spawn(async move { _ = work.run() }).detach();
    }
}

#[derive(Component, Clone, Copy, PartialEq, Debug)]
struct Place(i32);

#[derive(Component)]
struct Hero;

#[derive(Component)]
struct Wolf;

/// The state of a wolf, the value of its stream.
#[derive(Clone, Copy)]
enum Deed {
    Sleeps,
    Walks(i32),
    Bites,
}

/// The world of streams. It stays on the main thread, so it is data that is not sent.
struct Pack {
    world: World,
    hero: Input<i32>,
    wolves: Input<Vec<(Entity, i32)>>,
    deeds: Stream<Vec<(Entity, Deed)>>,
}

impl Pack {
    fn new() -> Pack {
        let world = World::builder().pool(BevyTasks).build();
        let hero = world.named("hero").input(0);
        let wolves = world.named("wolves").input(Vec::new());
        let step = Foreign::new("step", |from: i32, to: i32| from + (to - from).signum() * 2);
        let hunted = hero.stream();
        // Each wolf has a stream as long as Bevy has its entity.
        let pack = world.named("wolf").keyed_of(wolves.stream(), move |(wolf, at): (Entity, i32)| {
            lisle_frame::here().live((wolf, Deed::Sleeps), async move |deed| {
                frames(10).await;
                let mut place = at;
                while place != hunted.await {
                    place = step.call((place, hunted.await)).await;
                    deed.set((wolf, Deed::Walks(place)));
                    frames(1).await;
                }
                deed.set((wolf, Deed::Bites));
                std::future::pending().await
            })
        });
        let deeds = world.values(pack);
        Pack { world, hero, wolves, deeds }
    }
}

fn begin(mut commands: Commands) {
    commands.spawn((Hero, Place(0)));
    for wolf in 1..=3 {
        commands.spawn((Wolf, Place(wolf * 20)));
    }
}

/// Bevy's systems are as always.
fn walk(mut hero: Single<&mut Place, With<Hero>>) {
    hero.0 += 1;
}

type Wolves<'w, 's> = Query<'w, 's, (Entity, &'static mut Place), (With<Wolf>, Without<Hero>)>;

/// A frame: changes in Bevy go in, and the results of the streams go back.
fn hunt(
    mut pack: NonSendMut<Pack>,
    hero: Single<&Place, With<Hero>>,
    mut wolves: Wolves,
    mut commands: Commands,
    mut begun: Local<bool>,
) -> Result {
    if !std::mem::replace(&mut *begun, true) {
        let all = wolves.iter().map(|(wolf, place)| (wolf, place.0)).collect();
        let wolves = pack.wolves;
        pack.world.set(wolves, all)?;
    }
    let (input, deeds) = (pack.hero, pack.deeds);
    pack.world.set(input, hero.0)?;
    pack.world.frame();
    for (wolf, deed) in pack.world.get(deeds)? {
        match deed {
            Deed::Sleeps => {}
            Deed::Walks(place) => wolves.get_mut(wolf)?.1.0 = place,
            Deed::Bites => {
                println!("{wolf} has the hero at {}", hero.0);
                commands.entity(wolf).despawn();
                let wolves = pack.wolves;
                let mut left = pack.world.get(wolves.stream())?;
                left.retain(|(other, _)| *other != wolf);
                pack.world.set(wolves, left)?;
            }
        }
    }
    Ok(())
}

fn end(wolves: Query<&Wolf>, pack: NonSend<Pack>, mut exit: MessageWriter<AppExit>) {
    if pack.world.frames() > 1 && wolves.is_empty() {
        println!("no wolf is left after {} frames", pack.world.frames());
        exit.write(AppExit::Success);
    }
}

fn main() -> AppExit {
    let mut app = App::new();
    app.add_plugins((TaskPoolPlugin::default(), ScheduleRunnerPlugin::run_loop(Duration::from_millis(1))));
    app.insert_non_send(Pack::new());
    app.add_systems(Startup, begin).add_systems(Update, (walk, hunt, end).chain());
    app.run()
}
