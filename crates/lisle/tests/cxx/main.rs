//! Frames of C++ on the stacks of fibers and of handled computations.
//!
//! The functions are compiled when the tests run, since nothing else here needs a C++ compiler. So
//! the tests are run on request: `.ci/run cxx`, which counts them.

mod effects;
mod exceptions;
mod unwinding;

use std::ffi::{CString, c_int, c_void};
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

type Call = extern "C-unwind" fn();

/// Defines the functions of `frames.cpp`, and how they are found by their names.
macro_rules! functions {
    ($($name:ident: $type:ty,)+) => {
        struct Functions {
            $($name: $type,)+
        }

        impl Functions {
            fn found(find: impl Fn(&str) -> *mut c_void) -> Self {
                // SAFETY: each has this type in `frames.cpp`.
                unsafe { Functions { $($name: std::mem::transmute::<*mut c_void, $type>(find(stringify!($name))),)+ } }
            }
        }
    };
}

functions! {
    handles: unsafe extern "C-unwind" fn(c_int, Call) -> c_int,
    handles_one: unsafe extern "C-unwind" fn(c_int, Call) -> c_int,
    handles_two: unsafe extern "C-unwind" fn(c_int, Call) -> c_int,
    unwinds: unsafe extern "C-unwind" fn(Call) -> c_int,
    on_their_way: unsafe extern "C-unwind" fn() -> c_int,
    globals: unsafe extern "C-unwind" fn() -> *mut [usize; 2],
    has_current: unsafe extern "C-unwind" fn() -> c_int,
    throws: unsafe extern "C-unwind" fn(c_int),
    catches: unsafe extern "C-unwind" fn(Call) -> c_int,
    destroys: unsafe extern "C-unwind" fn(*mut c_int, Call),
    swallows: unsafe extern "C-unwind" fn(Call),
    throws_on: unsafe extern "C-unwind" fn(Call),
    is_noexcept: unsafe extern "C-unwind" fn(Call),
    destroys_and_is_noexcept: unsafe extern "C-unwind" fn(Call),
}

/// Returns the functions, which are compiled and loaded by the first call, before any runtime is
/// started.
fn cxx() -> &'static Functions {
    static FUNCTIONS: OnceLock<Functions> = OnceLock::new();
    FUNCTIONS.get_or_init(load)
}

fn load() -> Functions {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cxx/frames.cpp");
    let library = directory.join(format!("libframes-{}.so", std::process::id()));
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
    let status = Command::new(&compiler)
        .args(["-std=c++17", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .status()
        .unwrap_or_else(|error| {
            panic!("the C++ compiler `{compiler}`: {error}; these tests need one (CXX names it)")
        });
    assert!(status.success(), "`{compiler}` does not compile {}", source.display());
    let path = CString::new(library.to_str().unwrap()).unwrap();
    // For itself alone, as programs load plugins. SAFETY: a C string, of a library whose initializers do
    // nothing.
    let loaded = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    assert!(!loaded.is_null(), "the library that was compiled cannot be loaded");
    std::fs::remove_file(&library).unwrap();
    let find = |name: &str| {
        let name = CString::new(name).unwrap();
        // SAFETY: a loaded library and a C string.
        let function: *mut c_void = unsafe { libc::dlsym(loaded, name.as_ptr()) };
        assert!(!function.is_null(), "no {name:?}");
        function
    };
    Functions::found(find)
}

extern "C-unwind" fn yields() {
    lisle::fiber::yield_now();
}

extern "C-unwind" fn waits_for_ever() {
    lisle::Event::sync(&lisle::never::<()>());
}
