// The diagonal of a cube: a fiber for each dimension sends the square of its side, another adds them.

#include "harness.hpp"
#include "stacks.hpp"
#include "workers.hpp"

namespace {

// The senders are joined, too: one may still be at the channel when its number has been received.
double diagonal(std::uint64_t dimensions) {
    boost::fibers::unbuffered_channel<std::uint64_t> squares;
    double result = 0;
    std::vector<boost::fibers::fiber> fibers;
    fibers.reserve(dimensions + 1);
    fibers.emplace_back(std::allocator_arg, small_stacks(), [&] {
        std::uint64_t sum = 0;
        for (std::uint64_t i = 0; i < dimensions; ++i) {
            sum += squares.value_pop();
        }
        result = std::sqrt(sum);
    });
    for (std::uint64_t side = 1; side <= dimensions; ++side) {
        auto const send = [&squares, side] { squares.push(side * side); };
        fibers.emplace_back(std::allocator_arg, small_stacks(), send);
    }
    for (auto& fiber : fibers) {
        fiber.join();
    }
    return result;
}

workload const registered("diagonal", [](job const& job) {
    workers const workers(job);
    std::uint64_t const dimensions = job.parameter("dimensions");
    double const expected = std::sqrt(dimensions * (dimensions + 1) * (2 * dimensions + 1) / 6);
    auto const run = [&](std::uint64_t n) {
        stopwatch const watch;
        for (std::uint64_t i = 0; i < n; ++i) {
            check(diagonal(dimensions) == expected, "the diagonal");
        }
        return watch.elapsed();
    };
    return measure(job, run).per_operation();
});

}  // namespace
