//! Tests of the pool. The tests of overflow are beside their module.

#[cfg(target_os = "linux")]
use std::fs;
use std::{
    env,
    hint::black_box,
    process::{Command, Output},
};

use corosensei::{Coroutine, CoroutineResult, Yielder, stack::Stack as _};

#[cfg(target_os = "linux")]
use super::slab::Guarding;
use super::*;

/// Set in a child process, to the part that it plays.
const CHILD: &str = "LISLE_STACK_TEST_CHILD";

/// The program of these tests once more: by way of the emulator that runs this one, if
/// `LISLE_TEST_RUNNER` names one with its arguments. The system cannot start it otherwise.
fn this_program() -> Command {
    let program = env::current_exe().expect("the test binary has a path");
    let runner = env::var("LISLE_TEST_RUNNER").unwrap_or_default();
    let mut words = runner.split_whitespace();
    let Some(emulator) = words.next() else { return Command::new(program) };
    let mut command = Command::new(emulator);
    command.args(words).arg(program);
    command
}

/// Runs the calling test once more, in a process of its own that plays `part`, and returns the
/// output of that. In that process returns the part instead. `test` is the function's name in
/// `module`, which is `module_path!()` there.
pub(super) fn in_child(module: &str, test: &str, part: &str) -> Result<Output, String> {
    if let Ok(part) = env::var(CHILD) {
        let no_core = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the pointer is to a live value.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const no_core) }, 0);
        return Err(part);
    }
    let (_, module) = module.split_once("::").expect("a module within a crate");
    let output = this_program()
        .args(["--exact", &format!("{module}::{test}"), "--nocapture"])
        .env(CHILD, part)
        .output()
        .expect("the test binary can be run again");
    Ok(output)
}

fn touch(address: usize) {
    let pointer = ptr_to(address);
    // SAFETY: the tests touch only usable bytes of stacks that they hold and on which nothing runs.
    unsafe { pointer.write_volatile(1) };
}

fn ptr_to(address: usize) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address)
}

fn touch_all(stack: &Stack) {
    for page in stack.usable().step_by(pages::page_size()) {
        touch(page);
    }
}

/// Returns how many bytes of the stack's usable pages are resident.
#[cfg(target_os = "linux")]
fn resident(stack: &Stack) -> usize {
    let range = stack.usable();
    let mut pages = vec![0u8; range.len() / pages::page_size()];
    // SAFETY: the range is mapped, and the vector has a byte for each of its pages.
    let result = unsafe { libc::mincore(ptr_to(range.start).cast(), range.len(), pages.as_mut_ptr()) };
    assert_eq!(result, 0);
    pages.iter().filter(|&&page| page & 1 == 1).count() * pages::page_size()
}

#[test]
fn takes_the_most_recently_given() {
    let mut pool = StackPool::new(DEFAULT_USABLE_SIZE);
    let first = pool.take().unwrap();
    let second = pool.take().unwrap();
    let (first_limit, second_limit) = (first.limit(), second.limit());
    assert_ne!(first_limit, second_limit);
    pool.give(first);
    pool.give(second);
    let again = pool.take().unwrap();
    assert_eq!(again.limit(), second_limit);
    let before = pool.take().unwrap();
    assert_eq!(before.limit(), first_limit);
    pool.give(again);
    pool.give(before);
    assert_eq!(pool.made, 2);
}

#[test]
fn sizes_are_kept_and_bounded() {
    for (asked, least) in
        [(0, MIN_USABLE_SIZE), (MIN_USABLE_SIZE + 1, MIN_USABLE_SIZE + 1), (1 << 20, 1 << 20)]
    {
        let mut pool = StackPool::new(asked);
        for _ in 0..40 {
            let stack = pool.take().unwrap();
            assert!(stack.base().get() - stack.guard().end >= least);
            assert!(stack.base().get() - stack.guard().end < least + 3 * pages::page_size());
            assert_eq!(stack.base().get() % corosensei::stack::STACK_ALIGNMENT, 0);
            assert_eq!(stack.guard().start % pages::page_size(), 0);
            touch_all(&stack);
        }
    }
    let error = StackPool::new(usize::MAX).take().expect_err("no machine has this address space");
    assert!(error.to_string().contains("address space"), "{error}");
    assert_eq!(size_of::<Stack>(), 2 * size_of::<usize>());
}

