//! The trait of effects.

/// An operation that code asks of its surroundings, see [`perform`](crate::perform).
///
/// An effect is a value of a type that names the operation and holds its arguments. The nearest
/// handler for that type decides what the effect means, and gives the answer.
///
/// An effect borrows nothing: handlers are found by the type, and only `'static` types can be
/// told apart at run time.
///
/// ```compile_fail,E0478
/// # use lisle_effect::Effect;
/// struct Print<'a>(&'a str);
/// impl Effect for Print<'_> {
///     type Answer = ();
/// }
/// ```
///
/// # Examples
///
/// ```
/// # use lisle_effect as effect;
/// use effect::{Effect, handle, perform};
///
/// struct Read(String);
/// impl Effect for Read {
///     type Answer = Result<String, std::io::Error>;
/// }
///
/// fn lines(path: &str) -> usize {
///     perform(Read(path.to_string())).map_or(0, |text| text.lines().count())
/// }
///
/// let count = handle(|| lines("poem.txt"))
///     .answer(|Read(path)| Ok(format!("this is {path}\nof two lines")))
///     .run();
/// assert_eq!(count, 2);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an effect",
    label = "this is not an effect",
    note = "an effect is a type that names the type of its answer: `impl Effect for {Self} {{ type Answer = ...; }}`"
)]
pub trait Effect: Sized + 'static {
    /// The type that [`perform`](crate::perform) returns for this effect; `()` if there is no
    /// answer.
    type Answer;
}
