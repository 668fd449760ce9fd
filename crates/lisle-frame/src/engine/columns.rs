//! The values of a group's streams in a snapshot: a column for each group, in the order of its
//! slots.

use super::Core;
use super::group::{Group, value_of};
use super::slot::{Head, Phase, StateWord};
use std::any::Any;
use std::ptr::NonNull;

/// The record of a slot in a snapshot.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    /// The generation of the stream, or 0 if the snapshot has no stream of this slot.
    pub(super) generation: u32,
    pub(super) state: StateWord,
}

/// The streams of a group with their states and values.
pub(super) struct Column {
    pub(super) marks: Vec<Mark>,
    pub(super) values: Values,
}

/// A vector of the values of the streams that have one, in the order of their slots.
pub(super) struct Values {
    all: Box<dyn Any>,
    clear: fn(&mut dyn Any),
}

impl Column {
    pub(super) fn none() -> Column {
        Column { marks: Vec::new(), values: Values::none() }
    }

    /// Drops the values, and forgets the marks. Only memory remains.
    pub(super) fn clear(&mut self) {
        (self.values.clear)(&mut *self.values.all);
        self.marks.clear();
    }
}

impl Values {
    fn none() -> Values {
        Values { all: Box::new(()), clear: |_| () }
    }

    fn of<T: 'static>(values: Vec<T>) -> Values {
        let clear = |values: &mut dyn Any| {
            if let Some(values) = values.downcast_mut::<Vec<T>>() {
                values.clear();
            }
        };
        Values { all: Box::new(values), clear }
    }
}

/// The number of the snapshot's frame, and the number of the last frame. After `restore`, the last
/// frame counts as the snapshot's frame.
#[derive(Clone, Copy)]
pub(super) struct Epochs {
    pub(super) then: u32,
    pub(super) now: u32,
}

impl Epochs {
    /// Returns the state that a state of the snapshot becomes now.
    fn translate(self, state: StateWord) -> StateWord {
        let number = if state.number() == self.then { self.now } else { 0 };
        StateWord::new(state.phase(), number).with_value(state)
    }
}

impl Group {
    /// Makes a mark for each slot. Otherwise returns a stream that has more state than its value.
    pub(super) fn mark_all(&self, core: &Core, marks: &mut Vec<Mark>) -> Result<(), NonNull<Head>> {
        let mut restless = None;
        marks.reserve_exact(self.used());
        self.each_slot(|pointer| {
            // SAFETY: slots live as long as the world.
            let head = unsafe { pointer.as_ref() };
            let state = head.state.get();
            let generation = if head.is_alive() { head.generation.get() } else { 0 };
            let is_at_rest = match state.phase() {
                Phase::Ended => true,
                Phase::Settled | Phase::Fresh => core.rests(self, pointer),
                _ => false,
            };
            if generation != 0 && !is_at_rest {
                restless.get_or_insert(pointer);
            }
            marks.push(Mark { generation, state });
        });
        restless.map_or(Ok(()), Err)
    }

    /// Calls a function for each slot of which a snapshot has a stream.
    pub(super) fn each_marked(&self, marks: &[Mark], mut f: impl FnMut(NonNull<Head>, Mark)) {
        let mut marks = marks.iter();
        self.each_slot(|pointer| {
            if let Some(mark) = marks.next()
                && mark.generation != 0
            {
                f(pointer, *mark);
            }
        });
    }
}

/// Clones the values of the streams that are marked.
///
/// # Safety
///
/// The values of the group are of this type. Each stream that is marked with a value has one, which
/// is not changed meanwhile.
pub(super) unsafe fn clone_values<T: Clone + 'static>(group: &Group, column: &mut Column) {
    let with_value = column.marks.iter().filter(|mark| mark.generation != 0 && mark.state.has_value());
    let count = with_value.count();
    if !column.values.all.is::<Vec<T>>() {
        column.values = Values::of(Vec::<T>::new());
    }
    let values = column.values.all.downcast_mut::<Vec<T>>().expect("values are of the group's type");
    values.reserve_exact(count);
    group.each_marked(&column.marks, |pointer, mark| {
        if mark.state.has_value() {
            // SAFETY: by the caller's promise.
            values.push(unsafe { (*value_of::<T>(pointer)).clone() });
        }
    });
}

/// Sets the values and the states of streams back to the snapshot's. Passes over streams that are
/// gone.
///
/// # Safety
///
/// The values of the group are of this type; no code refers to them.
pub(super) unsafe fn go_back<T: Clone + 'static>(
    core: &Core,
    group: &Group,
    column: &Column,
    epochs: Epochs,
) {
    let values = column.values.all.downcast_ref::<Vec<T>>().expect("values are of the group's type");
    let mut values = values.iter();
    group.each_marked(&column.marks, |pointer, mark| {
        let value = if mark.state.has_value() { values.next().cloned() } else { None };
        // SAFETY: slots live as long as the world.
        let head = unsafe { pointer.as_ref() };
        // `clone` is the user's code, which may have removed the stream.
        if head.generation.get() != mark.generation {
            return;
        }
        let state = head.state.get();
        // SAFETY: the place holds a value if the state says so; nothing refers to it.
        let before = state.has_value().then(|| unsafe { value_of::<T>(pointer).read() });
        if let Some(value) = value {
            // SAFETY: the old value was read.
            unsafe { value_of::<T>(pointer).write(value) };
        }
        let then = epochs.translate(mark.state);
        // A stream that has ended has no future.
        let has_ended = state.phase() == Phase::Ended;
        head.state.set(if has_ended { StateWord::new(Phase::Ended, 0).with_value(then) } else { then });
        if state.phase() == Phase::Failed {
            core.forget_error(pointer);
        }
        // The destructor, which may remove the stream as well, comes last.
        drop(before);
    });
}
