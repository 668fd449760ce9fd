//! Graphs that are written as bindings.

/// Computes several values that use each other, as far as possible at the same time: a [`Dag`](crate::Dag) that reads like
/// bindings.
///
/// Each binding gives a value a name. One that uses others names them between bars, like the parameters of a closure, and has
/// references to them. At the end, in parentheses, are the names of those values that are wanted: of one, which is what the
/// macro gives then, or of several, of which it gives a tuple.
///
/// ```
/// let (a, b) = (3, 4);
/// let (sum, hypotenuse) = lisle::par::dag! {
///     let aa = a * a;
///     let bb = b * b;
///     let sum = |aa, bb| aa + bb;
///     let hypotenuse = |sum| f64::from(*sum).sqrt();
///     (sum, hypotenuse)
/// };
/// assert_eq!((sum, hypotenuse), (25, 5.0));
/// ```
///
/// It is meant for values that take a while. The product of two matrices of 2 × 2 blocks has eight products of blocks, all at
/// the same time, and four sums, each as soon as its two products are there:
///
/// ```
#[doc = include_str!("../../examples/block_matrix.rs")]
/// ```
///
/// Before the semicolon one may say what a value costs. Otherwise it is measured, for the next time that the same code runs on
/// the thread; until then it is taken to be worth sharing:
///
/// ```
/// use std::time::Duration;
///
/// let answer = lisle::par::dag! {
///     let six = 6, cost Duration::from_nanos(1);
///     let answer = |six| six * 7, cost Duration::from_nanos(1);
///     (answer)
/// };
/// assert_eq!(answer, 42);
/// ```
///
/// A value that is used without being named between the bars is not there:
///
/// ```compile_fail,E0369
/// lisle::par::dag! {
///     let a = 1;
///     let b = |a| a + 1;
///     let c = |b| a + b;
///     (c)
/// };
/// ```
///
/// and one can only use what comes before:
///
/// ```compile_fail,E0425
/// lisle::par::dag! {
///     let a = |b| b + 1;
///     let b = |a| a + 1;
///     (b)
/// };
/// ```
///
/// # Panics
///
/// As [`Dag::run`](crate::Dag::run): with the panic of the first of the values that could not be computed.
#[macro_export]
macro_rules! dag {
    (@add $dag:ident; ($wanted:ident)) => {
        $dag.run().take($wanted)
    };
    (@add $dag:ident; ($($wanted:ident),* $(,)?)) => {{
        let results = $dag.run();
        ($(results.take($wanted),)*)
    }};
    (@add $dag:ident; let $name:ident = |$($used:ident),+ $(,)?| $value:expr $(, cost $cost:expr)?; $($rest:tt)+) => {{
        let $name = $dag.spark(($(&$used,)+), |($($used,)+)| $value);
        $($dag.cost(&$name, $cost);)?
        $crate::dag!(@add $dag; $($rest)+)
    }};
    (@add $dag:ident; let $name:ident = $value:expr $(, cost $cost:expr)?; $($rest:tt)+) => {{
        let $name = $dag.spark((), |()| $value);
        $($dag.cost(&$name, $cost);)?
        $crate::dag!(@add $dag; $($rest)+)
    }};
    (let $($rest:tt)+) => {{
        let mut graph = $crate::Dag::new();
        $crate::dag!(@add graph; let $($rest)+)
    }};
}
