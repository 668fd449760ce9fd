// One producer, many consumers that receive from one channel.

#include "harness.hpp"
#include "workers.hpp"

#include <atomic>

namespace {

template <typename Channel>
nanoseconds send(std::uint64_t n, std::uint64_t consumers, Channel& channel) {
    std::atomic<std::uint64_t> total{0};
    std::vector<boost::fibers::fiber> fibers;
    for (std::uint64_t i = 0; i < consumers; ++i) {
        fibers.emplace_back([&] {
            std::uint64_t sum = 0;
            for (auto number : channel) {
                sum += number;
            }
            total += sum;
        });
    }
    stopwatch const watch;
    fibers.emplace_back([&] {
        for (std::uint64_t i = 0; i < n; ++i) {
            channel.push(i);
        }
        channel.close();
    });
    for (auto& fiber : fibers) {
        fiber.join();
    }
    nanoseconds const elapsed = watch.elapsed();
    check(total == n * (n - 1) / 2, "the sum of the messages");
    return elapsed;
}

workload const registered("fan-out", [](job const& job) {
    workers const workers(job);
    std::uint64_t const consumers = job.parameter("consumers");
    auto const run = [&](std::uint64_t n) {
        if (job.variant == "rendezvous") {
            boost::fibers::unbuffered_channel<std::uint64_t> channel;
            return send(n, consumers, channel);
        }
        if (job.variant == "buffered") {
            boost::fibers::buffered_channel<std::uint64_t> channel(64);
            return send(n, consumers, channel);
        }
        throw job.no_variant();
    };
    return measure(job, run).per_second(1);
});

}  // namespace
