//! Snapshots, and how a world goes back to one.
//!
//! A removed stream is laid aside if a snapshot has it: its future stays in its slot, at rest, and the slot
//! is not used for another stream. So the world can bring the stream back, its handles are valid again, and
//! the code that has made the stream need not run again. When the last snapshot that has the stream is
//! dropped, the stream is buried.

use super::columns::{Column, Epochs};
use super::group::Group;
use super::slot::{Head, Phase, StateWord, vacant};
use super::waits::Living;
use super::{Core, flags};
use std::any::Any;
use std::cell::RefCell;
use std::ptr::NonNull;
use std::rc::{Rc, Weak};
use std::time::Duration;

/// The contents of a snapshot.
pub(crate) struct Saved {
    core: Weak<Core>,
    world: u32,
    pub(crate) frames: u64,
    time: Duration,
    epoch: u32,
    /// By the numbers of the groups.
    columns: Vec<Option<Column>>,
    /// The values that the streams of last values had seen, if they had looked.
    looked: Option<Vec<(Living, Box<dyn Any>)>>,
    /// The streams of the snapshot that were laid aside.
    aside: RefCell<Vec<Living>>,
}

/// Why the world cannot go back.
pub(crate) enum Refusal {
    OtherWorld,
    /// The stream has failed for good, and has no body any more.
    Failed(NonNull<Head>),
    /// This number of streams are gone.
    Removed(usize),
}

impl Saved {
    /// Returns how many streams it has.
    pub(crate) fn streams(&self) -> usize {
        let marks = self.columns.iter().flatten().flat_map(|column| &column.marks);
        marks.filter(|mark| mark.generation != 0).count()
    }

    fn has(&self, (group, ordinal): (u32, usize), generation: u32) -> bool {
        let column = self.columns.get(group as usize).and_then(Option::as_ref);
        column.and_then(|column| column.marks.get(ordinal)).is_some_and(|mark| mark.generation == generation)
    }
}

impl Drop for Saved {
    fn drop(&mut self) {
        if let Some(core) = self.core.upgrade() {
            core.forget_saved(self.aside.take());
            // The values are dropped here: their destructors are the user's code.
            self.columns.iter_mut().flatten().for_each(Column::clear);
            core.keep_memory(std::mem::take(&mut self.columns));
        }
    }
}

impl Core {
    /// Saves all streams that are not cosmetic. Otherwise returns a stream that has more state than its
    /// value.
    pub(crate) fn save(self: &Rc<Core>) -> Result<Rc<Saved>, NonNull<Head>> {
        let mut columns = self.spare_columns.borrow_mut().pop().unwrap_or_default();
        let groups = self.lasting_groups();
        for group in &groups {
            let number = group.number as usize;
            if columns.len() <= number {
                columns.resize_with(number + 1, || None);
            }
            group.mark_all(self, &mut columns[number].get_or_insert_with(Column::none).marks)?;
        }
        for group in &groups {
            if let Some(column) = &mut columns[group.number as usize] {
                // SAFETY: a marked stream has a value if its state says so. No frame is under way; streams
                // that `clone` removes are not buried yet.
                unsafe { group.clone_values(column) };
            }
        }
        let saved = Rc::new(Saved {
            core: Rc::downgrade(self),
            world: self.id,
            frames: self.frames.get(),
            time: self.time.get(),
            epoch: self.epoch.get(),
            columns,
            looked: self.what_was_looked_at(),
            aside: RefCell::default(),
        });
        let mut all = self.saved.borrow_mut();
        all.retain(|saved| saved.strong_count() > 0);
        all.push(Rc::downgrade(&saved));
        self.has_saved.set(true);
        Ok(saved)
    }

    /// Returns the groups whose streams are in snapshots.
    fn lasting_groups(&self) -> Vec<Rc<Group>> {
        let (early, groups) = (self.early.borrow(), self.groups.borrow());
        early.iter().chain(groups.iter()).filter(|group| !group.key.is_cosmetic).cloned().collect()
    }