#[test]
fn giving_never_allocates() {
    let mut pool = StackPool::new(0);
    let stacks: Vec<_> = (0..1000).map(|_| pool.take().unwrap()).collect();
    let capacity = pool.free.capacity();
    assert!(capacity >= 1000);
    stacks.into_iter().for_each(|stack| pool.give(stack));
    assert_eq!(pool.free.capacity(), capacity);
}

#[test]
fn coroutines_run_on_recycled_stacks() {
    fn recurse(depth: usize) -> usize {
        let frame = black_box([depth; 64]);
        if depth == 0 { 0 } else { recurse(depth - 1) + frame[0] }
    }
    let mut pool = StackPool::new(DEFAULT_USABLE_SIZE);
    for round in 0..4 {
        let mut running = Vec::new();
        for i in 0..500 {
            let body = move |yielder: &Yielder<usize, usize>, x| recurse(yielder.suspend(x + i));
            running.push(Coroutine::with_stack(pool.take().unwrap(), body));
        }
        for (i, coroutine) in running.iter_mut().enumerate() {
            assert!(matches!(coroutine.resume(round), CoroutineResult::Yield(y) if y == round + i));
        }
        for mut coroutine in running {
            assert!(matches!(coroutine.resume(20), CoroutineResult::Return(210)));
            pool.give(coroutine.into_stack());
        }
        while pool.trim(7) != 0 {}
    }
    assert_eq!(pool.made, 500);
}

#[test]
#[cfg(target_os = "linux")]
fn a_hundred_thousand_stacks() {
    // In a process of its own: other tests would change the number of mappings.
    if let Ok(output) = in_child(module_path!(), "a_hundred_thousand_stacks", "") {
        assert!(output.status.success(), "{output:?}");
        return;
    }
    let regions = Guarding::available() == Guarding::Region;
    let mappings = || fs::read_to_string("/proc/self/maps").unwrap().lines().count();
    let before = mappings();
    let mut pool = StackPool::new(DEFAULT_USABLE_SIZE);
    // Without guard regions the kernel's default limit allows no more than some 32,000.
    let stacks: Vec<_> = (0..if regions { 100_000 } else { 10_000 }).map(|_| pool.take().unwrap()).collect();
    stacks.iter().for_each(|stack| touch(stack.base().get() - 1));
    let added = mappings() - before;
    if regions {
        assert!(added < 64, "{added} mappings");
    } else {
        assert!(added > stacks.len(), "{added} mappings, although each guard must take one");
    }
    assert!(pool.slabs.len() < 64);
    let limits: Vec<_> = stacks.iter().map(|stack| stack.limit().get()).collect();
    stacks.into_iter().for_each(|stack| pool.give(stack));
    drop(pool);
    let mut answer = 0;
    for limit in [limits[0], limits[limits.len() - 1]] {
        // SAFETY: a system call checks the addresses given to it, and one page needs one byte for
        // the answer.
        let result = unsafe { libc::mincore(ptr_to(limit).cast(), 1, &raw mut answer) };
        assert_eq!(
            (result, io::Error::last_os_error().raw_os_error()),
            (-1, Some(libc::ENOMEM)),
            "still mapped"
        );
    }
}

#[test]
#[cfg(target_os = "linux")]
fn running_out_of_mappings_says_what_to_do() {
    if let Ok(output) = in_child(module_path!(), "running_out_of_mappings_says_what_to_do", "") {
        let stderr = String::from_utf8_lossy(&output.stderr);
        if stderr.contains("AddressSanitizer failed to allocate") {
            eprintln!("not tried: AddressSanitizer itself does not survive it");
            return;
        }
        assert!(output.status.success(), "{stderr}");
        return;
    }
    let limit = fs::read_to_string("/proc/sys/vm/max_map_count").unwrap().trim().parse::<usize>().unwrap();
    if limit > 300_000 {
        eprintln!("not tried: {limit} mappings are allowed");
        return;
    }
    let mut pool = StackPool::with_shape(Shape::with_guarding(0, Guarding::Protection));
    let mut stacks = Vec::with_capacity(limit);
    let error = loop {
        match pool.take() {
            Ok(stack) => stacks.push(stack),
            Err(error) => break error,
        }
        assert!(stacks.len() <= limit);
    };
    assert!(stacks.len() > limit / 2 - 1000);
    // The stacks outside stay usable, and returned stacks are handed out again.
    let last = stacks.pop().unwrap();
    pool.give(last);
    stacks.push(pool.take().unwrap());
    assert!(pool.take().is_err());
    stacks.into_iter().for_each(|stack| pool.give(stack));
    drop(pool);
    let message = error.to_string();
    assert!(message.contains("vm.max_map_count") && message.contains("6.13"), "{message}");
    assert_eq!(error.kind(), io::ErrorKind::OutOfMemory);
}

