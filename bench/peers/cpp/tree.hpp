#pragma once

#include "loops.hpp"

#include <memory>

struct node {
    std::uint64_t value;
    std::unique_ptr<node> left, right;
};

// A full tree of a number of nodes, one less than a power of two. The values are the sizes of the trees below.
inline std::unique_ptr<node> tree(std::uint64_t nodes) {
    if (nodes == 0) {
        return nullptr;
    }
    auto left = tree(nodes / 2);
    auto right = tree(nodes / 2);
    return std::unique_ptr<node>(new node{nodes, std::move(left), std::move(right)});
}

// Nanoseconds for each node of a sum that `sum` makes.
template <typename Sum>
measured measure_tree(job const& job, Sum sum) {
    std::uint64_t const nodes = job.parameter("nodes");
    auto const all = tree(nodes);
    // Each level's values come to one less than the one above.
    std::uint64_t expected = 0;
    for (std::uint64_t own = nodes, count = 1; own > 0; own /= 2, count *= 2) {
        expected += own * count;
    }
    auto const result = measure(job, [&](std::uint64_t n) {
        stopwatch const watch;
        for (std::uint64_t i = 0; i < n; ++i) {
            check(sum(*all) == expected, "the sum");
        }
        return watch.elapsed();
    });
    return result.with(result.seconds() * 1e9 / result.operations / nodes);
}
