// Very many fibers sleep for about a second. The figure is their cost in processor time.

#include "harness.hpp"
#include "stacks.hpp"

namespace {

nanoseconds sleep(std::uint64_t tasks) {
    std::uint64_t total = 0;
    std::vector<boost::fibers::fiber> fibers;
    fibers.reserve(tasks);
    stopwatch const watch;
    for (std::uint64_t i = 0; i < tasks; ++i) {
        std::chrono::milliseconds const time(500 + i * 7919 % 1000);
        fibers.emplace_back(std::allocator_arg, small_stacks(), [time, &total] {
            boost::this_fiber::sleep_for(time);
            ++total;
        });
    }
    for (auto& fiber : fibers) {
        fiber.join();
    }
    nanoseconds const elapsed = watch.elapsed();
    check(total == tasks, "the number of fibers");
    return elapsed;
}

workload const registered("sleepers", [](job const& job) {
    std::uint64_t const tasks = job.parameter("tasks");
    check_memory_for(tasks);
    auto const result = measure_once(tasks, sleep);
    return result.with(result.cpu_seconds * 1e9 / result.operations);
});

}  // namespace
