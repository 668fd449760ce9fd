//! A litmus test after reading: threads of a few instructions, the same for C and for each
//! processor.
//!
//! The languages differ in their text, not in their accesses to memory: each access is a load, a
//! store, or both in one step, with an order. So a reader (`super::parse`) translates its language
//! into these instructions, and all later modules know one language.
//!
//! Invariant: a register holds 64 bits. Narrower values of a language are extended explicitly.

pub(crate) mod expression;
pub(crate) mod memory;
pub(crate) mod path;
pub(crate) mod unfold;

use super::error::SourcePosition;
use expression::{Expression, Operator};
pub(crate) use memory::{Memory, Type};

/// The language of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Architecture {
    /// C11 and C++20.
    C,
    /// x86, 32 or 64 bits.
    X86,
    /// The 64-bit instructions of Armv8.
    AArch64,
}

impl std::fmt::Display for Architecture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Architecture::C => "C",
            Architecture::X86 => "X86",
            Architecture::AArch64 => "AArch64",
        })
    }
}

/// The order of an access or a fence of C. The instructions of the processors use the same words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Not atomic in C; an ordinary instruction of a processor.
    Plain,
    /// Atomic, without order.
    Relaxed,
    /// LDAPR: later accesses are ordered after it. It has no order with earlier accesses, not even
    /// with an STLR.
    AcquirePc,
    /// Later accesses are ordered after it; LDAR.
    Acquire,
    /// Earlier accesses are ordered before it; STLR.
    Release,
    /// Both.
    AcquireRelease,
    /// Both, and in one order for all threads.
    SequentiallyConsistent,
}

impl Order {
    /// Returns `true` if a load, or a fence, with this order acquires. LDAPR has its own way.
    pub(crate) fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::AcquireRelease | Order::SequentiallyConsistent)
    }

    /// Returns `true` if a store, or a fence, with this order releases.
    pub(crate) fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcquireRelease | Order::SequentiallyConsistent)
    }
}

/// The accesses that a fence orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fence {
    /// A fence of C.
    Thread(Order),
    /// Everything: MFENCE, DMB SY.
    Full,
    /// Loads before it with all after it: DMB LD.
    Loads,
    /// Stores before it with stores after it: DMB ST.
    Stores,
    /// Stores before it with all after it: DSB ST.
    StoresWithAll,
    /// ISB: later instructions are fetched after the branches before it are decided.
    Instructions,
    /// Nothing but the compiler.
    Compiler,
}

/// A register or a local variable of one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Register(pub(crate) usize);

/// An operand.
pub(crate) type Operand = Expression<Register>;

/// The number of bytes of an access. It is 0 in C, where an access has the bytes of the element at
/// its address.
pub(crate) type Size = usize;

/// An instruction that loads and stores in one step.
#[derive(Debug, Clone)]
pub(crate) struct Update {
    /// The register for the old value. Without it the load orders nothing (as SWP with XZR).
    pub(crate) old: Option<Register>,
    pub(crate) address: Operand,
    pub(crate) size: Size,
    /// Combines the old value with the operand; without it the operand takes its place.
    pub(crate) operator: Option<Operator>,
    pub(crate) operand: Operand,
    pub(crate) order: Order,
}

/// A compare and exchange.
#[derive(Debug, Clone)]
pub(crate) struct CompareExchange {
    /// The register for the old value. Without it the load orders nothing (as CAS with XZR).
    pub(crate) old: Option<Register>,
    /// Where 1 goes if the exchange was made, 0 if not.
    pub(crate) made: Register,
    pub(crate) address: Operand,
    pub(crate) size: Size,
    pub(crate) expected: Operand,
    pub(crate) desired: Operand,
    pub(crate) order: Order,
    /// The order of the load if the exchange is not made.
    pub(crate) failure: Order,
    /// Whether it may fail although the values are the same.
    pub(crate) weak: bool,
    /// Whether a successful exchange may leave the register of the expected value as it is, with
    /// its old dependencies (CAS of Armv8).
    pub(crate) keeps: bool,
}

/// One step of a thread.
#[derive(Debug, Clone)]
pub(crate) enum Instruction {
    /// Computes.
    Set { target: Register, value: Operand },
    /// Takes the first value if the condition is not 0, else the second.
    Select { target: Register, condition: Operand, values: [Operand; 2] },
    /// Reads memory. An exclusive load begins a pair that an exclusive store ends.
    Load { target: Register, address: Operand, size: Size, order: Order, exclusive: bool },
    /// Writes memory.
    Store { address: Operand, size: Size, value: Operand, order: Order },
    /// Writes if nobody wrote there since the exclusive load before it, and puts 0 into `status`;
    /// or fails, which it always may, and puts 1 there.
    StoreExclusive { status: Register, address: Operand, size: Size, value: Operand, order: Order },
    /// Reads and writes in one step.
    Update(Update),
    /// Reads, compares, and writes if equal.
    CompareExchange(CompareExchange),
    /// Orders the accesses around it.
    Fence(Fence),
    /// Goes on only if the condition is not 0. Otherwise the thread waits for ever, and there is no
    /// such execution.
    Require { condition: Operand },
    /// Goes on elsewhere if the condition is not 0.
    Branch { condition: Operand, target: usize },
}

/// An instruction and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) instruction: Instruction,
    pub(crate) position: SourcePosition,
}

/// One thread.
#[derive(Debug, Clone, Default)]
pub(crate) struct Thread {
    /// The names of its registers; temporaries have none that a test could write.
    pub(crate) registers: Vec<String>,
    /// The values of registers at the start; the others are 0.
    pub(crate) initial: Vec<(Register, i64)>,
    pub(crate) code: Vec<Line>,
}

impl Thread {
    /// The register called `name`, which is added if it is new.
    pub(crate) fn register(&mut self, name: &str) -> Register {
        self.known(name).unwrap_or_else(|| {
            self.registers.push(name.to_owned());
            Register(self.registers.len() - 1)
        })
    }

    /// The register called `name`, if there is one.
    pub(crate) fn known(&self, name: &str) -> Option<Register> {
        self.registers.iter().position(|known| known == name).map(Register)
    }

    /// A register that no test can name.
    pub(crate) fn temporary(&mut self) -> Register {
        self.registers.push(String::new());
        Register(self.registers.len() - 1)
    }

    /// Adds an instruction.
    pub(crate) fn push(&mut self, position: SourcePosition, instruction: Instruction) {
        self.code.push(Line { instruction, position });
    }
}
