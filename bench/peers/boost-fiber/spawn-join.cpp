// One fiber starts another for a number, and waits for it; one at a time.

#include "harness.hpp"
#include "stacks.hpp"
#include "workers.hpp"

namespace {

using boost::fibers::fiber;

// Entering the fiber at once saves a turn of the scheduler, and a variable to return through is cheaper than
// the shared state of `async`.
nanoseconds spawn_and_join(std::uint64_t n) {
    stopwatch const watch;
    for (std::uint64_t i = 0; i < n; ++i) {
        std::uint64_t number = n;
        auto const work = [i, &number] { number = i; };
        fiber(boost::fibers::launch::dispatch, std::allocator_arg, small_stacks(), work).join();
        check(number == i, "the number that the fiber returned");
    }
    return watch.elapsed();
}

workload const registered("spawn-join", [](job const& job) {
    workers const workers(job);
    return measure(job, spawn_and_join).per_operation();
});

}  // namespace
