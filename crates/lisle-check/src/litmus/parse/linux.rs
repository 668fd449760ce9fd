//! The atomic operations of Linux, and locks.
//!
//! Linux has a memory model of its own, which is not here; see `Test::own_model`. Each word stands
//! for the kernel's code on the processors whose models are here, or for an operation of C. Words
//! without such an operation are refused under `rc11`, and so is all of RCU.
//!
//! `spin_lock` is a successful compare and exchange, which acquires; `spin_unlock` is a store that
//! releases. An execution in which a thread waits for a lock for ever does not count.

use super::c::Function;
use crate::litmus::error::{ParseError, SourcePosition};
use crate::litmus::program::expression::Expression;
use crate::litmus::program::{CompareExchange, Fence, Instruction, Operand, Order, Update};

/// The words that this module reads.
pub(super) const SUPPORTED: &str = "READ_ONCE, WRITE_ONCE, smp_load_acquire, smp_store_release, smp_mb, smp_rmb, \
    smp_wmb, xchg, xchg_{relaxed, acquire, release}, cmpxchg_{relaxed, acquire, release}, atomic_read, atomic_set, \
    spin_lock, spin_unlock";

impl Function<'_, '_> {
    /// Reads `WRITE_ONCE(*x, 1);` and the like, which have no value. Returns `false` for other words.
    pub(super) fn linux_action(&mut self, name: &str) -> Result<bool, ParseError> {
        let position = self.cursor.position();
        match name {
            "WRITE_ONCE" => {
                self.linux_word(position)?;
                let address = self.object()?;
                self.linux_store(position, address, Order::Relaxed)?;
            }
            "smp_store_release" | "atomic_set" => {
                self.linux_word(position)?;
                let address = self.expression()?;
                let order = if name == "atomic_set" { Order::Relaxed } else { Order::Release };
                self.linux_store(position, address, order)?;
            }
            "smp_mb" | "smp_rmb" | "smp_wmb" => {
                self.linux_word(position)?;
                let fence = match name {
                    "smp_mb" => Fence::Thread(Order::SequentiallyConsistent),
                    "smp_rmb" => Fence::Loads,
                    _ => Fence::Stores,
                };
                self.thread.push(position, Instruction::Fence(fence));
            }
            "spin_lock" | "spin_unlock" => {
                self.cursor.take();
                self.cursor.symbol("(")?;
                let address = self.expression()?;
                if name == "spin_lock" {
                    self.take_lock(position, address);
                } else {
                    let (value, order) = (Expression::Constant(0), Order::Release);
                    self.thread.push(position, Instruction::Store { address, size: 0, value, order });
                }
            }
            _ => return Ok(false),
        }
        self.cursor.symbol(")")?;
        Ok(true)
    }

    /// Reads `READ_ONCE(*x)` and the like. Returns `None` for other words.
    pub(super) fn linux_value(
        &mut self,
        name: &str,
        position: SourcePosition,
    ) -> Result<Option<Operand>, ParseError> {
        let (base, order) = match name.rsplit_once('_') {
            Some((base, "relaxed")) => (base, Order::Relaxed),
            Some((base, "acquire")) => (base, Order::Acquire),
            Some((base, "release")) => (base, Order::Release),
            _ => (name, Order::SequentiallyConsistent),
        };
        let value = match (name, base) {
            ("READ_ONCE", _) => {
                self.linux_word(position)?;
                let address = self.object()?;
                self.load(position, address, Order::Relaxed)
            }
            ("smp_load_acquire" | "atomic_read", _) => {
                self.linux_word(position)?;
                let address = self.expression()?;
                let order = if name == "atomic_read" { Order::Relaxed } else { Order::Acquire };
                self.load(position, address, order)
            }
            (_, "xchg") => {
                self.linux_word(position)?;
                let address = self.expression()?;
                self.cursor.symbol(",")?;
                let operand = self.expression()?;
                // Without a suffix it is between two fences.
                let whole = order == Order::SequentiallyConsistent;
                let order = if whole { Order::Relaxed } else { order };
                let old = self.thread.temporary();
                let fence = Instruction::Fence(Fence::Thread(Order::SequentiallyConsistent));
                if whole {
                    self.thread.push(position, fence.clone());
                }
                let update = Update { old: Some(old), address, size: 0, operator: None, operand, order };
                self.thread.push(position, Instruction::Update(update));
                if whole {
                    self.thread.push(position, fence);
                }
                Expression::Leaf(old)
            }
            (_, "cmpxchg") if order != Order::SequentiallyConsistent => {
                self.linux_word(position)?;
                let address = self.expression()?;
                self.cursor.symbol(",")?;
                let expected = self.expression()?;
                self.cursor.symbol(",")?;
                let desired = self.expression()?;
                let (old, made) = (self.thread.temporary(), self.thread.temporary());
                let exchange = CompareExchange {
                    old: Some(old),
                    made,
                    address,
                    size: 0,
                    expected,
                    desired,
                    order,
                    failure: Order::Relaxed,
                    weak: false,
                    keeps: false,
                };
                self.thread.push(position, Instruction::CompareExchange(exchange));
                Expression::Leaf(old)
            }
            _ => return Ok(None),
        };
        self.cursor.symbol(")")?;
        Ok(Some(value))
    }

    /// Takes the word and `(`.
    fn linux_word(&mut self, position: SourcePosition) -> Result<(), ParseError> {
        self.linux.get_or_insert(position);
        self.cursor.take();
        self.cursor.symbol("(")
    }

    /// Reads `*x`, and returns the address of `x`.
    fn object(&mut self) -> Result<Operand, ParseError> {
        self.cursor.symbol("*")?;
        self.unary()
    }

    fn linux_store(
        &mut self,
        position: SourcePosition,
        address: Operand,
        order: Order,
    ) -> Result<(), ParseError> {
        self.cursor.symbol(",")?;
        let value = self.expression()?;
        self.thread.push(position, Instruction::Store { address, size: 0, value, order });
        Ok(())
    }

    fn take_lock(&mut self, position: SourcePosition, address: Operand) {
        let (old, made) = (self.thread.temporary(), self.thread.temporary());
        let exchange = CompareExchange {
            // A load whose value goes nowhere would order nothing.
            old: Some(old),
            made,
            address,
            size: 0,
            expected: Expression::Constant(0),
            desired: Expression::Constant(1),
            order: Order::Acquire,
            failure: Order::Relaxed,
            weak: false,
            keeps: false,
        };
        self.thread.push(position, Instruction::CompareExchange(exchange));
        self.thread.push(position, Instruction::Require { condition: Expression::Leaf(made) });
    }
}
