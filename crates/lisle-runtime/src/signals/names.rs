//! The names of signals.

use std::borrow::Cow;

/// Returns the name of the signal `number`, as in signal(7), or `signal 99` if it has none.
pub fn of(number: i32) -> Cow<'static, str> {
    macro_rules! names {
        ($($name:ident)*) => {
            match number {
                $(libc::$name => Cow::Borrowed(stringify!($name)),)*
                other => other_name(other),
            }
        };
    }
    names!(
        SIGHUP SIGINT SIGQUIT SIGILL SIGTRAP SIGABRT SIGBUS SIGFPE SIGKILL SIGUSR1 SIGSEGV SIGUSR2 SIGPIPE SIGALRM SIGTERM
        SIGCHLD SIGCONT SIGSTOP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGXCPU SIGXFSZ SIGVTALRM SIGPROF SIGWINCH SIGIO SIGSYS
    )
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn other_name(number: i32) -> Cow<'static, str> {
    let (first, last) = (libc::SIGRTMIN(), libc::SIGRTMAX());
    match number {
        libc::SIGPWR => "SIGPWR".into(),
        number if number == first => "SIGRTMIN".into(),
        number if (first..=last).contains(&number) => format!("SIGRTMIN+{}", number - first).into(),
        _ => format!("signal {number}").into(),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn other_name(number: i32) -> Cow<'static, str> {
    format!("signal {number}").into()
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn signals_have_their_names() {
        assert_eq!([libc::SIGHUP, libc::SIGINT, libc::SIGWINCH].map(of), ["SIGHUP", "SIGINT", "SIGWINCH"]);
        #[cfg(target_os = "linux")]
        assert_eq!([libc::SIGRTMIN(), libc::SIGRTMIN() + 3].map(of), ["SIGRTMIN", "SIGRTMIN+3"]);
        assert_eq!(of(12_345), "signal 12345");
    }
}
