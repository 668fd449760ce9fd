// How long it takes a message of a plain thread to wake a fiber whose thread has nothing else to do.

#include "harness.hpp"

#include <atomic>
#include <boost/fiber/all.hpp>
#include <thread>

namespace {

using time_point = std::chrono::steady_clock::time_point;
using channel = boost::fibers::unbuffered_channel<time_point>;

constexpr std::chrono::microseconds idle{50};

nanoseconds wake(std::uint64_t n, std::vector<double>& latencies) {
    latencies.clear();
    latencies.reserve(n);
    channel channel;
    std::atomic<std::uint64_t> received{0};
    std::thread receiver([&] {
        boost::fibers::fiber([&] {
            for (auto sent : channel) {
                latencies.push_back(nanoseconds(time_point::clock::now() - sent).count());
                received.store(latencies.size(), std::memory_order_release);
            }
        }).join();
    });
    stopwatch const watch;
    for (std::uint64_t i = 0; i < n; ++i) {
        channel.push(time_point::clock::now());
        while (received.load(std::memory_order_acquire) <= i) {
        }
        for (stopwatch idling; idling.elapsed() < idle;) {
        }
    }
    nanoseconds const elapsed = watch.elapsed();
    channel.close();
    receiver.join();
    check(latencies.size() == n, "the number of messages");
    return elapsed;
}

workload const registered("wake", [](job const& job) {
    std::vector<double> latencies;
    auto longer = job;
    longer.millis *= 3;
    auto const result = measure(longer, [&](std::uint64_t n) { return wake(n, latencies); });
    std::sort(latencies.begin(), latencies.end());
    auto const quantile = [&](double part) { return latencies[std::size_t(part * (latencies.size() - 1))]; };
    double const p99 = quantile(0.99);
    return result.with({{"p50", quantile(0.5), p99}, {"p99", p99, p99}, {"p99.9", quantile(0.999), p99}});
});

}  // namespace
