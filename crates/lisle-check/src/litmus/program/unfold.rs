//! Runs one thread by itself, with symbols for the results of its reads, along every path that its
//! branches allow.
//!
//! A branch on a known value goes one way. A branch on a symbol goes both ways, and each path notes
//! the condition under which it is taken; the search drops a path when its reads contradict it. So
//! a loop is unfolded. If its condition depends on the writes of other threads, it has no last
//! round, and is an error.

use super::expression::{Expression, Extension, Operator};
use super::path::{Event, Kind, Pair, Path, Symbol, Taint, Value};
use super::{CompareExchange, Fence, Instruction, Operand, Order, Register, Size, Thread, Update};
use crate::litmus::error::SourcePosition;
use crate::litmus::execution::relation::{EVENTS, Set};

/// The most backward jumps on one path.
const ROUNDS: usize = 64;

/// The most paths of one thread.
const PATHS: usize = 4096;

/// The most parts of the expression that a register holds.
const PARTS: usize = 4096;

/// The reason why a thread cannot be unfolded, with its position.
#[derive(Debug)]
pub(crate) struct Endless {
    pub(crate) position: SourcePosition,
    pub(crate) message: String,
    pub(crate) help: &'static str,
}

/// The paths of `thread`. `single` says that an update is one instruction, and not a pair of an
/// exclusive load and an exclusive store.
///
/// # Errors
///
/// If there are too many paths, rounds or events.
pub(crate) fn unfold(thread: &Thread, single: bool) -> Result<Vec<Path>, Endless> {
    let mut registers = vec![known(0); thread.registers.len()];
    for &(Register(register), value) in &thread.initial {
        registers[register].symbol = Expression::Constant(value);
    }
    let (path, control) = (Path::default(), Taint::default());
    let start = Run { next: 0, registers, path, control, exclusive: None, rounds: 0, single };
    let (mut open, mut paths) = (vec![start], Vec::new());
    while let Some(mut run) = open.pop() {
        let Some(line) = thread.code.get(run.next) else {
            run.path.registers = run.registers.into_iter().map(|value| value.symbol).collect();
            paths.push(run.path);
            continue;
        };
        let help = "a test has few steps: bound a loop by a counter, or unroll the rounds that matter";
        let endless = |message: String| Err(Endless { position: line.position, message, help });
        let set = match line.instruction {
            Instruction::Set { target, .. } => Some(target),
            _ => None,
        };
        if let Some(message) = run.refusal(&line.instruction) {
            let help = "let both have the same size";
            return Err(Endless { position: line.position, message: message.to_owned(), help });
        }
        run.step(&line.instruction, line.position, &mut open);
        if open.iter().any(|run| run.rounds > ROUNDS) {
            return endless(format!("this loop has no bound: it can go on for more than {ROUNDS} rounds"));
        } else if open.iter().any(|run| run.path.events.len() > EVENTS) {
            return endless(format!("more than {EVENTS} accesses and fences in one thread"));
        } else if set
            .zip(open.last())
            .is_some_and(|(Register(set), run)| run.registers[set].symbol.size() > PARTS)
        {
            return endless(format!(
                "the value of this has grown to more than {PARTS} operators and operands"
            ));
        } else if open.len() + paths.len() > PATHS {
            return endless(format!("more than {PATHS} paths through one thread"));
        }
    }
    Ok(paths)
}

/// A thread on its way.
#[derive(Debug, Clone)]
struct Run {
    next: usize,
    registers: Vec<Value>,
    path: Path,
    /// The dependencies of the branches so far.
    control: Taint,
    /// The exclusive load that an exclusive store would complete.
    exclusive: Option<usize>,
    rounds: usize,
    single: bool,
}

