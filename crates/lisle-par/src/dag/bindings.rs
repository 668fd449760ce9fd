//! Graphs that are written as bindings.

/// Computes several values that use each other, as far as possible in parallel: a
/// [`Dag`](crate::dag::Dag) that reads like bindings.
///
/// Each binding gives a value a name. A binding that uses other values names them between bars,
/// like the parameters of a closure, and gets references to them. The names of the wanted values
/// are at the end, in parentheses. With one name, the macro returns that value; with several, it
/// returns a tuple.
///
/// ```
/// # use lisle_par::facade as lisle;
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
/// The macro is meant for values that take a while to compute. The product of two matrices of 2 × 2
/// blocks has eight products of blocks, all in parallel, and four sums, each as soon as its two
/// products are there:
///
/// ```
#[doc = include_str!("../../examples/block_matrix.rs")]
/// ```
///
/// A cost may be given before the semicolon. Otherwise the cost is measured, for the next time that
/// the same code runs on the thread; until then the value is assumed to be worth sharing:
///
/// ```
/// # use lisle_par::facade as lisle;
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
/// A value that is used without being named between the bars is not in scope:
///
/// ```compile_fail,E0369
/// # use lisle_par::facade as lisle;
/// lisle::par::dag! {
///     let a = 1;
///     let b = |a| a + 1;
///     let c = |b| a + b;
///     (c)
/// };
/// ```
///
/// A binding can use only what comes before it:
///
/// ```compile_fail,E0425
/// # use lisle_par::facade as lisle;
/// lisle::par::dag! {
///     let a = |b| b + 1;
///     let b = |a| a + 1;
///     (b)
/// };
/// ```
///
/// # Panics
///
/// Panics as [`Dag::run`](crate::dag::Dag::run) does: with the panic of the first of the values that
/// could not be computed.
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
        let mut graph = $crate::dag::Dag::new();
        $crate::dag!(@add graph; let $($rest)+)
    }};
}
