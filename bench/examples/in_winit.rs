//! A world of streams in winit's loop: steps of the game are of equal length, pictures come when the window wants
//! them, and keys are inputs.
//!
//! Run it with `cargo run --manifest-path bench/Cargo.toml --example in_winit`. It needs a display, and ends by itself: without
//! anybody at the keys after two seconds of the game.

use lisle_frame::{Input, Stream, World, seconds, timeout, until};
use std::error::Error;
use std::time::{Duration, Instant};
use winit::application::ApplicationHandler;
use winit::event::{ElementState, KeyEvent, StartCause, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::keyboard::{Key, NamedKey};
use winit::window::{Window, WindowId};

/// The time that a step has in the game.
const STEP: Duration = Duration::from_micros(16_667);
/// No more steps than these are made up for at a time: a computer that is too slow would never be done.
const MOST: u32 = 5;

struct Game {
    world: World,
    keys: Input<Option<Key>>,
    title: Stream<String>,
    is_over: Stream<bool>,
    window: Option<Window>,
    next: Instant,
    pictures: u32,
}

impl Game {
    fn new() -> Game {
        let world = World::builder().step(STEP).build();
        let keys = world.named("keys").input(None::<Key>);
        let pressed = keys.stream();
        let title = world.named("title").live("press enter".to_string(), async move |title| {
            let enter = until(pressed, |key| *key == Some(Key::Named(NamedKey::Enter)));
            let has_begun = timeout(seconds(1.0), enter).await.is_ok();
            title.set(if has_begun { "a game" } else { "a game that plays itself" }.to_string());
            std::future::pending().await
        });
        let is_over = world.named("end").live(false, async move |is_over| {
            let escape = until(pressed, |key| *key == Some(Key::Named(NamedKey::Escape)));
            _ = timeout(seconds(2.0), escape).await;
            is_over.set(true);
            std::future::pending().await
        });
        Game { world, keys, title, is_over, window: None, next: Instant::now(), pictures: 0 }
    }

    /// Evaluates the frames that are due. Returns `true` if the game is over.
    fn steps(&mut self) -> Result<bool, lisle_frame::StreamError> {
        let mut steps = 0;
        while self.next <= Instant::now() {
            self.next += STEP;
            self.world.frame();
            self.world.set(self.keys, None)?;
            steps += 1;
            if steps == MOST {
                self.next = Instant::now() + STEP;
            }
        }
        if let Some(window) = self.window.as_ref().filter(|_| steps > 0) {
            window.request_redraw();
        }
        if steps == 0 { Ok(false) } else { self.world.get(self.is_over) }
    }
}

impl ApplicationHandler for Game {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        match event_loop.create_window(Window::default_attributes().with_title("Lisle")) {
            Ok(window) => self.window = Some(window),
            Err(error) => {
                eprintln!("no window: {error}");
                event_loop.exit();
            }
        }
    }

    fn new_events(&mut self, event_loop: &ActiveEventLoop, _cause: StartCause) {
        match self.steps() {
            Ok(false) => event_loop.set_control_flow(ControlFlow::WaitUntil(self.next)),
            Ok(true) => event_loop.exit(),
            Err(error) => {
                eprintln!("{error}");
                event_loop.exit();
            }
        }
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _window: WindowId, event: WindowEvent) {
        match event {
            WindowEvent::CloseRequested => event_loop.exit(),
            WindowEvent::KeyboardInput {
                event: KeyEvent { logical_key, state: ElementState::Pressed, .. },
                ..
            } => {
                _ = self.world.set(self.keys, Some(logical_key));
            }
            // Here the game draws the values of its streams.
            WindowEvent::RedrawRequested => {
                self.pictures += 1;
                if let (Some(window), Ok(title)) = (&self.window, self.world.get(self.title)) {
                    window.set_title(&title);
                }
            }
            _ => {}
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let event_loop = EventLoop::new()?;
    let mut game = Game::new();
    event_loop.run_app(&mut game)?;
    println!("{} frames, {} pictures", game.world.frames(), game.pictures);
    println!("the last title: {}", game.world.get(game.title)?);
    Ok(())
}