impl Run {
    /// The reason why the next instruction has no meaning here.
    fn refusal(&self, instruction: &Instruction) -> Option<&'static str> {
        let Instruction::StoreExclusive { size, .. } = instruction else { return None };
        let begun = &self.path.events[self.exclusive?];
        (begun.size != *size).then_some(
            "this exclusive store has another size than the exclusive load before it, which has no defined meaning",
        )
    }

    /// Executes one instruction and puts the ways on into `open`.
    fn step(mut self, instruction: &Instruction, position: SourcePosition, open: &mut Vec<Run>) {
        let this = self.next;
        self.next += 1;
        match instruction {
            Instruction::Set { target, value } => self.registers[target.0] = self.value(value),
            Instruction::Select { target, condition, values: [first, second] } => {
                let condition = self.value(condition);
                for (operand, truth) in [(first, true), (second, false)] {
                    let mut way = self.clone();
                    let Value { symbol, taint } = way.value(operand);
                    way.registers[target.0] = Value { symbol, taint: taint.or(condition.taint.guessed()) };
                    if way.require(condition.symbol.clone(), truth) {
                        open.push(way);
                    }
                }
                return;
            }
            Instruction::Load { target, address, size, order, exclusive } => {
                let address = self.value(address);
                let read = self.read(address, *size, *order, position);
                self.registers[target.0] = known_by(read);
                if *exclusive {
                    self.exclusive = Some(read);
                }
            }
            Instruction::Store { address, size, value, order } => {
                let (address, value) = (self.value(address), self.value(value));
                self.write((address, *size), value, *order, position);
            }
            Instruction::StoreExclusive { status, address, size, value, order } => {
                let (address, value) = (self.value(address), self.value(value));
                let begun = self.exclusive.take();
                let mut failed = self.clone();
                failed.registers[status.0] = known(1);
                open.push(failed);
                let Some(read) = begun else { return };
                let begun_at = self.path.events[read].address.clone();
                if !self.require(Expression::binary(Operator::Equal, begun_at, address.symbol.clone()), true)
                {
                    return;
                }
                let write = self.write((address, *size), value, *order, position);
                self.path.events[write].pair = Some(Pair { reads: 1 << read, single: false });
                self.registers[status.0] = known(0);
            }
            Instruction::Update(update) => self.update(update, position),
            Instruction::CompareExchange(exchange) => return self.exchange(exchange, position, open),
            Instruction::Fence(Fence::Compiler) => {}
            Instruction::Fence(fence) => {
                let nothing = known(0);
                self.event(Kind::Fence(*fence), Order::Plain, (nothing.clone(), 0), nothing, position);
            }
            Instruction::Require { condition } => {
                let condition = self.value(condition);
                self.control = self.control.or(condition.taint);
                if !self.require(condition.symbol, true) {
                    return;
                }
            }
            Instruction::Branch { condition, target } => {
                let condition = self.value(condition);
                self.control = self.control.or(condition.taint);
                let mut taken = self.clone();
                taken.next = *target;
                taken.rounds += usize::from(*target <= this);
                if self.require(condition.symbol.clone(), false) {
                    open.push(self);
                }
                if taken.require(condition.symbol, true) {
                    open.push(taken);
                }
                return;
            }
        }
        open.push(self);
    }

    fn update(&mut self, update: &Update, position: SourcePosition) {
        let address = self.value(&update.address);
        let operand = self.value(&update.operand);
        let read = self.read(address.clone(), update.size, update.order, position);
        let old = known_by(read);
        let value = match update.operator {
            None => operand,
            Some(operator) => Value {
                symbol: Expression::binary(operator, old.symbol.clone(), operand.symbol),
                taint: old.taint.or(operand.taint),
            },
        };
        self.pair(read, (address, update.size), value, update.order, position);
        self.path.events[read].unused = update.old.is_none();
        self.put(update.old, old);
    }

    fn exchange(mut self, exchange: &CompareExchange, position: SourcePosition, open: &mut Vec<Run>) {
        let address = self.value(&exchange.address);
        let (expected, mut desired) = (self.value(&exchange.expected), self.value(&exchange.desired));
        let read = self.read(address.clone(), exchange.size, exchange.failure, position);
        self.path.events[read].locked = true;
        self.path.events[read].unused = exchange.old.is_none();
        let (old, deciding) = (known_by(read), known_by(read).taint.or(expected.taint));
        self.registers[exchange.made.0] = Value { taint: deciding, ..known(0) };
        // In C both have the type of the location.
        let bits = if exchange.size == 0 { 64 } else { 8 * exchange.size as u32 };
        let compared = |symbol: &Symbol| Expression::extend(Extension::Zero, bits, symbol.clone());
        let same = Expression::binary(Operator::Equal, compared(&old.symbol), compared(&expected.symbol));
        let mut made = self.clone();
        if exchange.weak || self.require(same.clone(), false) {
            self.put(exchange.old, old.clone());
            open.push(self);
        }
        if made.require(same, true) {
            made.path.events[read].order = exchange.order;
            desired.taint = desired.taint.or(deciding.guessed());
            made.pair(read, (address, exchange.size), desired, exchange.order, position);
            made.registers[exchange.made.0].symbol = Expression::Constant(1);
            // The register has the expected value, so a processor need not wait for the old one.
            let guessed = old.taint.guessed();
            if exchange.keeps && expected.taint.certain != 0 {
                let mut kept = made.clone();
                kept.put(exchange.old, Value { taint: expected.taint.or(guessed), ..old.clone() });
                open.push(kept);
                made.put(exchange.old, old);
            } else {
                made.put(exchange.old, Value { taint: guessed, ..old });
            }
            open.push(made);
        }
    }

    fn put(&mut self, target: Option<Register>, value: Value) {
        if let Some(target) = target {
            self.registers[target.0] = value;
        }
    }

    /// Notes that the path is taken only if `condition` is `truth`. Returns `false` if that cannot
    /// be.
    fn require(&mut self, condition: Symbol, truth: bool) -> bool {
        match condition {
            Expression::Constant(value) => (value != 0) == truth,
            // A statement that is not so.
            Expression::Binary(Operator::Equal, inner, zero)
                if *zero == Expression::Constant(0) && inner.is_truth() =>
            {
                self.require(*inner, !truth)
            }
            _ if self.path.conditions.contains(&(condition.clone(), !truth)) => false,
            condition => {
                self.path.conditions.push((condition, truth));
                true
            }
        }
    }

    fn value(&self, operand: &Operand) -> Value {
        let mut taint = Taint::default();
        let symbol = operand.replace(&mut |register: &Register| {
            let value = &self.registers[register.0];
            taint = taint.or(value.taint);
            value.symbol.clone()
        });
        Value { symbol, taint }
    }

    fn read(&mut self, address: Value, size: Size, order: Order, position: SourcePosition) -> usize {
        let itself = known_by(self.path.events.len());
        let value = Value { taint: Taint::default(), ..itself };
        self.event(Kind::Read, order, (address, size), value, position)
    }

    fn write(&mut self, at: (Value, Size), value: Value, order: Order, position: SourcePosition) -> usize {
        self.event(Kind::Write, order, at, value, position)
    }

    /// The write that forms one step with `read`.
    fn pair(&mut self, read: usize, at: (Value, Size), value: Value, order: Order, position: SourcePosition) {
        let write = self.write(at, value, order, position);
        // A path with too many events is refused as soon as the step that made them ends.
        let reads = Set::checked_shl(1, read as u32).unwrap_or(0);
        self.path.events[write].pair = Some(Pair { reads, single: self.single });
        self.path.events[write].locked = true;
        self.path.events[read].locked = true;
    }

    fn event(
        &mut self,
        kind: Kind,
        order: Order,
        at: (Value, Size),
        value: Value,
        position: SourcePosition,
    ) -> usize {
        let (address, size) = at;
        let number = self.path.events.len();
        self.path.events.push(Event {
            kind,
            order,
            address: address.symbol,
            size,
            access: number,
            part: 0,
            whole: size,
            value: value.symbol,
            address_taint: address.taint,
            value_taint: value.taint,
            control: self.control,
            pair: None,
            locked: false,
            unused: false,
            position,
        });
        number
    }
}

/// A value that no read decides.
fn known(value: i64) -> Value {
    Value { symbol: Expression::Constant(value), taint: Taint::default() }
}

/// The value of a read.
fn known_by(read: usize) -> Value {
    Value { symbol: Expression::Leaf(read), taint: Taint::of(read) }
}
