//! A loop over structs that are written by hand, in a `Vec`: the work alone.

use super::{
    Job, Outcome, Plan, Run, of_size,
    plan::{Kind, begun, combined, step, sum},
};

/// A stream that steps. It does the same in each frame, so there is no need to say where it goes
/// on.
pub(super) struct Machine<const WORDS: usize> {
    state: [u64; WORDS],
    value: u64,
}

impl<const WORDS: usize> Machine<WORDS> {
    pub(super) fn new(first: u64) -> Self {
        Machine { state: begun(first), value: 0 }
    }

    pub(super) fn frame(&mut self) {
        self.value = step(&mut self.state);
    }

    pub(super) fn value(&self) -> u64 {
        self.value
    }
}

/// All streams. Streams that step are in one row, and streams that read in another, in the order of
/// their making.
pub(super) struct Plain<const WORDS: usize> {
    machines: Vec<Machine<WORDS>>,
    readers: Vec<Reader>,
    /// The values of the streams that are read, and of the streams that read.
    values: Vec<u64>,
    /// The place in `values` of each machine's value; empty if no stream is read.
    places: Vec<u32>,
}

struct Reader {
    others: [u32; 2],
    place: u32,
}

impl<const WORDS: usize> Plain<WORDS> {
    pub(super) fn new(plan: &Plan) -> Self {
        let (mut machines, mut readers, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for (place, kind) in (0..).zip(&plan.kinds) {
            match *kind {
                Kind::Steps(first) => {
                    machines.push(Machine::new(first));
                    places.push(place);
                }
                Kind::Reads(a, b) => readers.push(Reader { others: [a, b], place }),
            }
        }
        if readers.is_empty() {
            places.clear();
        }
        let mut plain = Plain { machines, values: vec![0; plan.kinds.len()], readers, places };
        plain.make_again(&plan.again);
        plain
    }

    /// Removes each and makes it again, in this order. The last takes the place of one that is
    /// removed.
    fn make_again(&mut self, order: &[u32]) {
        let mut place_of: Vec<u32> = (0..order.len() as u32).collect();
        let mut stream_at = place_of.clone();
        for &stream in order {
            let place = place_of[stream as usize] as usize;
            let machine = self.machines.swap_remove(place);
            self.machines.push(machine);
            stream_at.swap_remove(place);
            stream_at.push(stream);
            place_of[stream_at[place] as usize] = place as u32;
            place_of[stream as usize] = stream_at.len() as u32 - 1;
        }
    }

    pub(super) fn frame(&mut self) {
        self.machines.iter_mut().for_each(Machine::frame);
        for (machine, &place) in self.machines.iter().zip(&self.places) {
            self.values[place as usize] = machine.value;
        }
        for reader in &self.readers {
            let [a, b] = reader.others.map(|other| self.values[other as usize]);
            self.values[reader.place as usize] = combined(a, b);
        }
    }

    pub(super) fn sum(&self) -> u64 {
        let steps = self.machines.iter().map(Machine::value);
        let reads = self.readers.iter().map(|reader| self.values[reader.place as usize]);
        sum(steps.chain(reads))
    }
}

pub(super) fn plain(job: &Job) -> Outcome {
    of_size!(job, of_words)
}

fn of_words<const WORDS: usize>(job: &Job) -> Outcome {
    let plan = Plan::new(job);
    Run::<WORDS>::new(job, &plan).measure(Plain::<WORDS>::new(&plan), Plain::frame, |plain| plain.sum())
}
