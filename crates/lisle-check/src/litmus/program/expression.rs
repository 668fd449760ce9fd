//! Integer expressions, over registers in a program and over reads in an execution.
//!
//! A candidate execution is built before the results of its reads are known. So a thread runs with
//! symbols in place of values: a stored value is an expression over the reads before it. It is
//! evaluated once these reads have their sources.
//!
//! Invariant: an expression whose value does not depend on its leaves (`r ^ r`, with which tests
//! make dependencies) is a constant. The dependencies of its text are recorded beside it, as a
//! taint, since the models of processors need them.

use std::ops::Not;

/// An operator with two operands. Comparisons give 1 or 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    /// The sum, which wraps around at 64 bits, as the difference and the product do.
    Add,
    /// The difference.
    Subtract,
    /// The product.
    Multiply,
    /// The bits that are in both.
    And,
    /// The bits that are in one of both.
    Or,
    /// The bits that are in exactly one.
    Xor,
    /// The bits of the first that are not in the second.
    AndNot,
    /// The first shifted left by the second.
    ShiftLeft,
    /// The first shifted right by the second, with copies of its sign.
    ShiftRight,
    /// The first shifted right by the second, with zeros.
    ShiftRightZero,
    /// Whether both are the same.
    Equal,
    /// Whether they differ.
    NotEqual,
    /// Whether the first is less, as signed numbers.
    Less,
    /// Whether the first is less or the same, as signed numbers.
    LessOrEqual,
    /// Whether the first is less, as unsigned numbers.
    Below,
}

impl Operator {
    fn apply(self, left: i64, right: i64) -> i64 {
        match self {
            Operator::Add => left.wrapping_add(right),
            Operator::Subtract => left.wrapping_sub(right),
            Operator::Multiply => left.wrapping_mul(right),
            Operator::And => left & right,
            Operator::Or => left | right,
            Operator::Xor => left ^ right,
            Operator::AndNot => left & right.not(),
            Operator::ShiftLeft => left.wrapping_shl(right as u32),
            Operator::ShiftRight => left.wrapping_shr(right as u32),
            Operator::ShiftRightZero => (left as u64).wrapping_shr(right as u32) as i64,
            Operator::Equal => i64::from(left == right),
            Operator::NotEqual => i64::from(left != right),
            Operator::Less => i64::from(left < right),
            Operator::LessOrEqual => i64::from(left <= right),
            Operator::Below => i64::from((left as u64) < right as u64),
        }
    }

    /// The value for two equal operands, where it is the same for all.
    fn of_equals(self) -> Option<i64> {
        match self {
            Operator::Subtract | Operator::Xor | Operator::AndNot => Some(0),
            Operator::NotEqual | Operator::Less | Operator::Below => Some(0),
            Operator::Equal | Operator::LessOrEqual => Some(1),
            Operator::Add
            | Operator::Multiply
            | Operator::And
            | Operator::Or
            | Operator::ShiftLeft
            | Operator::ShiftRight
            | Operator::ShiftRightZero => None,
        }
    }
}

/// How the lower bits become 64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extension {
    /// With copies of their sign.
    Signed,
    /// With zeros.
    Zero,
}

impl Extension {
    /// The lower `bits` of `value`, of which there are 1 to 64, as 64.
    pub(crate) fn apply(self, bits: u32, value: i64) -> i64 {
        let above = 64 - bits;
        match self {
            Extension::Signed => value << above >> above,
            Extension::Zero => ((value as u64) << above >> above) as i64,
        }
    }
}

/// An expression over `Leaf`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expression<Leaf> {
    /// A number, or the address of a location.
    Constant(i64),
    /// A value that the text does not give.
    Leaf(Leaf),
    /// An operator's value.
    Binary(Operator, Box<Expression<Leaf>>, Box<Expression<Leaf>>),
    /// As many of the lower bits, extended.
    Extend(Extension, u32, Box<Expression<Leaf>>),
}

