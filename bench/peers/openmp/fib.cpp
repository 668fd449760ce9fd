// A Fibonacci number by tasks: one for each first call of two, while the second is called.

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
    std::uint64_t one;
#pragma omp task shared(one) firstprivate(n, cut_off)
    one = fork(n - 1, cut_off);
    std::uint64_t const two = fork(n - 2, cut_off);
#pragma omp taskwait
    return one + two;
}

workload const registered("fib", [](job const& job) {
    use_workers(job);
    return measure_fib(job, [cut = cut_off(job)](std::uint64_t n) {
        std::uint64_t number = 0;
#pragma omp parallel
#pragma omp single
        number = fork(n, cut);
        return number;
    });
});

}  // namespace
