// A Fibonacci number by forks and joins.

#include "fib.hpp"
#include "workers.hpp"

namespace {

std::uint64_t fork(std::uint64_t n, std::uint64_t cut_off) {
    if (n < 2) {
        return n;
    }
    if (n <= cut_off) {
        return serial_fib(n);
    }
    std::uint64_t one, two;
    tbb::parallel_invoke([&] { one = fork(n - 1, cut_off); }, [&] { two = fork(n - 2, cut_off); });
    return one + two;
}

workload const registered("fib", [](job const& job) {
    workers const workers(job);
    return measure_fib(job, [cut = cut_off(job)](std::uint64_t n) { return fork(n, cut); });
});

}  // namespace
