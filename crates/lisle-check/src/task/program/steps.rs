//! Steps in a row, without closures within closures.

/// Makes one task or operation of several, written as a block.
///
/// Each step is an operation. `let name = operation;` names its value, `let (a, b) = operation;`
/// the parts of its value (plain names, `_b` and not `_` for a part that is not needed), and
/// `operation;` drops it. The last step has no semicolon: a [`Task`](crate::task::Task) makes the
/// whole a task, an [`OpV`](crate::task::OpV) an operation. It is
/// [`and_then`](crate::task::OpV::and_then) written out; a later step is not computed before the
/// earlier ones have been performed, so a function may call itself in its last step.
///
/// Names that are bound here are cloned where a later step needs them. So are names from outside
/// that the first line lists, `use text, list;`. Other names from outside are moved into closures
/// that may be called many times, which is right for `Copy` types: numbers, handles of cells.
///
/// # Examples
///
/// ```
/// use lisle_check::steps;
/// use lisle_check::task::{Task, answer, mem, MemoryCell, run};
///
/// fn count_down(place: MemoryCell<u32>) -> Task {
///     steps! {
///         let before = place.update(|n| n - 1);
///         if before == 1 { answer("done") } else { count_down(place) }
///     }
/// }
/// let program = mem(10).and_then(count_down);
/// assert_eq!(run(program).answer_as::<&str>(), Some(&"done"));
/// ```
#[macro_export]
macro_rules! steps {
    (@after [$($bound:ident)*] let $name:ident = $operation:expr; $($rest:tt)+) => {
        $crate::steps!(@bind [$($bound)*] ($name) [$name] $operation; $($rest)+)
    };
    (@after [$($bound:ident)*] let ($($name:ident),+ $(,)?) = $operation:expr; $($rest:tt)+) => {
        $crate::steps!(@bind [$($bound)*] (($($name),+)) [$($name)+] $operation; $($rest)+)
    };
    (@after [$($bound:ident)*] $operation:expr; $($rest:tt)+) => {
        $crate::steps!(@bind [$($bound)*] (_) [] $operation; $($rest)+)
    };
    (@after [$($bound:ident)*] $last:expr) => {
        $last
    };
    (@after [$($bound:ident)*] $($step:tt)*) => {
        ::core::compile_error!(::core::concat!(
            "expected `let name = operation;`, `let (a, b) = operation;`, `operation;`, or a last step ",
            "without a semicolon, found `", ::core::stringify!($($step)*), "`"
        ))
    };
    (@bind [$($bound:ident)*] ($pattern:pat) [$($name:ident)*] $operation:expr; $($rest:tt)+) => {{
        let operation = {
            $(
                #[allow(unused_variables, clippy::clone_on_copy)]
                let $bound = ::core::clone::Clone::clone(&$bound);
            )*
            $operation
        };
        $crate::task::OpV::and_then(operation, move |$pattern| {
            $(
                #[allow(unused_variables, clippy::clone_on_copy)]
                let $bound = ::core::clone::Clone::clone(&$bound);
            )*
            $crate::steps!(@after [$($bound)* $($name)*] $($rest)+)
        })
    }};
    (use $($outside:ident),+ $(,)?; $($steps:tt)+) => {{
        $(
            #[allow(clippy::clone_on_copy)]
            let $outside = ::core::clone::Clone::clone(&$outside);
        )+
        $crate::steps!(@after [$($outside)+] $($steps)+)
    }};
    ($($steps:tt)+) => {
        $crate::steps!(@after [] $($steps)+)
    };
}
