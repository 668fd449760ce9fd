//! Choice with a body for each alternative: the macro [`select!`](crate::select).
//!
//! It is syntax for a [`choose`](crate::choose()) whose alternatives are wrapped into the variants of
//! an enum, and a `match` on the value. It costs as much as these, and its bodies are ordinary code
//! of the caller's function.

/// Waits for the first of several events and runs its body. It is a [`choose`](crate::choose) for
/// events of different types.
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::{channel, time::after};
/// use std::{thread, time::Duration};
///
/// let (tx, rx) = channel::<u32>();
/// thread::spawn(move || (1..=3).for_each(|n| tx.send(n).unwrap()));
/// let mut sum = 0;
/// loop {
///     lisle::select! {
///         message = rx.recv_evt() => match message {
///             Ok(n) => sum += n,
///             Err(_) => break, // all senders are dropped
///         },
///         () = after(Duration::from_secs(10)) => panic!("no message for ten seconds"),
///     }
/// }
/// assert_eq!(sum, 6);
/// ```
///
/// # Syntax
///
/// One to twelve *arms*, separated as in a `match`: by commas, which are optional after a body in
/// braces.
///
/// | arm | |
/// |---|---|
/// | `pattern = event => body` | `body` runs if the event happens, with its value bound to `pattern` |
/// | `pattern = event, if condition => body` | the same; if the condition is false the arm is switched off |
/// | `default => body` | the last arm; taken if no event is ready, instead of waiting |
///
/// Before the arms there may be, in any order:
///
/// | option | |
/// |---|---|
/// | `biased;` | of several ready events the first is taken, as in [`choose_biased`](crate::event::choose_biased) |
/// | `await;` | awaits the choice instead of waiting in place: for `async` code, on any executor |
///
/// # Semantics
///
/// Conditions and events are evaluated once, from first to last, in the scope of the caller; an
/// event whose condition is false is not evaluated. Then exactly one of the events happens, a
/// random one if several are ready. When its body begins, the others have been withdrawn, have
/// taken nothing, and are no longer borrowed from. If a `default` is taken, no event has happened.
///
/// The macro is an expression; all bodies have one type. They are code of the caller's function:
/// `return`, `break`, `?` and `.await` work as elsewhere, and several bodies may use the same
/// `&mut`.
///
/// If all arms are switched off and there is no `default`, it waits forever, like an empty choice.
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::{channel, time::after};
/// use std::{collections::VecDeque, thread};
///
/// /// Passes messages on, through a buffer of `capacity`.
/// fn buffer(input: lisle::channel::Receiver<u32>, output: lisle::channel::Sender<u32>, capacity: usize) {
///     let mut queue = VecDeque::new();
///     let mut open = true;
///     while open || !queue.is_empty() {
///         lisle::select! {
///             message = input.recv_evt(), if open && queue.len() < capacity => match message {
///                 Ok(message) => queue.push_back(message),
///                 Err(_) => open = false,
///             },
///             sent = output.send_evt(queue[0]), if !queue.is_empty() => {
///                 if sent.is_err() {
///                     return;
///                 }
///                 queue.pop_front();
///             }
///         }
///     }
/// }
///
/// let (tx, input) = channel();
/// let (output, rx) = channel();
/// let thread = thread::spawn(move || buffer(input, output, 3));
/// (0..3).for_each(|n| tx.send(n).unwrap()); // not received yet
/// drop(tx);
/// assert_eq!(rx.into_iter().collect::<Vec<u32>>(), [0, 1, 2]);
/// thread.join().unwrap();
/// ```
///
/// A `default` makes it a poll:
///
/// ```
/// # use lisle_core as lisle;
/// let (tx, rx) = lisle::channel::bounded::<u32>(1);
/// let look = || lisle::select! {
///     message = rx.recv_evt() => message.ok(),
///     default => None,
/// };
/// assert_eq!(look(), None);
/// tx.send(7).unwrap();
/// assert_eq!(look(), Some(7));
/// ```
///
/// In a future, on any executor:
///
/// ```
/// # use lisle_core as lisle;
/// async fn first(rx: lisle::channel::Receiver<u32>, stop: lisle::channel::Receiver<()>) -> Option<u32> {
///     lisle::select! {
///         biased;
///         await;
///         _ = stop.recv_evt() => None,
///         message = rx.recv_evt() => Some(message.ok()? * 2),
///     }
/// }
/// # let (tx, rx) = lisle::channel::bounded(1);
/// # let (_stop, stop) = lisle::channel();
/// # tx.send(21).unwrap();
/// # let mut future = std::pin::pin!(first(rx, stop));
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert_eq!(future.as_mut().poll(&mut context), std::task::Poll::Ready(Some(42)));
/// ```
///
/// # Patterns are irrefutable
///
/// When a pattern is matched its event has happened and cannot be returned, so another arm cannot
/// be tried. Match the value in the body, by `match` or `let` with `else`:
///
/// ```compile_fail,E0005
/// # use lisle_core as lisle;
/// # let (_tx, rx) = lisle::channel::<u32>();
/// lisle::select! {
///     Ok(n) = rx.recv_evt() => println!("{n}"),
///     default => (),
/// }
/// ```
///
/// # Comparison with other selects
///
/// *Go.* It does the same, except that an arm may be any event (a timer, a join, a choice, a
/// guard), not only an operation of a channel, and that conditions replace `nil` channels. A closed
/// channel is ready here too; its receive returns an error.
///
/// *tokio.* There each arm is a future that is polled until one is ready. The others are dropped,
/// or kept by `&mut`, pinned and fused, with the effects that they have had so far. Here the losing
/// events *have done nothing*, of whatever kind they are. Therefore there is no cancel safety to
/// look up and nothing to pin or to fuse, and a loop may make its events anew each time. An event
/// whose condition is false is not evaluated (in tokio it is). There is no `else`, since all
/// patterns match; `default` stands for "nothing is ready".
///
/// # More than twelve events, or a number not known beforehand
///
/// Make one arm a choice of its own, of any number of events, `value = choose(events) => …`; `wrap`
/// converts them to one type.
///
/// # Errors
///
/// At least one arm must have an event:
///
/// ```compile_fail
/// # use lisle_core as lisle;
/// lisle::select! {}
/// ```
/// ```compile_fail
/// # use lisle_core as lisle;
/// lisle::select! { default => () }
/// ```
///
/// There may be one `default`, and it must be the last arm:
///
/// ```compile_fail
/// # use lisle_core as lisle;
/// lisle::select! { default => 1, n = lisle::always(2) => n }
/// ```
/// ```compile_fail
/// # use lisle_core as lisle;
/// lisle::select! { n = lisle::always(1) => n, default => 2, default => 3 }
/// ```
///
/// The bodies must have one type, and `await` is allowed in `async` code only:
///
/// ```compile_fail,E0308
/// # use lisle_core as lisle;
/// lisle::select! { n = lisle::always(1) => n, s = lisle::always("two") => s };
/// ```
/// ```compile_fail,E0728
/// # use lisle_core as lisle;
/// lisle::select! { await; n = lisle::always(1) => n };
/// ```
///
/// Thirteen arms are too many:
///
/// ```compile_fail
/// # use lisle_core as lisle;
/// # use lisle::always as a;
/// lisle::select! {
///     n = a(1) => n, n = a(2) => n, n = a(3) => n, n = a(4) => n, n = a(5) => n, n = a(6) => n, n = a(7) => n,
///     n = a(8) => n, n = a(9) => n, n = a(10) => n, n = a(11) => n, n = a(12) => n, n = a(13) => n,
/// };
/// ```
#[macro_export]
macro_rules! select {
    ($($arms:tt)*) => {
        $crate::__select!(@options {fair sync} $($arms)*)
    };
}

