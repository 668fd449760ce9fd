//! Sorting numbers in memory.

use crate::{
    forms::{Numbers, checksum},
    job::Job,
    loops::{self, Loops},
    peers::{Lisle, Pool, Rayon, Serial},
    workload::{Case, Program, Unit, Workload, size},
};

const SIZE: &[crate::workload::Param] = &[size("numbers", 10_000_000, 200_000)];

pub(crate) static WORKLOAD: Workload = Workload {
    name: "sort",
    about: "random 64-bit numbers are sorted in place; as one that keeps the order of equals does it, and as one that does not",
    follows: "rayon's demo `quicksort`, and the sorts of its slices",
    unit: Unit::lower_is_better("ms"),
    units: &[],
    cases: &[Case::new("stable", SIZE), Case::new("unstable", SIZE)],
    programs: &[
        Program::here("serial", loops::on::<Sort, Serial>),
        Program::here("lisle", loops::on::<Sort, Lisle>),
        Program::here("rayon", loops::on::<Sort, Rayon>),
        Program::elsewhere("onetbb").only(|case| case.variant == "unstable").note("parallel_sort"),
        Program::elsewhere("openmp").note("libstdc++'s parallel mode"),
    ],
};

struct Sort {
    stable: bool,
    random: Vec<u64>,
    numbers: Vec<u64>,
}

impl Loops for Sort {
    fn input(job: &Job) -> Self {
        let mut numbers = Numbers::new(1);
        let mut next = || u64::from(numbers.next());
        let random: Vec<u64> = (0..job.param("numbers")).map(|_| next() << 32 | next()).collect();
        Sort { stable: job.variant == "stable", numbers: random.clone(), random }
    }

    fn reset(&mut self) {
        self.numbers.copy_from_slice(&self.random);
    }

    fn run<P: Pool>(&mut self) {
        if self.stable {
            P::sort(&mut self.numbers);
        } else {
            P::sort_unstable(&mut self.numbers);
        }
    }

    fn checksum(&self) -> u64 {
        assert!(self.numbers.is_sorted(), "the numbers are not sorted");
        checksum(self.numbers.iter().copied())
    }
}
