//! Hooks that run when a fiber is resumed and when it is suspended.
//!
//! They are for state that belongs to a fiber but is kept in one place of its thread: the span
//! stack of a tracer, the current dispatcher, a locale, the counters of a profiler. A hook saves it
//! when the fiber is suspended and restores it when the fiber is resumed.

use super::fiber_cell::Fiber;
use crate::abort;
use crate::event::step::{self, Forbidden};
use crate::shim::sync::{Arc, OnceLock};
use std::any::Any;
use std::fmt;
use std::panic::Location;

/// Functions that are called whenever a fiber is resumed and whenever it is suspended.
///
/// Hooks belong to a runtime, if added with [`Builder::hooks`](crate::Builder::hooks), or to the
/// process ([`add_hooks`]).
///
/// # When they are called
///
/// [`resumed`](Hooks::resumed) is called before a fiber begins and each time before it goes on.
/// [`suspended`](Hooks::suspended) is called each time after it has given its domain away, and
/// after it has ended, by returning or by unwinding. So the calls for a fiber come in pairs, on the
/// thread of its domain, and at most one fiber of a domain is between the two. A call that could
/// wait and does not need to is no suspension. A fiber that never begins, since its runtime is shut
/// down before, has no calls. A fiber that a shutdown gives up has no last one.
///
/// If there are several, the hooks of the process come first, then the hooks of the builder, in the
/// order in which they were added. When the fiber is suspended the order is reversed.
///
/// # Tasks and loops
///
/// Hooks see stacks. A task that begins runs on the stack of its spawner, as a part of it, and
/// there is no call when it waits and stays behind. When tasks go on, and when a domain runs a part
/// of a loop or a job that began elsewhere, they run in a fiber of the library's own, a *runner*
/// ([`Switch::is_runner`]). A runner is resumed when it is given work. It is suspended when that
/// work waits in place (not when a task awaits something), or when it has no more work. So several
/// tasks and parts may run one after the other between two calls, each from the beginning of a turn
/// to its end. Halves, parts and jobs that run on the stack of the code that has called `join` or
/// the loop are a part of that fiber. On plain threads there are no calls.
///
/// # Permitted operations
///
/// They run on the domain's own stack. The fiber counts as the current one: a
/// [`fiber_local!`](crate::fiber_local) has the fiber's value. They may spawn, signal, and try.
/// They must not wait, which panics as in [`no_suspend`](crate::fiber::no_suspend()). They delay
/// everything on the domain. A computation that they suspend (`lisle::effect`) goes on in the same
/// call or never.
///
/// # Panics
///
/// A hook that panics ends the process with a message, since fibers would otherwise go on with
/// state that belongs to another fiber.
///
/// # Cost
///
/// Without hooks a turn costs nothing more, since the loop of a domain is compiled for both cases.
/// When a fiber ends, and when tasks are given a stack to run on, there is a branch, which is
/// predicted. With hooks, each is an indirect call, and their local values are allocated when a
/// fiber begins.
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// use lisle::fiber::{Hooks, Switch};
/// use std::cell::Cell;
///
/// thread_local! {
///     /// A place where a library keeps the current language.
///     static LANGUAGE: Cell<&'static str> = const { Cell::new("en") };
/// }
///
/// /// Each fiber has a language of its own.
/// struct Languages;
///
/// #[derive(Default)]
/// struct Saved(Option<&'static str>);
///
/// impl Hooks for Languages {
///     type Local = Saved;
///     fn resumed(&self, _: &Switch<'_>, saved: &mut Saved) {
///         LANGUAGE.set(saved.0.unwrap_or("en"));
///     }
///     fn suspended(&self, _: &Switch<'_>, saved: &mut Saved) {
///         saved.0 = Some(LANGUAGE.replace("en"));
///     }
/// }
///
/// lisle::Runtime::builder().domains(1).hooks(Languages).run(|| {
///     LANGUAGE.set("fr");
///     let other = lisle::spawn(|| LANGUAGE.replace("de"));
///     assert_eq!(other.join().unwrap(), "en");
///     assert_eq!(LANGUAGE.get(), "fr");
/// });
/// ```
pub trait Hooks: Send + Sync + 'static {
    /// The state of the hooks for each fiber. It is made before the fiber begins and dropped after
    /// it has ended, on its thread.
    type Local: Default + 'static;

    /// Called when the fiber is about to begin or to go on.
    fn resumed(&self, switch: &Switch<'_>, local: &mut Self::Local) {
        let _ = (switch, local);
    }

    /// Called when the fiber has given its domain away, or has ended.
    fn suspended(&self, switch: &Switch<'_>, local: &mut Self::Local) {
        let _ = (switch, local);
    }
}

/// Adds hooks for the fibers of all runtimes that are started from now on, including the default
/// one. They cannot be removed.
///
/// The program should call this early: a runtime that already runs does not get the hooks.
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// use lisle::fiber::{Hooks, Moment, Switch};
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// static BEGUN: AtomicU32 = AtomicU32::new(0);
///
/// struct Count;
/// impl Hooks for Count {
///     type Local = ();
///     fn resumed(&self, switch: &Switch<'_>, (): &mut ()) {
///         if switch.moment() == Moment::Begins {
///             BEGUN.fetch_add(1, Ordering::Relaxed);
///         }
///     }
/// }
///
/// lisle::fiber::add_hooks(Count);
/// lisle::run(|| lisle::spawn(|| ()).join().unwrap());
/// assert_eq!(BEGUN.load(Ordering::Relaxed), 2);
/// ```
#[track_caller]
pub fn add_hooks(hooks: impl Hooks) {
    let mut added = Box::new(Added { hook: Hook::new(hooks, Location::caller()), next: OnceLock::new() });
    let mut end = &ADDED;
    while let Err(again) = end.set(added) {
        added = again;
        end = end.get().map_or(end, |other| &other.next);
    }
}

