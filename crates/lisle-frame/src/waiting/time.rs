//! Waiting for a time in the game, and waiting with a limit.

use super::frames::next_frame;
use super::scope::Scoped;
use crate::engine;
use crate::streams::handle::Stream;
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

/// Waits for `seconds` seconds of the [time in the game](crate::Here::time). It waits until the frame
/// that is nearest to that time, and at least for one frame. The stream keeps its value meanwhile. For
/// 0 it does not wait.
///
/// The wait does not depend on how fast frames are computed. Each frame lasts for the world's [time
/// step](crate::Builder::step), which is a sixtieth of a second by default.
///
/// ```
/// use lisle_frame::{World, seconds};
/// use std::time::Duration;
///
/// let mut world = World::builder().step(Duration::from_millis(100)).build();
/// let light = world.live("red", async |light| {
///     seconds(0.3).await;
///     light.set("green");
/// });
/// for _ in 0..3 {
///     world.frame();
///     assert_eq!(world.get(light)?, "red");
/// }
/// world.frame();
/// assert_eq!(world.get(light)?, "green");
/// # Ok::<(), lisle_frame::StreamError>(())
/// ```
///
/// # Panics
///
/// Panics if the number is negative, too large for a [`Duration`], or not a number. The future
/// panics if it is polled outside of a frame.
pub fn seconds(seconds: f64) -> impl Future<Output = ()> {
    wait(Duration::from_secs_f64(seconds))
}

async fn wait(time: Duration) {
    if time.is_zero() {
        return;
    }
    let mut end = None;
    loop {
        let (now, step) = poll_fn(|_| Poll::Ready(game_time())).await;
        match end {
            Some(end) if now + step / 2 >= end => return,
            Some(_) => {}
            None => end = Some(now + time),
        }
        next_frame().await;
    }
}

/// Returns the time in the game, and the length of a frame.
fn game_time() -> (Duration, Duration) {
    match engine::current() {
        Some(core) => (core.time_of_current(), core.step.get()),
        None => panic!("`seconds` is called outside of the body of a stream: no frame is under way"),
    }
}

/// Waits until a stream has a value for which `f` returns `true`, and returns that value. The value of
/// this frame counts, too. `f` is called once for each frame. If the stream fails, the stream that
/// waits for it fails in that frame, and waits again in the next.
///
/// ```
/// use lisle_frame::{World, until};
///
/// let mut world = World::new();
/// let damage = world.input(0);
/// let health = world.fold(damage.stream(), 10, |health, damage| *health -= damage);
/// let dragon = world.live("breathes fire", async move |dragon| {
///     let health = until(health, |health| *health <= 0).await;
///     dragon.set(if health == 0 { "is dead" } else { "is very dead" });
/// });
/// world.set(damage, 4)?;
/// world.frame();
/// world.frame();
/// assert_eq!(world.get(dragon)?, "breathes fire");
/// world.frame();
/// assert_eq!(world.get(dragon)?, "is very dead");
/// # Ok::<(), lisle_frame::StreamError>(())
/// ```
///
/// # Panics
///
/// The future panics if it is polled outside of a frame, and if `f` panics.
pub async fn until<T: Clone>(stream: Stream<T>, mut f: impl FnMut(&T) -> bool) -> T {
    loop {
        if let Some(value) = stream.with(|value| f(value).then(|| value.clone())).await {
            return value;
        }
        next_frame().await;
    }
}

/// The error of a [`timeout`] whose limit was over first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed(());

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the time was over before the future was done")
    }
}

impl std::error::Error for Elapsed {}

/// Awaits a future, but no longer than `limit`, which is [`seconds`], [`frames`](crate::frames), or
/// any other future. When the limit is over, the future is dropped, and its branches end. If both are
/// done in the same frame, the future is in time.
///
/// Both are [async scopes](crate::async_scope).
///
/// ```
/// use lisle_frame::{World, seconds, timeout, until};
///
/// let mut world = World::new();
/// let button = world.input(false);
/// let answer = world.live("…", async move |answer| {
///     let pressed = timeout(seconds(10.0), until(button.stream(), |pressed| *pressed));
///     answer.set(if pressed.await.is_ok() { "yes" } else { "no answer" });
/// });
/// for _ in 0..600 {
///     world.frame();
///     assert_eq!(world.get(answer)?, "…");
/// }
/// world.frame(); // ten seconds have passed
/// assert_eq!(world.get(answer)?, "no answer");
/// # Ok::<(), lisle_frame::StreamError>(())
/// ```
///
/// # Errors
///
/// Returns an error if the limit was over first.
pub async fn timeout<F: Future>(limit: impl Future, future: F) -> Result<F::Output, Elapsed> {
    let mut future = pin!(Scoped::new(future));
    let mut limit = pin!(Scoped::new(limit));
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Ok(output)),
        Poll::Pending => limit.as_mut().poll(cx).map(|_| Err(Elapsed(()))),
    })
    .await
}
