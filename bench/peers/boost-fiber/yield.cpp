// Two fibers of one thread yield to each other.

#include "harness.hpp"

#include <boost/fiber/all.hpp>

namespace {

nanoseconds yield(std::uint64_t n) {
    auto const yield_times = [](std::uint64_t times) {
        for (std::uint64_t i = 0; i < times; ++i) {
            boost::this_fiber::yield();
        }
    };
    boost::fibers::fiber one(yield_times, n / 2);
    boost::fibers::fiber other(yield_times, n - n / 2);
    stopwatch const watch;
    one.join();
    other.join();
    return watch.elapsed();
}

workload const registered("yield", [](job const& job) { return measure(job, yield).per_operation(); });

}  // namespace