/// The hooks of the process, each with a place for the next one. They have no lock: a runtime that
/// starts in a forked child has these hooks, too, and a thread of the parent may have been reading
/// them.
static ADDED: OnceLock<Box<Added>> = OnceLock::new();

struct Added {
    hook: Hook,
    next: OnceLock<Box<Added>>,
}

fn of_process() -> impl Iterator<Item = &'static Hook> {
    std::iter::successors(ADDED.get(), |added| added.next.get()).map(|added| &added.hook)
}

/// The reason why hooks are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// The fiber is about to begin.
    Begins,
    /// The fiber is about to go on.
    GoesOn,
    /// The fiber has given its domain away: it waits, or lets others have a turn.
    Waits,
    /// The fiber has ended.
    Ends,
}

/// The event that hooks are called for, and its fiber.
pub struct Switch<'a> {
    fiber: &'a Fiber,
    moment: Moment,
}

impl Switch<'_> {
    /// Returns the kind of switch.
    pub fn moment(&self) -> Moment {
        self.moment
    }

    /// Returns the number of the fiber, as in `Blocked::id`. It may be used again after the fiber
    /// has ended.
    pub fn id(&self) -> usize {
        self.fiber.performer_id()
    }

    /// Returns the name given by [`fiber::Builder::name`](crate::fiber::Builder::name).
    pub fn name(&self) -> Option<&str> {
        self.fiber.name()
    }

    /// Returns the place where the fiber was spawned.
    pub fn spawned_at(&self) -> &'static Location<'static> {
        self.fiber.site()
    }

    /// Returns `true` if the fiber is the library's own, on which a domain runs tasks that go on,
    /// and parts of loops.
    pub fn is_runner(&self) -> bool {
        self.fiber.is_runner()
    }
}

impl fmt::Debug for Switch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Switch").field("fiber", &self.fiber.describe()).field("moment", &self.moment).finish()
    }
}

/// Hooks with any type of local value.
trait Erased: Send + Sync {
    fn local(&self) -> Box<dyn Any>;
    fn resumed(&self, switch: &Switch<'_>, local: &mut dyn Any);
    fn suspended(&self, switch: &Switch<'_>, local: &mut dyn Any);
}

impl<H: Hooks> Erased for H {
    fn local(&self) -> Box<dyn Any> {
        Box::new(H::Local::default())
    }
    fn resumed(&self, switch: &Switch<'_>, local: &mut dyn Any) {
        Hooks::resumed(self, switch, own::<H>(local));
    }
    fn suspended(&self, switch: &Switch<'_>, local: &mut dyn Any) {
        Hooks::suspended(self, switch, own::<H>(local));
    }
}

fn own<H: Hooks>(local: &mut dyn Any) -> &mut H::Local {
    local.downcast_mut().expect("hooks are given what they have made")
}

#[derive(Clone)]
struct Hook {
    hooks: Arc<dyn Erased>,
    /// The place where they were added.
    site: &'static Location<'static>,
}

impl Hook {
    fn new(hooks: impl Hooks, site: &'static Location<'static>) -> Self {
        Hook { hooks: Arc::new(hooks), site }
    }

    /// Calls one of the hooks.
    fn call(&self, hook: impl FnOnce(&dyn Erased)) {
        abort::if_it_unwinds(
            "a hook has panicked, and fibers would go on with what belongs to others",
            || {
                step::fenced(Forbidden { by: "a hook, added at", site: self.site }, || hook(&*self.hooks));
            },
        );
    }
}

/// The hooks of a runtime, in the order in which they are called.
#[derive(Clone, Default)]
pub(crate) struct HookList(Vec<Hook>);

impl HookList {
    pub(crate) fn add(&mut self, hooks: impl Hooks, site: &'static Location<'static>) {
        self.0.push(Hook::new(hooks, site));
    }

    /// Returns these hooks, after the hooks of the process.
    pub(crate) fn after_process(self) -> Self {
        HookList(of_process().cloned().chain(self.0).collect())
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Calls the hooks as `fiber` is about to run.
    pub(crate) fn resumed(&self, fiber: &Fiber) {
        let before = fiber.hooked.take();
        let moment = if before.is_none() { Moment::Begins } else { Moment::GoesOn };
        let switch = Switch { fiber, moment };
        let mut locals = before.unwrap_or_default();
        for (index, hook) in self.0.iter().enumerate() {
            hook.call(|hooks| {
                if moment == Moment::Begins {
                    locals.push(hooks.local());
                }
                hooks.resumed(&switch, &mut *locals[index]);
            });
        }
        fiber.hooked.set(Some(locals));
    }

    /// Calls the hooks after `fiber` has run.
    pub(crate) fn suspended(&self, fiber: &Fiber, moment: Moment) {
        let switch = Switch { fiber, moment };
        let mut locals = fiber.hooked.take().expect("it was resumed");
        for (index, hook) in self.0.iter().enumerate().rev() {
            hook.call(|hooks| {
                hooks.suspended(&switch, &mut *locals[index]);
                if moment == Moment::Ends {
                    drop(locals.pop());
                }
            });
        }
        if moment != Moment::Ends {
            fiber.hooked.set(Some(locals));
        }
    }
}

impl fmt::Debug for HookList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|hook| hook.site)).finish()
    }
}
