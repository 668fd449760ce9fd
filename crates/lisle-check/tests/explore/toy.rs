//! A small language of concurrent programs, and its interpreter under a strategy.
//!
//! A program is a list of processes, each a list of instructions. A process that no instruction
//! spawns is there from the start. Each instruction is one step, but for the local ones.

use lisle_check::explore::{Decision, Ending, Kind, Object, Process, Strategy};

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// Reads the variable into the register.
    Read(usize),
    /// Writes this value to the variable.
    Write(usize, i64),
    /// Writes the register and one more to the variable.
    WriteRegister(usize),
    /// Adds to the variable, and learns nothing.
    Add(usize, i64),
    /// Leaves the group of all that ever leave it. The last one writes to a variable.
    Leave,
    /// Reads the variable into the register and adds one to it, in one step.
    Fetch(usize),
    /// Takes the lock.
    Lock(usize),
    /// Gives the lock back.
    Unlock(usize),
    /// Tries to take the lock. The register says whether that succeeded; an unlock of a lock that
    /// the process does not hold does nothing.
    Try(usize),
    /// Takes the read-write lock together with others.
    Share(usize),
    /// Gives the share back.
    Unshare(usize),
    /// Sends the register through the channel.
    Send(usize),
    /// Receives into the register.
    Receive(usize),
    /// Chooses one of this many values for the register, then reads the variable with that number.
    Choose(usize),
    /// Starts this process.
    Spawn(usize),
    /// Waits for the end of this process.
    Join(usize),
    /// Reads the variable whose number is in the register. While it is not zero, makes the register
    /// one less and does so again, each time in a step of its own.
    LastZero,
    /// Makes the register this value, as part of the step before.
    Set(i64),
}

/// A program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) processes: Vec<Vec<Op>>,
}

/// The observable state of an execution when it is over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Final {
    pub(crate) variables: Vec<i64>,
    pub(crate) registers: Vec<i64>,
    pub(crate) positions: Vec<usize>,
}

const VARIABLES: usize = 128;
/// The variable to which the last one of the group writes.
pub(crate) const LEFT: usize = 5;
const LOCKS: usize = 8;
const CHANNELS: usize = 4;

/// The state of a program that runs.
pub(crate) struct Machine {
    variables: [i64; VARIABLES],
    holders: [Option<usize>; LOCKS],
    shares: [Vec<usize>; LOCKS],
    channels: [std::collections::VecDeque<(i64, lisle_check::explore::Mark)>; CHANNELS],
    /// How many have not left the group.
    group: usize,
    registers: Vec<i64>,
    positions: Vec<usize>,
    started: Vec<bool>,
    runnable: Vec<Process>,
}

fn variable(index: usize) -> Object {
    Object(index as u64)
}

fn lock(index: usize) -> Object {
    Object((VARIABLES + index) as u64)
}

fn channel(index: usize) -> Object {
    Object((VARIABLES + LOCKS + index) as u64)
}

const GROUP: Object = Object((VARIABLES + LOCKS + CHANNELS) as u64);

impl Machine {
    pub(crate) fn new() -> Self {
        Machine {
            variables: [0; VARIABLES],
            holders: [None; LOCKS],
            shares: Default::default(),
            channels: Default::default(),
            group: 0,
            registers: Vec::new(),
            positions: Vec::new(),
            started: Vec::new(),
            runnable: Vec::new(),
        }
    }

    /// Runs the program once. The strategy has begun the execution; it is ended here.
    pub(crate) fn run(&mut self, program: &Program, strategy: &mut dyn Strategy) -> Ending {
        let count = program.processes.len();
        self.variables.fill(0);
        self.holders.fill(None);
        self.shares.iter_mut().for_each(Vec::clear);
        self.channels.iter_mut().for_each(|channel| channel.clear());
        self.group = program.processes.iter().flatten().filter(|op| **op == Op::Leave).count();
        self.registers.clear();
        self.registers.resize(count, 0);
        self.positions.clear();
        self.positions.resize(count, 0);
        let spawned = |p| program.processes.iter().flatten().any(|op| *op == Op::Spawn(p));
        self.started.clear();
        self.started.extend((0..count).map(|p| !spawned(p)));
        for p in 0..count {
            self.settle(program, p);
        }
        let mut running = None;
        let ending = loop {
            self.runnable.clear();
            for p in 0..count {
                if self.can_run(program, p) {
                    self.runnable.push(Process(p as u32));
                }
            }
            if self.runnable.is_empty() {
                let left = (0..count).filter(|&p| self.positions[p] < program.processes[p].len());
                let mut ending = Ending::Complete;
                for p in left {
                    ending = Ending::Blocked;
                    self.report_waiting(program, p, strategy);
                }
                break ending;
            }
            match strategy.next(running, &self.runnable) {
                Decision::Stop => break Ending::Stopped,
                Decision::Run(process) => {
                    running = Some(process);
                    self.step(program, process.index(), strategy);
                }
            }
        };
        strategy.end(ending);
        ending
    }

