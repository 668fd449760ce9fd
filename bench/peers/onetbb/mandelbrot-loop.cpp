// The Mandelbrot set, a loop over the rows of the picture.

#include "mandelbrot.hpp"
#include "workers.hpp"

namespace {

workload const registered("mandelbrot-loop", [](job const& job) {
    workers const workers(job);
    mandelbrot mandelbrot(job);
    return measure_program(job, mandelbrot, [&] {
        tbb::parallel_for(std::size_t(0), mandelbrot.height, [&](std::size_t y) { mandelbrot.row(y); });
    });
});

}  // namespace
