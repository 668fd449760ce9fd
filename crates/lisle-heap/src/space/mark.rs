//! Marking the objects of the old space that are reachable, while the program goes on.
//!
//! A mark begins while all threads are stopped, with the objects to which roots refer. From then on each thread marks some objects
//! now and then. What is reachable when the mark begins is marked in the end, since a store marks the old word of a slot before it
//! is lost (`young.rs`), and new objects are born marked: a *snapshot at the beginning*. So a thread that reads references needs
//! no barrier.
//!
//! Marks are plain stores: two threads may mark an object at once, and both look at its words. The objects that are marked, and
//! whose words have not been looked at, are in the stack of the thread that marks. After each slice it leaves them in a queue,
//! so that at each stop all work is in the queue.
//!
//! An ephemeron that a mark reaches is put aside. In the end, while all threads are stopped, the value of each whose key is
//! marked is marked. The others wait in a table by their keys, and the mark looks there for each object that it marks from then
//! on. So a chain of ephemerons takes linear time, in whichever order they were put aside.

use crate::lock::lock;
use crate::object::{Cell, Colours, Shape, each_word, ephemeron, header_of, rest_of, set_header, weak_word};
use crate::raw::{NONE, Raw, is_pointer, untagged};
use crate::space::nursery::Range;
use crate::space::old::Old;
use crate::space::young::Young;
use std::collections::HashMap;
use std::mem::take;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// At most so many elements of an array are looked at in one step, so that its elements do not fill the
/// stack all at once.
const STEP: usize = 1 << 10;

/// A stack with so many objects is left in two parts, for two threads.
const LONG: usize = 1 << 8;

/// An object that is marked, and whose words, or elements from `from` on, have not been looked at.
struct Pending {
    payload: Raw,
    from: usize,
}

// SAFETY: objects are `Send`.
unsafe impl Send for Pending {}

#[derive(Default)]
pub(crate) struct Marker {
    queue: Mutex<Vec<Vec<Pending>>>,
    /// The system had no memory for a stack to grow, so a marked object is missing from all.
    incomplete: AtomicBool,
    /// The ephemerons that the mark has reached.
    ephemerons: Mutex<Vec<Object>>,
    weak: Mutex<WeakObjects>,
    /// The bytes that the objects own elsewhere at which the mark has looked, or which have grown old meanwhile.
    external: AtomicUsize,
}

#[derive(Default)]
struct WeakObjects {
    /// The old ones. There is room for all others.
    old: Vec<Object>,
    /// The number of young ones.
    young: usize,
    /// The number of those that threads are about to allocate.
    coming: usize,
}

/// The payload of an object.
struct Object(Raw);

// SAFETY: objects are `Send`.
unsafe impl Send for Object {}

/// The ephemerons whose keys are not marked.
#[derive(Default)]
struct Waiting {
    /// By the addresses of their keys.
    keyed: HashMap<usize, Vec<Raw>>,
    /// The system had no memory for the table to grow, so one is missing from it.
    incomplete: bool,
}

impl Waiting {
    fn add(&mut self, key: usize, payload: Raw) {
        let added = self.keyed.try_reserve(1).is_ok_and(|()| {
            let waiting = self.keyed.entry(key).or_default();
            let has_room = waiting.try_reserve(1).is_ok();
            if has_room {
                waiting.push(payload);
            }
            has_room
        });
        self.incomplete |= !added;
    }
}

impl Marker {
    /// Returns `true` if the queue has no work. While all threads are stopped, and have handed over what their stores
    /// have marked, all reachable objects are marked then.
    pub(crate) fn is_empty(&self) -> bool {
        lock(&self.queue).is_empty()
    }

