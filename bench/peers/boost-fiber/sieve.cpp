// The prime sieve: a chain of fibers that grows by a filter for every prime that reaches its end.

#include "harness.hpp"
#include "workers.hpp"

#include <atomic>
#include <deque>

namespace {

using channel = boost::fibers::unbuffered_channel<std::uint64_t>;

void filter(std::uint64_t prime, channel& from, channel& to) {
    for (auto number : from) {
        if (number % prime != 0) {
            to.push(number);
        }
    }
    to.close();
}

std::uint64_t nth_prime(std::size_t n) {
    std::vector<std::uint64_t> primes;
    for (std::uint64_t candidate = 2; primes.size() < n; ++candidate) {
        auto const decides = [&](auto prime) { return prime * prime > candidate || candidate % prime == 0; };
        auto const first = std::find_if(primes.begin(), primes.end(), decides);
        if (first == primes.end() || candidate % *first != 0) {
            primes.push_back(candidate);
        }
    }
    return primes.back();
}

nanoseconds sieve(std::uint64_t primes) {
    using boost::fibers::fiber;
    std::deque<channel> channels(1);
    std::vector<fiber> fibers;
    std::atomic<bool> found{false};
    stopwatch const watch;
    fibers.emplace_back([&found, &to = channels.front()] {
        for (std::uint64_t i = 2; !found.load(std::memory_order_relaxed); ++i) {
            to.push(i);
        }
        to.close();
    });
    std::uint64_t prime = channels.back().value_pop();
    while (channels.size() < primes) {
        auto& from = channels.back();
        auto& to = channels.emplace_back();
        fibers.emplace_back([prime, &from, &to] { filter(prime, from, to); });
        prime = to.value_pop();
    }
    nanoseconds const elapsed = watch.elapsed();
    // A channel must not be closed under a waiting sender, so the generator ends first and the rest runs dry.
    found = true;
    for (std::uint64_t rest; channels.back().pop(rest) == boost::fibers::channel_op_status::success;) {
    }
    for (auto& fiber : fibers) {
        fiber.join();
    }
    check(prime == nth_prime(primes), "the last prime");
    return elapsed;
}

workload const registered("sieve", [](job const& job) {
    workers const workers(job);
    auto const result = measure_whole(job, job.parameter("primes"), sieve);
    return result.with(result.seconds() * 1e3 / result.operations);
});

}  // namespace
