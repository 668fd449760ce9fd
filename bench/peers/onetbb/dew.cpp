// Calls in frames, a loop over the streams for each frame. An affinity partitioner lives as long as the frames, and
// keeps streams to threads.

#include "calls.hpp"
#include "workers.hpp"

namespace {

#if AFFINITY
using partitioner = tbb::affinity_partitioner;
#else
using partitioner = tbb::auto_partitioner;
#endif

measured dew(job const& job) {
    workers const workers(job);
    calls calls(job);
    partitioner partitioner;
    return calls.measure([&] {
        auto const streams = [&](indices const& streams) {
            for (std::size_t nth = streams.begin(); nth < streams.end(); ++nth) {
                calls.in_a_row(calls.streams[nth]);
            }
        };
        tbb::parallel_for(indices(0, calls.streams.size()), streams, partitioner);
    });
}

workload const once("dew", dew);
workload const in_a_row("dew-locality", dew);

}  // namespace