    pub(crate) fn stack(&self, colours: Colours, nursery: Range) -> Stack<'_> {
        Stack {
            marker: self,
            colours,
            nursery,
            pending: Vec::new(),
            words: 0,
            external: 0,
            ephemerons: Vec::new(),
            waiting: None,
        }
    }

    /// Adds bytes that an object owns elsewhere which is alive in this mark.
    pub(crate) fn add_external(&self, bytes: usize) {
        let add = |all: usize| Some(all.saturating_add(bytes));
        _ = self.external.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }

    /// Returns the bytes that the marked objects own elsewhere, and begins anew.
    pub(crate) fn take_external(&self) -> usize {
        self.external.swap(0, Ordering::Relaxed)
    }

    /// Makes room for one more weak object, which is about to be allocated. Returns `false` if the system has no memory for it.
    pub(crate) fn reserve_weak(&self) -> bool {
        let WeakObjects { old, young, coming } = &mut *lock(&self.weak);
        let has_room = old.try_reserve(*young + *coming + 1).is_ok();
        *coming += usize::from(has_room);
        has_room
    }

    /// Says whether the weak object was allocated for which `reserve_weak` has made room.
    pub(crate) fn end_reservation(&self, allocated: bool) {
        let weak = &mut *lock(&self.weak);
        weak.coming -= 1;
        weak.young += usize::from(allocated);
    }

    /// Adds a weak object, which has grown old.
    pub(crate) fn add_weak(&self, payload: Raw) {
        lock(&self.weak).old.push(Object(payload));
    }

    /// Says that all weak objects are old.
    pub(crate) fn no_weak_is_young(&self) {
        lock(&self.weak).young = 0;
    }

    /// Calls `correct` for the payload of each weak object, which has moved. The object stays in the list.
    pub(crate) fn each_weak(&self, mut correct: impl FnMut(&mut Raw)) {
        lock(&self.weak).old.iter_mut().for_each(|Object(payload)| correct(payload));
    }

    /// Marks all that is left, and what `more` adds to it afterwards, while all threads are stopped. Empties the weak objects and
    /// the ephemerons that refer to objects that were not marked before `more`.
    pub(crate) fn finish(&self, old: &Old, nursery: Range, more: impl FnOnce(&mut Stack<'_>)) {
        let Colours { marked, unmarked, .. } = old.colours;
        // SAFETY: the word points to an object of the old space, since the nursery is empty.
        let is_unmarked = |raw| is_pointer(raw) && unsafe { header_of(untagged(raw)) }.colour() == unmarked;
        let mut stack = self.stack(old.colours, nursery);
        stack.finish(old);
        let weak = &mut lock(&self.weak).old;
        for Object(payload) in &*weak {
            // SAFETY: a weak object stays until it is found dead.
            let word = unsafe { weak_word(*payload) };
            if is_unmarked(word.load(Ordering::Relaxed)) {
                word.store(NONE, Ordering::Relaxed);
            }
        }
        stack.empty_waiting(old);
        more(&mut stack);
        stack.finish(old);
        stack.empty_waiting(old);
        // SAFETY: as above.
        weak.retain(|Object(payload)| unsafe { header_of(*payload) }.colour() == marked);
    }
}

/// The stack of a thread that marks. What is left is put into the queue when it is dropped.
pub(crate) struct Stack<'a> {
    marker: &'a Marker,
    colours: Colours,
    nursery: Range,
    pending: Vec<Pending>,
    /// The number of words that were looked at.
    words: usize,
    /// The bytes that these objects own elsewhere.
    external: usize,
    /// The ephemerons that this thread has reached.
    ephemerons: Vec<Object>,
    /// In the end of a mark: those that wait for their keys.
    waiting: Option<Waiting>,
}