    /// Returns `true` if a snapshot has a stream, which may have been removed.
    pub(super) fn is_saved(&self, stream: Living) -> bool {
        if !self.has_saved.get() {
            return false;
        }
        let place = self.place(stream.head);
        let all = self.saved.borrow();
        // The youngest snapshot has it most likely.
        all.iter().rev().filter_map(Weak::upgrade).any(|saved| saved.has(place, stream.generation))
    }

    /// Lays aside a removed stream that is in a snapshot. Returns `false` if the stream is in no snapshot, or
    /// cannot come back.
    pub(super) fn lay_aside(&self, stream: Living) -> bool {
        // SAFETY: slots live as long as the world.
        let (group, head) = unsafe { (Group::of(stream.head), stream.head.as_ref()) };
        let state = head.state.get();
        if state.number() & vacant::HAS_FAILED != 0 || !self.is_saved(stream) {
            return false;
        }
        head.state.set(StateWord::new(Phase::Vacant, state.number() | vacant::IS_ASIDE));
        let place = self.place(stream.head);
        for saved in self.saved.borrow().iter().filter_map(Weak::upgrade) {
            if saved.has(place, stream.generation) {
                saved.aside.borrow_mut().push(stream);
            }
        }
        if state.number() & vacant::HAS_FUTURE != 0 {
            // SAFETY: it has a future, which is not being polled.
            self.guarded(|| unsafe { group.rest(stream.head) });
        }
        if state.has_value() {
            // SAFETY: it had a value. No code looks at the value, and the state does not say any more that
            // there is one.
            self.guarded(|| unsafe { group.drop_value(stream.head) });
        }
        true
    }

    /// Buries the streams that were laid aside for a dropped snapshot, unless other snapshots have them.
    fn forget_saved(&self, aside: Vec<Living>) {
        let mut all = self.saved.borrow_mut();
        all.retain(|saved| saved.strong_count() > 0);
        self.has_saved.set(!all.is_empty());
        drop(all);
        for stream in aside {
            if self.is_aside(stream) && !self.is_saved(stream) {
                self.is_not_aside(stream.head);
            }
        }
        self.bury_at_rest();
    }

    /// Keeps the memory of a dropped snapshot for the next one, as long as there are other snapshots. So the
    /// memory never exceeds the memory of the most snapshots that existed at a time.
    fn keep_memory(&self, columns: Vec<Option<Column>>) {
        let mut spare = self.spare_columns.take();
        spare.push(columns);
        if self.has_saved.get() {
            self.spare_columns.replace(spare);
        }
    }

    /// Forgets all snapshots, at the end of the world.
    pub(super) fn forget_all_saved(&self) {
        self.saved.borrow_mut().clear();
        self.has_saved.set(false);
        for group in self.lasting_groups() {
            group.each_slot(|pointer| {
                // SAFETY: slots live as long as the world.
                let state = unsafe { pointer.as_ref() }.state.get();
                if state.phase() == Phase::Vacant && state.number() & vacant::IS_ASIDE != 0 {
                    self.is_not_aside(pointer);
                }
            });
        }
    }

    /// Notes that a stream that was laid aside has to be buried.
    fn is_not_aside(&self, pointer: NonNull<Head>) {
        // SAFETY: slots live as long as the world.
        let head = unsafe { pointer.as_ref() };
        head.state.set(StateWord::new(Phase::Vacant, head.state.get().number() & !vacant::IS_ASIDE));
        self.graves.borrow_mut().push(pointer);
        self.flag(flags::QUEUED);
    }

    fn is_aside(&self, stream: Living) -> bool {
        // SAFETY: slots live as long as the world.
        let head = unsafe { stream.head.as_ref() };
        let state = head.state.get();
        head.generation.get() == stream.generation + 1
            && state.phase() == Phase::Vacant
            && state.number() & vacant::IS_ASIDE != 0
    }

