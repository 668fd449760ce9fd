// Many fibers wait at one channel. The figure is the memory that each of them takes.

#include "harness.hpp"
#include "stacks.hpp"

namespace {

nanoseconds park(std::uint64_t tasks, double& grown) {
    boost::fibers::unbuffered_channel<std::uint64_t> channel;
    std::uint64_t waiting = 0;
    std::uint64_t total = 0;
    std::vector<boost::fibers::fiber> fibers;
    fibers.reserve(tasks);
    stopwatch const watch;
    double const before = resident_bytes();
    for (std::uint64_t i = 0; i < tasks; ++i) {
        fibers.emplace_back(std::allocator_arg, small_stacks(), [&] {
            ++waiting;
            total += channel.value_pop();
        });
    }
    while (waiting < tasks) {
        boost::this_fiber::yield();
    }
    grown = resident_bytes() - before;
    for (std::uint64_t i = 0; i < tasks; ++i) {
        channel.push(1);
    }
    for (auto& fiber : fibers) {
        fiber.join();
    }
    check(total == tasks, "the number of fibers");
    return watch.elapsed();
}

workload const registered("parked", [](job const& job) {
    std::uint64_t const tasks = job.parameter("tasks");
    check_memory_for(tasks);
    double grown = 0;
    auto const result = measure_once(tasks, [&](std::uint64_t n) { return park(n, grown); });
    return result.with(grown / result.operations);
});

}  // namespace