/// The steps of [`select!`](crate::select). The arms are taken one by one, each with the next name
/// and the next enum. After the last one the enum has as many variants as there are arms.
#[doc(hidden)]
#[macro_export]
macro_rules! __select {
    (@options {$order:ident $way:ident} biased; $($rest:tt)*) => {
        $crate::__select!(@options {biased $way} $($rest)*)
    };
    (@options {$order:ident $way:ident} await; $($rest:tt)*) => {
        $crate::__select!(@options {$order future} $($rest)*)
    };
    (@options $how:tt $($arms:tt)*) => {
        $crate::__select!(
            @arms $how ()
            [(A Of1) (B Of2) (C Of3) (D Of4) (E Of5) (F Of6) (G Of7) (H Of8) (I Of9) (J Of10) (K Of11) (L Of12)]
            []
            $($arms)*
        )
    };

    // @arms how (the enum so far) [names to come] [arms so far] the remaining tokens
    (@arms $how:tt () $names:tt []) => {
        ::core::compile_error!("`select!` needs an arm with an event: `pattern = event => body`")
    };
    (@arms $how:tt ($of:ident) $names:tt $arms:tt) => {
        $crate::__select!(@emit $how $of $arms)
    };
    (@arms $how:tt $of:tt $names:tt $arms:tt default => $body:block $($rest:tt)*) => {
        $crate::__select!(@default $how $of $arms ($body) $($rest)*)
    };
    (@arms $how:tt $of:tt $names:tt $arms:tt default => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select!(@default $how $of $arms ($body) $($($rest)*)?)
    };
    (@arms $how:tt $of:tt [] $arms:tt $($rest:tt)*) => {
        ::core::compile_error!(
            "`select!` has at most twelve arms; let one arm be a `choose` of several events, which `wrap` brings to \
             one type"
        )
    };
    (@arms $how:tt $of:tt $names:tt $arms:tt $pattern:pat = $event:expr => $($rest:tt)+) => {
        $crate::__select!(@body $how $names $arms ($pattern) ($event) $($rest)+)
    };
    (@arms $how:tt $of:tt $names:tt $arms:tt $pattern:pat = $event:expr, if $condition:expr => $($rest:tt)+) => {
        $crate::__select!(
            @body $how $names $arms ($pattern)
            (if $condition { ::core::option::Option::Some($event) } else { ::core::option::Option::None })
            $($rest)+
        )
    };
    (@arms $how:tt $of:tt $names:tt $arms:tt $($rest:tt)*) => {
        $crate::__select!(@malformed () $($rest)*)
    };

    // Shows an arm that no rule above has taken, up to its arrow.
    (@malformed ($($arm:tt)*) $(=> $($rest:tt)*)?) => {
        ::core::compile_error!(::core::concat!(
            "malformed arm of `select!`: `",
            ::core::stringify!($($arm)*),
            "`; an arm is `pattern = event => body`, or `pattern = event, if condition => body`, or at the end \
             `default => body`"
        ))
    };
    (@malformed ($($arm:tt)*) $next:tt $($rest:tt)*) => {
        $crate::__select!(@malformed ($($arm)* $next) $($rest)*)
    };

    // Takes a body off the remaining tokens.
    (@body $how:tt $names:tt $arms:tt $pattern:tt $event:tt $body:block, $($rest:tt)*) => {
        $crate::__select!(@push $how $names $arms $pattern $event ($body) $($rest)*)
    };
    (@body $how:tt $names:tt $arms:tt $pattern:tt $event:tt $body:block $($rest:tt)*) => {
        $crate::__select!(@push $how $names $arms $pattern $event ($body) $($rest)*)
    };
    (@body $how:tt $names:tt $arms:tt $pattern:tt $event:tt $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select!(@push $how $names $arms $pattern $event ($body) $($($rest)*)?)
    };
    (@push $how:tt [($name:ident $of:ident) $($names:tt)*] [$($arms:tt)*] $pattern:tt $event:tt $body:tt $($rest:tt)*) => {
        $crate::__select!(@arms $how ($of) [$($names)*] [$($arms)* ($name $pattern $event $body)] $($rest)*)
    };

    (@default $how:tt ($of:ident) $arms:tt $default:tt $(,)?) => {
        $crate::__select!(@emit $how $of $arms $default)
    };
    (@default $how:tt () [] $default:tt $(,)?) => {
        ::core::compile_error!("`select!` needs an arm with an event before the `default`")
    };
    (@default $how:tt $of:tt $arms:tt $default:tt $(,)? default => $($rest:tt)*) => {
        ::core::compile_error!("`select!` has one `default`")
    };
    (@default $how:tt $of:tt $arms:tt $default:tt $($rest:tt)*) => {
        ::core::compile_error!("the `default` of `select!` comes last")
    };

    // The event and its temporaries are dropped at the end of the `let`, before a body runs.
    (@emit {$order:ident $way:ident} $of:ident
        [$(($name:ident ($pattern:pat) ($event:expr) ($body:expr)))+]
    ) => {{
        let output = $crate::__select!(
            @perform $way
            $crate::__select!(@choose $order $($crate::Event::wrap($event, $crate::event::select::$of::$name)),+)
        );
        match output {
            $($crate::event::select::$of::$name(value) => {
                let $pattern = value;
                $body
            })+
        }
    }};
    (@emit {$order:ident $way:ident} $of:ident
        [$(($name:ident ($pattern:pat) ($event:expr) ($body:expr)))+]
        ($default:expr)
    ) => {{
        let output = $crate::Event::poll(&$crate::__select!(
            @choose $order $($crate::Event::wrap($event, $crate::event::select::$of::$name)),+
        ));
        match output {
            $(::core::option::Option::Some($crate::event::select::$of::$name(value)) => {
                let $pattern = value;
                $body
            })+
            ::core::option::Option::None => $default,
        }
    }};

    (@choose $order:ident $event:expr) => {
        $event
    };
    (@choose fair $($event:expr),+) => {
        $crate::choose(($($event,)+))
    };
    (@choose biased $($event:expr),+) => {
        $crate::event::choose_biased(($($event,)+))
    };
    (@perform sync $choice:expr) => {
        $crate::Event::sync(&$choice)
    };
    (@perform future $choice:expr) => {
        $crate::Event::future($choice).await
    };
}

/// The outcome of a `select!` with as many arms: the value of one of them.
macro_rules! outcomes {
    ($($of:ident($($name:ident)+))+) => {
        $(
            #[allow(missing_docs, reason = "only `select!` sees it")]
            #[derive(Debug)]
            pub enum $of<$($name),+> {
                $($name($name)),+
            }
        )+
    };
}

outcomes! {
    Of1(A)
    Of2(A B)
    Of3(A B C)
    Of4(A B C D)
    Of5(A B C D E)
    Of6(A B C D E F)
    Of7(A B C D E F G)
    Of8(A B C D E F G H)
    Of9(A B C D E F G H I)
    Of10(A B C D E F G H I J)
    Of11(A B C D E F G H I J K)
    Of12(A B C D E F G H I J K L)
}