impl Stack<'_> {
    /// Marks the object to which the word points.
    #[inline]
    pub(crate) fn reach(&mut self, cell: &Cell) {
        let raw = cell.load(Ordering::Acquire);
        // A young object is born after the begin of the mark.
        if is_pointer(raw) && !self.nursery.contains(raw) {
            let payload = untagged(raw);
            // SAFETY: the word points to an object.
            unsafe {
                let header = header_of(payload);
                if header.colour() == self.colours.unmarked {
                    set_header(payload, header.with_colour(self.colours.marked));
                    self.push(payload);
                }
            }
        }
    }

    /// Returns `false` if the word points to an old object that is not marked.
    pub(crate) fn is_marked(&self, raw: Raw) -> bool {
        // SAFETY: the word points to an object.
        unsafe { header_of(untagged(raw)) }.colour() != self.colours.unmarked
    }

    /// Adds an object that is marked.
    pub(crate) fn push(&mut self, payload: Raw) {
        if !self.try_push(Pending { payload, from: 0 }) {
            self.marker.incomplete.store(true, Ordering::Relaxed);
        }
    }

    /// Returns `false` if the system has no memory for the stack to grow.
    fn try_push(&mut self, pending: Pending) -> bool {
        let full = self.pending.len() == self.pending.capacity();
        if full && self.pending.try_reserve(1).is_err() {
            return false;
        }
        self.pending.push(pending);
        true
    }

    /// Marks until so many words were looked at, or no work is left. Returns the number of words.
    pub(crate) fn work(&mut self, words: usize) -> usize {
        self.words = 0;
        while self.words < words {
            match self.pending.pop() {
                Some(pending) => self.look_at(pending),
                None => match lock(&self.marker.queue).pop() {
                    Some(stack) => self.pending = stack,
                    None => break,
                },
            }
        }
        self.words
    }

    /// Adds the objects that the stores of a thread have marked.
    ///
    /// # Safety
    ///
    /// The thread has stopped, or is this one.
    pub(crate) unsafe fn take_shaded(&mut self, young: &Young) {
        // SAFETY: passed on to the caller.
        if !unsafe { young.take_shaded(|payload| self.push(payload)) } {
            self.marker.incomplete.store(true, Ordering::Relaxed);
        }
    }

    /// Marks all that is left, while all threads are stopped.
    fn finish(&mut self, old: &Old) {
        self.waiting = Some(Waiting::default());
        let put_aside = take(&mut *lock(&self.marker.ephemerons));
        put_aside.into_iter().for_each(|Object(payload)| self.reach_ephemeron(payload));
        loop {
            self.work(usize::MAX);
            let incomplete = self.marker.incomplete.swap(false, Ordering::Relaxed);
            // Each round marks at least the objects that did not find room in a stack.
            if incomplete {
                self.each_marked(old, |stack, payload| {
                    stack.look_at(Pending { payload, from: 0 });
                    stack.work(usize::MAX);
                });
            } else if !self.reach_untabled(old) {
                return;
            }
        }
    }

    /// Calls `f` for each marked object.
    fn each_marked(&mut self, old: &Old, mut f: impl FnMut(&mut Self, Raw)) {
        old.each_object(|payload| {
            // SAFETY: the object is in the old space.
            if unsafe { header_of(payload) }.colour() == self.colours.marked {
                f(self, payload);
            }
        });
    }

    /// Marks the values of ephemerons that are missing from the table, and whose keys are marked. Returns `true` if it has marked one.
    /// Takes a look at all objects, so this may take quadratic time.
    fn reach_untabled(&mut self, old: &Old) -> bool {
        if !self.waiting.as_ref().is_some_and(|waiting| waiting.incomplete) {
            return false;
        }
        let mut any = false;
        self.each_marked(old, |stack, payload| {
            // SAFETY: the object is in the old space, and so are the key and the value, since the nursery is empty.
            unsafe {
                if matches!(header_of(payload).desc().shape, Shape::Ephemeron) {
                    let [key, value] = ephemeron(payload).each_ref().map(|word| word.load(Ordering::Relaxed));
                    let is_unmarked = |raw| is_pointer(raw) && !stack.is_marked(raw);
                    if !is_unmarked(key) && is_unmarked(value) {
                        any = true;
                        stack.reach(&ephemeron(payload)[1]);
                    }
                }
            }
        });
        any
    }

    /// Marks the value of an ephemeron if its key is marked, or notes that it waits for that.
    fn reach_ephemeron(&mut self, payload: Raw) {
        let Some(waiting) = &mut self.waiting else {
            if self.ephemerons.try_reserve(1).is_ok() {
                self.ephemerons.push(Object(payload));
            } else {
                // It is looked at again in the end.
                self.marker.incomplete.store(true, Ordering::Relaxed);
            }
            return;
        };
        // SAFETY: the object is an ephemeron. Its key is an old object, since the nursery is empty.
        unsafe {
            let [key, value] = ephemeron(payload);
            let key = key.load(Ordering::Relaxed);
            if is_pointer(key) && header_of(untagged(key)).colour() == self.colours.unmarked {
                waiting.add(untagged(key).addr(), payload);
            } else {
                self.reach(value);
            }
        }
    }

    /// Empties the ephemerons whose keys were not marked.
    fn empty_waiting(&mut self, old: &Old) {
        // SAFETY: the object is an ephemeron.
        let empty = |payload| unsafe {
            ephemeron(payload).iter().for_each(|word| word.store(NONE, Ordering::Relaxed));
        };
        let Waiting { keyed, incomplete } = self.waiting.take().unwrap_or_default();
        keyed.into_values().flatten().for_each(empty);
        if incomplete {
            self.each_marked(old, |stack, payload| {
                // SAFETY: the object is in the old space, and so is the key.
                unsafe {
                    if matches!(header_of(payload).desc().shape, Shape::Ephemeron) {
                        let key = ephemeron(payload)[0].load(Ordering::Relaxed);
                        if is_pointer(key) && !stack.is_marked(key) {
                            empty(payload);
                        }
                    }
                }
            });
        }
    }

    fn look_at(&mut self, pending: Pending) {
        let Pending { payload, from } = pending;
        let tabled = self.waiting.as_mut().and_then(|waiting| waiting.keyed.remove(&payload.addr()));
        if let Some(waiting) = tabled {
            // SAFETY: these objects are ephemerons.
            waiting.into_iter().for_each(|payload| self.reach(unsafe { &ephemeron(payload)[1] }));
        }
        // SAFETY: the object is in the old space, and its header is not changed but for its colour.
        unsafe {
            let desc = header_of(payload).desc();
            self.external = self.external.saturating_add(desc.external_bytes(payload));
            if matches!(desc.shape, Shape::Ephemeron) {
                self.words += 1;
                return self.reach_ephemeron(payload);
            }
            // The rest of an array lies under its elements in the stack. If it finds no room there, it is looked at
            // now: later there may be no room again.
            let rest = rest_of(desc, payload, from, STEP);
            let fits = rest.is_none_or(|from| self.try_push(Pending { payload, from }));
            let mut words = 1;
            each_word(desc, payload, from, if fits { STEP } else { usize::MAX }, |cell| {
                words += 1;
                self.reach(cell);
            });
            self.words += words;
        }
    }
}

impl Drop for Stack<'_> {
    fn drop(&mut self) {
        if self.external > 0 {
            self.marker.add_external(self.external);
        }
        let mut all = lock(&self.marker.ephemerons);
        if all.try_reserve(self.ephemerons.len()).is_ok() {
            all.append(&mut self.ephemerons);
        } else {
            self.marker.incomplete.store(true, Ordering::Relaxed);
        }
        drop(all);
        let rest = take(&mut self.pending);
        if rest.is_empty() {
            return;
        }
        let mut queue = lock(&self.marker.queue);
        if queue.try_reserve(2).is_err() {
            self.marker.incomplete.store(true, Ordering::Relaxed);
            return;
        }
        let (mut rest, mut half) = (rest, Vec::new());
        let middle = rest.len() / 2;
        if rest.len() >= LONG && queue.is_empty() && half.try_reserve_exact(rest.len() - middle).is_ok() {
            half.extend(rest.drain(middle..));
            queue.push(half);
        }
        queue.push(rest);
    }
}
