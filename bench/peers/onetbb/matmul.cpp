// The product of two matrices, a loop over the rows.

#include "matmul.hpp"
#include "workers.hpp"

namespace {

workload const registered("matmul", [](job const& job) {
    workers const workers(job);
    matmul matmul(job);
    return measure_program(job, matmul, [&] {
        tbb::parallel_for(std::size_t(0), matmul.side, [&](std::size_t y) { matmul.row(y); });
    });
});

}  // namespace
