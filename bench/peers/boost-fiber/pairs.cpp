// Many pairs of fibers play ping-pong, all together.

#include "harness.hpp"
#include "workers.hpp"

#include <deque>

namespace {

using channel = boost::fibers::unbuffered_channel<std::uint64_t>;

nanoseconds play(std::uint64_t n, std::uint64_t pairs) {
    std::deque<channel> channels(2 * pairs);
    std::vector<boost::fibers::fiber> fibers;
    boost::fibers::promise<void> begin;
    auto const begun = begin.get_future().share();
    for (std::uint64_t pair = 0; pair < pairs; ++pair) {
        std::uint64_t const trips = n / pairs + (pair < n % pairs);
        auto& there = channels[2 * pair];
        auto& back = channels[2 * pair + 1];
        fibers.emplace_back([&] {
            for (auto number : there) {
                back.push(number);
            }
        });
        fibers.emplace_back([&, begun, trips] {
            begun.wait();
            for (std::uint64_t i = 0; i < trips; ++i) {
                there.push(i);
                check(back.value_pop() == i, "the number that came back");
            }
            there.close();
        });
    }
    stopwatch const watch;
    begin.set_value();
    for (auto& fiber : fibers) {
        fiber.join();
    }
    return watch.elapsed();
}

workload const registered("pairs", [](job const& job) {
    workers const workers(job);
    std::uint64_t const pairs = job.parameter("pairs");
    return measure(job, [&](std::uint64_t n) { return play(n, pairs); }).per_second(2);
});

}  // namespace
