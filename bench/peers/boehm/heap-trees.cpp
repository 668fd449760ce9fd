// Binary trees of Boehm's collector, which threads share.

// Before gc.h: threads that are started from here are known to the collector.
#define GC_THREADS
#include <gc.h>

#include "harness.hpp"

#include <pthread.h>

namespace {

struct tree {
    tree* left;
    tree* right;
};

// The collector's own lists of free objects of this thread.
tree* make_node(tree* left, tree* right) {
    auto const node = static_cast<tree*>(GC_MALLOC(sizeof(tree)));
    check(node, "there is memory for a node");
    node->left = left;
    node->right = right;
    return node;
}

tree* make(unsigned depth) {
    if (depth == 0) {
        return make_node(nullptr, nullptr);
    }
    auto const left = make(depth - 1);
    auto const right = make(depth - 1);
    return make_node(left, right);
}

std::uint64_t count(tree const* tree) {
    return tree ? 1 + count(tree->left) + count(tree->right) : 0;
}

struct share {
    unsigned me, workers, depth;
    std::uint64_t total;
};

// The first thread has the tree that lives long, and the last one makes the largest.
void* run_share(void* argument) {
    auto& share = *static_cast<struct share*>(argument);
    if (share.me + 1 == share.workers) {
        share.total += count(make(share.depth + 1));
    }
    tree* const long_lived = share.me == 0 ? make(share.depth) : nullptr;
    for (unsigned shallow = 4; shallow <= share.depth; shallow += 4) {
        std::uint64_t const trees = std::uint64_t(1) << (share.depth - shallow + 4);
        for (auto i = trees * share.me / share.workers; i < trees * (share.me + 1) / share.workers; ++i) {
            share.total += count(make(shallow));
        }
    }
    share.total += count(long_lived);
    return nullptr;
}

std::uint64_t all(unsigned workers, unsigned depth) {
    std::vector<share> shares;
    for (unsigned me = 0; me < workers; ++me) {
        shares.push_back({me, workers, depth, 0});
    }
    std::vector<pthread_t> threads(workers);
    for (unsigned me = 0; me < workers; ++me) {
        check(pthread_create(&threads[me], nullptr, run_share, &shares[me]) == 0, "a thread starts");
    }
    std::uint64_t total = 0;
    for (unsigned me = 0; me < workers; ++me) {
        pthread_join(threads[me], nullptr);
        total += shares[me].total;
    }
    return total;
}

// A collection is due after as much allocation as a part of the heap. Its own is 3.
unsigned divisor(job const& job) {
    if (job.variant == "small") {
        return 8;
    }
    if (job.variant == "medium") {
        return 3;
    }
    if (job.variant == "large") {
        return 1;
    }
    throw job.no_variant();
}

workload const registered("heap-trees", [](job const& job) {
    GC_INIT();
    GC_set_free_space_divisor(divisor(job));
    auto const depth = unsigned(job.parameter("depth"));
    std::uint64_t checksum = 0;
    // A hundredth of the work is trees that are lower by six.
    auto result = measure_whole(job, 100, [&](std::uint64_t part) {
        stopwatch const watch;
        checksum = all(job.workers, part == 100 ? depth : std::max(depth, 10u) - 6);
        return watch.elapsed();
    });
    result.checksum = checksum;
    return result.with(result.seconds() * 1e3 / result.operations);
});

}  // namespace