    pub(crate) fn seen(&self) -> Final {
        Final {
            variables: self.variables[..24].to_vec(),
            registers: self.registers.clone(),
            positions: self.positions.clone(),
        }
    }

    fn can_run(&self, program: &Program, p: usize) -> bool {
        if !self.started[p] {
            return false;
        }
        match program.processes[p].get(self.positions[p]) {
            None => false,
            Some(&Op::Lock(l)) => self.holders[l].is_none() && self.shares[l].is_empty(),
            Some(&Op::Share(l)) => self.holders[l].is_none(),
            Some(&Op::Receive(c)) => !self.channels[c].is_empty(),
            Some(&Op::Join(q)) => self.started[q] && self.positions[q] == program.processes[q].len(),
            Some(_) => true,
        }
    }

    fn report_waiting(&self, program: &Program, p: usize, strategy: &mut dyn Strategy) {
        let process = Process(p as u32);
        if !self.started[p] {
            return;
        }
        match program.processes[p][self.positions[p]] {
            Op::Lock(l) => strategy.waits(process, lock(l), Kind::Acquire),
            Op::Share(l) => strategy.waits(process, lock(l), Kind::Share),
            Op::Receive(c) => strategy.waits(process, channel(c), Kind::Front),
            _ => {}
        }
    }

    fn step(&mut self, program: &Program, p: usize, strategy: &mut dyn Strategy) {
        let code = &program.processes[p];
        let op = code[self.positions[p]];
        self.positions[p] += 1;
        match op {
            Op::Read(v) => {
                strategy.access(variable(v), Kind::Read);
                self.registers[p] = self.variables[v];
            }
            Op::Write(v, value) => {
                strategy.access(variable(v), Kind::Write);
                self.variables[v] = value;
            }
            Op::WriteRegister(v) => {
                strategy.access(variable(v), Kind::Write);
                self.variables[v] = self.registers[p] + 1;
            }
            Op::Add(v, value) => {
                strategy.access(variable(v), Kind::Add);
                self.variables[v] += value;
            }
            Op::Leave => {
                self.group -= 1;
                let kinds = [Kind::Update, Kind::AddNearZero, Kind::Add];
                strategy.access(GROUP, kinds[self.group.min(2)]);
                if self.group == 0 {
                    strategy.access(variable(LEFT), Kind::Write);
                    self.variables[LEFT] += 1;
                }
            }
            Op::Fetch(v) => {
                strategy.access(variable(v), Kind::Update);
                self.registers[p] = self.variables[v];
                self.variables[v] += 1;
            }
            Op::Lock(l) => {
                strategy.access(lock(l), Kind::Acquire);
                self.holders[l] = Some(p);
            }
            Op::Unlock(l) => {
                if self.holders[l] == Some(p) {
                    strategy.access(lock(l), Kind::Release);
                    self.holders[l] = None;
                }
            }
            Op::Try(l) => {
                let free = self.holders[l].is_none() && self.shares[l].is_empty();
                strategy.access(lock(l), if free { Kind::Update } else { Kind::Read });
                self.registers[p] = free as i64;
                if free {
                    self.holders[l] = Some(p);
                }
            }
            Op::Share(l) => {
                strategy.access(lock(l), Kind::Share);
                self.shares[l].push(p);
            }
            Op::Unshare(l) => {
                strategy.access(lock(l), Kind::Unshare);
                let place = self.shares[l].iter().position(|&other| other == p);
                self.shares[l].remove(place.expect("it has a share"));
            }
            Op::Send(c) => {
                strategy.access(channel(c), Kind::Back);
                let mark = strategy.mark();
                self.channels[c].push_back((self.registers[p], mark));
            }
            Op::Receive(c) => {
                strategy.access(channel(c), Kind::Front);
                let (value, mark) = self.channels[c].pop_front().expect("it can run");
                strategy.follows(mark);
                self.registers[p] = value;
            }
            Op::Choose(ways) => {
                let way = strategy.choose(Process(p as u32), ways as u32) as usize;
                strategy.access(variable(way), Kind::Read);
                self.registers[p] = self.variables[way] * 10 + way as i64;
            }
            Op::Spawn(q) => {
                self.started[q] = true;
                strategy.enables(Process(q as u32));
            }
            Op::Join(q) => strategy.after(Process(q as u32)),
            Op::LastZero => {
                let v = self.registers[p] as usize;
                strategy.access(variable(v), Kind::Read);
                if self.variables[v] != 0 {
                    self.registers[p] -= 1;
                    self.positions[p] -= 1;
                }
            }
            Op::Set(_) => unreachable!("a step does not begin with a local instruction"),
        }
        self.settle(program, p);
    }

    /// Runs the local instructions that come next.
    fn settle(&mut self, program: &Program, p: usize) {
        while let Some(&Op::Set(value)) = program.processes[p].get(self.positions[p]) {
            self.registers[p] = value;
            self.positions[p] += 1;
        }
    }
}
