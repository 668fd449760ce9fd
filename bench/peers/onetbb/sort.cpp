// Sorting, by the one sort that there is: it does not keep the order of equals.

#include "sort.hpp"
#include "workers.hpp"

namespace {

workload const registered("sort", [](job const& job) {
    if (job.variant != "unstable") {
        throw job.no_variant();
    }
    workers const workers(job);
    random_numbers random(job);
    return measure_program(job, random, [&] { tbb::parallel_sort(random.numbers); });
});

}  // namespace
