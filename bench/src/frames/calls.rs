//! The calls of a frame, as Dew's own benchmark has them: each works on a chunk of memory, by a
//! function of the game's engine.

use super::Frames;
use crate::{
    forms::checksum,
    job::{Job, Outcome, timed},
};
use std::{
    alloc::{Layout, alloc, dealloc, handle_alloc_error},
    hint::black_box,
    slice,
    time::Duration,
};

/// A function of the engine, as C has it. It returns the chunk that it is given.
type Function = extern "C" fn(*mut i32, i32) -> *mut i32;

/// Nothing is done.
extern "C" fn none(chunk: *mut i32, _: i32) -> *mut i32 {
    chunk
}

/// A multiplication for each number of a chunk, and no access to memory. Each waits for the one
/// before: the exclusive or keeps compilers from making one of several.
extern "C" fn arith(chunk: *mut i32, size: i32) -> *mut i32 {
    black_box((1..=size).fold(size, |x, i| x.wrapping_mul(size) ^ i));
    chunk
}

/// Each number of the chunk is doubled.
extern "C" fn memory(chunk: *mut i32, size: i32) -> *mut i32 {
    // SAFETY: the caller has the chunk for itself, and it has `size` numbers.
    let numbers = unsafe { slice::from_raw_parts_mut(chunk, size as usize) };
    numbers.iter_mut().for_each(|number| *number = number.wrapping_mul(2));
    chunk
}

/// Where the numbers of a stream are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk(*mut i32);

// SAFETY: only the call that has been given a chunk looks into it, and there is one at a time.
unsafe impl Send for Chunk {}
// SAFETY: as above. An address is a plain number.
unsafe impl Sync for Chunk {}

/// The work of each call.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    function: Function,
    size: i32,
    in_a_row: u32,
}

impl Call {
    fn new(job: &Job) -> Self {
        let function = match job.variant.as_str() {
            "none" => none,
            "arith" => arith,
            "memory" => memory as Function,
            variant => panic!("no variant `{variant}`"),
        };
        let size = i32::try_from(job.param("chunk")).expect("a size as C has it");
        let in_a_row = job.params.get("in-a-row").map_or(1, |&calls| calls as u32);
        // The compiler does not know it: an engine is a program of its own.
        Call { function: black_box(function), size, in_a_row }
    }

    /// Calls the function once.
    pub(crate) fn once(self, chunk: Chunk) -> Chunk {
        Chunk((self.function)(chunk.0, self.size))
    }

    /// Makes all calls that a stream makes in a frame.
    pub(crate) fn in_a_row(self, chunk: Chunk) -> Chunk {
        (0..self.in_a_row).fold(chunk, |chunk, _| self.once(chunk))
    }

    /// Returns how often the numbers are doubled in `frames` frames.
    fn doublings(self, frames: usize) -> u32 {
        if self.function as usize == memory as *const () as usize { frames as u32 * self.in_a_row } else { 0 }
    }
}

/// A stream: its chunk, and the result of its last call.
pub(crate) struct Stream {
    pub(crate) chunk: Chunk,
    pub(crate) value: Option<Chunk>,
}

/// Streams that call, and the times of their frames. The results of the frames are checked.
pub(crate) struct Calls {
    pub(crate) call: Call,
    pub(crate) streams: Vec<Stream>,
    frames: Frames,
    checksum: u64,
    /// The memory that the chunks point to.
    _memory: Vec<Memory>,
}

impl Calls {
    pub(crate) fn new(job: &Job) -> Self {
        let call = Call::new(job);
        let memory = (0..job.param("streams") as usize).map(|nth| Memory::new(nth, call.size as usize));
        let memory: Vec<Memory> = memory.collect();
        let streams =
            memory.iter().map(|memory| Stream { chunk: Chunk(memory.chunk), value: None }).collect();
        Calls { call, streams, frames: Frames::new(job), checksum: 0, _memory: memory }
    }

    /// Measures frames, in each of which `frame` makes all calls.
    pub(crate) fn measure(mut self, mut frame: impl FnMut(Call, &mut [Stream])) -> Outcome {
        while self.goes_on() {
            let took = timed(|| frame(self.call, &mut self.streams));
            self.note(took);
        }
        self.outcome()
    }

    /// Returns whether there is to be another frame.
    pub(crate) fn goes_on(&self) -> bool {
        self.frames.goes_on()
    }

    /// Returns whether the frame that is done now is the first, which is looked at when it is
    /// noted.
    pub(crate) fn is_first(&self) -> bool {
        self.frames.count() == 0
    }

    /// Keeps the values of the streams of a system that holds them elsewhere.
    pub(crate) fn have_given(&mut self, values: impl Iterator<Item = Chunk>) {
        self.streams.iter_mut().zip(values).for_each(|(stream, value)| stream.value = Some(value));
    }

    /// Keeps how long a frame took. Checks the results of the first frame, which is not counted.
    pub(crate) fn note(&mut self, took: Duration) {
        self.frames.note(took);
        if self.frames.count() == 1 {
            self.checksum = self.check();
        }
    }

    pub(crate) fn outcome(self) -> Outcome {
        self.check();
        Outcome { checksum: Some(self.checksum), ..self.frames.outcome() }
    }

    /// Has each stream called as often as there were frames? Returns a checksum of the last numbers
    /// of the chunks.
    fn check(&self) -> u64 {
        let factor = 1i32.checked_shl(self.call.doublings(self.frames.count())).unwrap_or(0);
        let last = self.streams.iter().enumerate().map(|(nth, stream)| {
            assert_eq!(stream.value, Some(stream.chunk), "the value of a stream");
            // SAFETY: it has this many numbers, and no call is under way.
            let numbers = unsafe { slice::from_raw_parts(stream.chunk.0, self.call.size as usize) };
            let is_right = |(i, &number): (usize, &i32)| number == at_first(nth, i).wrapping_mul(factor);
            assert!(numbers.iter().enumerate().all(is_right), "the numbers of a stream");
            u64::from(numbers[numbers.len() - 1] as u32)
        });
        checksum(last)
    }
}

/// The memory of a chunk, on cache lines of its own.
struct Memory {
    chunk: *mut i32,
    layout: Layout,
}

// SAFETY: it is a part of the heap.
unsafe impl Send for Memory {}

impl Memory {
    fn new(nth: usize, size: usize) -> Self {
        const LINE: usize = 64;
        assert!(size > 0, "a chunk has numbers");
        let numbers = Layout::array::<i32>(size).and_then(|numbers| numbers.align_to(LINE));
        let layout = numbers.expect("a chunk fits the memory").pad_to_align();
        // SAFETY: it has a size.
        let chunk: *mut i32 = unsafe { alloc(layout) }.cast();
        if chunk.is_null() {
            handle_alloc_error(layout);
        }
        for i in 0..size {
            // SAFETY: there is room for this many.
            unsafe { chunk.add(i).write(at_first(nth, i)) };
        }
        Memory { chunk, layout }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: it was allocated so.
        unsafe { dealloc(self.chunk.cast(), self.layout) };
    }
}

/// The value of a number before the first frame.
fn at_first(nth: usize, i: usize) -> i32 {
    nth.wrapping_add(i) as i32
}