    /// Goes back to a snapshot. If this is impossible, nothing changes.
    pub(crate) fn go_back(self: &Rc<Core>, saved: &Saved) -> Result<(), Refusal> {
        if saved.world != self.id {
            return Err(Refusal::OtherWorld);
        }
        let groups = self.lasting_groups();
        let (aside, younger) = self.compare(saved, &groups)?;
        younger.into_iter().for_each(|stream| self.remove(stream));
        aside.into_iter().for_each(|stream| self.bring_back(stream));
        self.rest_all();
        let epochs = Epochs { then: saved.epoch, now: self.epoch.get() };
        for group in &groups {
            if let Some(Some(column)) = saved.columns.get(group.number as usize) {
                // SAFETY: no frame is under way, and no code looks at values, because the world is borrowed
                // mutably.
                unsafe { group.go_back(self, column, epochs) };
            }
        }
        self.frames.set(saved.frames);
        self.time.set(saved.time);
        self.look_again();
        if let Some(looked) = &saved.looked {
            self.look_as_then(looked);
        }
        Ok(())
    }

    /// Returns the streams that have to come back, and the streams that were made since.
    fn compare(&self, saved: &Saved, groups: &[Rc<Group>]) -> Result<(Vec<Living>, Vec<Living>), Refusal> {
        let (mut aside, mut younger, mut removed, mut failed) = (Vec::new(), Vec::new(), 0, None);
        for group in groups {
            let column = saved.columns.get(group.number as usize).and_then(Option::as_ref);
            let mut marks = column.map_or(&[][..], |column| &column.marks).iter();
            group.each_slot(|pointer| {
                // SAFETY: slots live as long as the world.
                let head = unsafe { pointer.as_ref() };
                let generation = marks.next().map_or(0, |mark| mark.generation);
                let (state, now) = (head.state.get(), head.generation.get());
                if now == generation {
                    if state.phase() == Phase::Failed && state.number() == 0 {
                        failed.get_or_insert(pointer);
                    }
                    return;
                }
                if head.is_alive() {
                    younger.push(Living { head: pointer, generation: now });
                }
                let stream = Living { head: pointer, generation };
                if generation != 0 && self.is_aside(stream) {
                    aside.push(stream);
                } else if generation != 0 {
                    removed += 1;
                }
            });
        }
        match failed {
            Some(failed) => Err(Refusal::Failed(failed)),
            None if removed > 0 => Err(Refusal::Removed(removed)),
            None => Ok((aside, younger)),
        }
    }

    /// Brings back a stream that was laid aside, without a value.
    fn bring_back(&self, stream: Living) {
        if !self.is_aside(stream) {
            return;
        }
        // SAFETY: slots live as long as the world.
        let head = unsafe { stream.head.as_ref() };
        let has_future = head.state.get().number() & vacant::HAS_FUTURE != 0;
        head.generation.set(stream.generation);
        head.state.set(StateWord::new(if has_future { Phase::Settled } else { Phase::Ended }, 0));
    }

    /// Ends the runs of bodies that are run anew and wait over frames.
    fn rest_all(&self) {
        let restless = self.restless.borrow().iter().copied().collect::<Vec<_>>();
        let mut restless =
            restless.into_iter().map(|pointer| (self.place(pointer), pointer)).collect::<Vec<_>>();
        restless.sort_unstable_by_key(|(place, _)| *place);
        for (_, pointer) in restless {
            // SAFETY: slots live as long as the world.
            let (group, head) = unsafe { (Group::of(pointer), pointer.as_ref()) };
            // The drop of the run before may have removed it.
            if head.is_alive() && !group.key.is_cosmetic && head.phase() != Phase::Ended {
                // SAFETY: it is alive, has a future, and no frame is under way.
                self.guarded(|| unsafe { group.rest(pointer) });
                self.end_loosely(pointer);
            }
        }
    }
}
