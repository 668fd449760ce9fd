// One fiber starts very many, then waits for all of them.

#include "harness.hpp"
#include "stacks.hpp"
#include "workers.hpp"

#include <atomic>
#include <deque>

namespace {

using boost::fibers::fiber;
using promise = boost::fibers::promise<void>;

// Entered at once, a fiber is often done before the next one begins, which then has its stack: several times
// as fast as `launch::post`. They are detached, for a `fiber` that can be joined would keep the stack.
nanoseconds burst(std::uint64_t tasks, promise& done) {
    std::atomic<std::uint64_t> total{0};
    auto const task = [tasks, &total, &done] {
        if (total.fetch_add(1) + 1 == tasks) {
            done.set_value();
        }
    };
    stopwatch const watch;
    for (std::uint64_t i = 0; i < tasks; ++i) {
        fiber(boost::fibers::launch::dispatch, std::allocator_arg, small_stacks(), task).detach();
    }
    done.get_future().wait();
    nanoseconds const elapsed = watch.elapsed();
    check(total == tasks, "the number of fibers");
    return elapsed;
}

workload const registered("spawn-burst", [](job const& job) {
    // These outlive the workers: the last fiber may still be at its promise when the waiting one goes on.
    std::deque<promise> promises;
    workers const workers(job);
    std::uint64_t const tasks = job.parameter("tasks");
    auto const run = [&](std::uint64_t n) { return burst(n, promises.emplace_back()); };
    auto result = measure_whole(job, tasks, run);
    result.operations *= tasks;
    return result.per_operation();
});

}  // namespace