#[test]
#[cfg(target_os = "linux")]
fn trimming_lowers_what_is_resident() {
    let mut pool = StackPool::new(DEFAULT_USABLE_SIZE);
    let count = KEEP_WARM + 50;
    let stacks: Vec<_> = (0..count).map(|_| pool.take().unwrap()).collect();
    stacks.iter().for_each(touch_all);
    stacks.into_iter().for_each(|stack| pool.give(stack));
    assert!(resident(&pool.free[0]) >= DEFAULT_USABLE_SIZE);

    assert_eq!(pool.trim(10), 10, "the budget holds");
    assert_eq!(resident(&pool.free[9]), KEEP_RESIDENT);
    assert!(resident(&pool.free[10]) >= DEFAULT_USABLE_SIZE, "the eleventh is beyond the budget");

    let treated: usize = std::iter::repeat_with(|| pool.trim(10)).take_while(|&treated| treated != 0).sum();
    assert_eq!(treated, count - 10 + 50, "all others once, and those beyond the warm ones twice");
    for (i, stack) in pool.free.iter().enumerate() {
        assert_eq!(resident(stack), if i < 50 { 0 } else { KEEP_RESIDENT });
    }
    assert_eq!(pool.trim(usize::MAX), 0, "nothing is treated twice");
}

#[test]
#[cfg(target_os = "linux")]
fn only_used_stacks_are_trimmed_again() {
    let mut pool = StackPool::new(DEFAULT_USABLE_SIZE);
    let stacks: Vec<_> = (0..20).map(|_| pool.take().unwrap()).collect();
    stacks.into_iter().for_each(|stack| pool.give(stack));
    assert_eq!(pool.trim(100), 20);
    let stacks: Vec<_> = (0..3).map(|_| pool.take().unwrap()).collect();
    stacks.iter().for_each(touch_all);
    stacks.into_iter().for_each(|stack| pool.give(stack));
    assert_eq!(pool.trim(100), 3);
    assert!(pool.free.iter().all(|stack| resident(stack) <= KEEP_RESIDENT));
    assert_eq!(pool.trim(100), 0);
}

#[test]
#[cfg(target_os = "linux")]
fn guards_survive_trimming() {
    // The kernel is asked to write into each page of the guard, and returns an error instead of a
    // fault.
    let guarded = |stack: &Stack| {
        assert!(stack.guard().len() >= 64 * 1024);
        stack.guard().step_by(pages::page_size()).all(|address| {
            // SAFETY: a system call checks the addresses given to it.
            unsafe { libc::syscall(libc::SYS_getrandom, ptr_to(address), 1usize, libc::GRND_NONBLOCK) == -1 }
        })
    };
    for guarding in [Guarding::available(), Guarding::Protection] {
        let mut pool = StackPool::with_shape(Shape::with_guarding(0, guarding));
        let stacks: Vec<_> = (0..KEEP_WARM + 20).map(|_| pool.take().unwrap()).collect();
        assert!(stacks.iter().all(guarded));
        stacks.into_iter().for_each(|stack| pool.give(stack));
        while pool.trim(100) != 0 {}
        assert!(pool.free.iter().all(guarded));
    }
}

#[test]
fn a_slab_with_a_live_stack_stays_mapped() {
    let mut pool = StackPool::new(DEFAULT_USABLE_SIZE);
    let lives = pool.take().unwrap();
    let home = pool.take().unwrap();
    pool.give(home);
    drop(pool);
    touch_all(&lives);
}

#[test]
fn a_stranger_in_the_pool_does_not_count_as_home() {
    let mut pool = StackPool::new(DEFAULT_USABLE_SIZE);
    let mut other = StackPool::new(DEFAULT_USABLE_SIZE);
    let lives = pool.take().unwrap();
    pool.give(other.take().unwrap());
    drop(pool);
    touch_all(&lives);
}