impl<Leaf: Clone + PartialEq> Expression<Leaf> {
    /// `left operator right`, as a constant where it is one.
    pub(crate) fn binary(
        operator: Operator,
        left: Expression<Leaf>,
        right: Expression<Leaf>,
    ) -> Expression<Leaf> {
        use Expression::Constant;
        match (operator, left, right) {
            (_, Constant(left), Constant(right)) => Constant(operator.apply(left, right)),
            (Operator::And | Operator::Multiply, Constant(0), _) => Constant(0),
            (Operator::And | Operator::Multiply, _, Constant(0)) => Constant(0),
            (Operator::Add | Operator::Or | Operator::Xor, Constant(0), other) => other,
            (Operator::Add | Operator::Subtract | Operator::Or | Operator::Xor, other, Constant(0)) => other,
            (_, left, right) => match operator.of_equals().filter(|_| left == right) {
                Some(value) => Constant(value),
                None => Expression::Binary(operator, Box::new(left), Box::new(right)),
            },
        }
    }

    /// The lower `bits` of `inner`, extended.
    pub(crate) fn extend(extension: Extension, bits: u32, inner: Expression<Leaf>) -> Expression<Leaf> {
        match inner {
            _ if bits == 64 => inner,
            Expression::Constant(value) => Expression::Constant(extension.apply(bits, value)),
            // The inner extension does not change the lower bits.
            Expression::Extend(_, more, inner) if more >= bits => Expression::Extend(extension, bits, inner),
            inner => Expression::Extend(extension, bits, Box::new(inner)),
        }
    }

    /// The expression with each leaf replaced.
    pub(crate) fn replace<Other: Clone + PartialEq>(
        &self,
        leaf: &mut impl FnMut(&Leaf) -> Expression<Other>,
    ) -> Expression<Other> {
        match self {
            Expression::Constant(value) => Expression::Constant(*value),
            Expression::Leaf(inner) => leaf(inner),
            Expression::Binary(operator, left, right) => {
                let left = left.replace(leaf);
                Expression::binary(*operator, left, right.replace(leaf))
            }
            Expression::Extend(extension, bits, inner) => {
                Expression::extend(*extension, *bits, inner.replace(leaf))
            }
        }
    }

    /// The value, if the values of all leaves are known.
    pub(crate) fn evaluate(&self, leaf: &impl Fn(&Leaf) -> Option<i64>) -> Option<i64> {
        match self {
            Expression::Constant(value) => Some(*value),
            Expression::Leaf(inner) => leaf(inner),
            Expression::Binary(operator, left, right) => {
                Some(operator.apply(left.evaluate(leaf)?, right.evaluate(leaf)?))
            }
            Expression::Extend(extension, bits, inner) => Some(extension.apply(*bits, inner.evaluate(leaf)?)),
        }
    }

    /// The number of its operators, constants and leaves.
    pub(crate) fn size(&self) -> usize {
        match self {
            Expression::Constant(_) | Expression::Leaf(_) => 1,
            Expression::Binary(_, left, right) => 1 + left.size() + right.size(),
            Expression::Extend(_, _, inner) => 1 + inner.size(),
        }
    }

    /// Returns `true` if the value is 1 or 0 by its operator.
    pub(crate) fn is_truth(&self) -> bool {
        use Operator::{Below, Equal, Less, LessOrEqual, NotEqual};
        matches!(self, Expression::Binary(Equal | NotEqual | Less | LessOrEqual | Below, ..))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(name: char) -> Expression<char> {
        Expression::Leaf(name)
    }

    #[test]
    fn false_dependencies_are_constants() {
        for operator in [Operator::Xor, Operator::Subtract, Operator::AndNot, Operator::Less] {
            assert_eq!(Expression::binary(operator, leaf('r'), leaf('r')), Expression::Constant(0));
        }
        let masked = Expression::binary(Operator::And, leaf('r'), Expression::Constant(0));
        let address = Expression::binary(Operator::Add, Expression::Constant(64), masked);
        assert_eq!(address, Expression::Constant(64));
        let differs = Expression::binary(Operator::Xor, leaf('r'), leaf('s'));
        assert!(!matches!(differs, Expression::Constant(_)));
    }

    #[test]
    fn values() {
        let known = |name: &char| (*name == 'r').then_some(-1);
        let sum = Expression::binary(Operator::Add, leaf('r'), Expression::Constant(3));
        assert_eq!(sum.evaluate(&known), Some(2));
        assert_eq!(Expression::extend(Extension::Zero, 32, leaf('r')).evaluate(&known), Some(0xffff_ffff));
        let wrapped =
            Expression::extend(Extension::Signed, 32, Expression::extend(Extension::Zero, 32, leaf('r')));
        assert_eq!(wrapped.evaluate(&known), Some(-1));
        assert_eq!(Expression::binary(Operator::Less, leaf('s'), sum).evaluate(&known), None);
    }
}
