// Numbers go from a producer through relays to a consumer, each a fiber.

#include "harness.hpp"
#include "workers.hpp"

#include <deque>

namespace {

template <typename Channel>
void relay(Channel& from, Channel& to) {
    for (auto number : from) {
        to.push(number);
    }
    to.close();
}

template <typename Channel>
nanoseconds send(std::uint64_t n, std::deque<Channel>& channels) {
    using boost::fibers::fiber;
    std::vector<fiber> fibers;
    for (std::size_t i = 0; i + 1 < channels.size(); ++i) {
        fibers.emplace_back([&from = channels[i], &to = channels[i + 1]] { relay(from, to); });
    }
    std::uint64_t sum = 0;
    fibers.emplace_back([&] {
        for (auto number : channels.back()) {
            sum += number;
        }
    });
    stopwatch const watch;
    fibers.emplace_back([&] {
        for (std::uint64_t i = 0; i < n; ++i) {
            channels.front().push(i);
        }
        channels.front().close();
    });
    for (auto& fiber : fibers) {
        fiber.join();
    }
    nanoseconds const elapsed = watch.elapsed();
    check(sum == n * (n - 1) / 2, "the sum of the messages");
    return elapsed;
}

workload const registered("chain", [](job const& job) {
    workers const workers(job);
    std::uint64_t const relays = job.parameter("relays");
    auto const run = [&](std::uint64_t n) {
        if (job.variant == "rendezvous") {
            std::deque<boost::fibers::unbuffered_channel<std::uint64_t>> channels(relays + 1);
            return send(n, channels);
        }
        if (job.variant == "buffered") {
            std::deque<boost::fibers::buffered_channel<std::uint64_t>> channels;
            while (channels.size() <= relays) {
                channels.emplace_back(64);
            }
            return send(n, channels);
        }
        throw job.no_variant();
    };
    return measure(job, run).per_second(relays + 1);
});

}  // namespace
