// The sum of a binary tree, each node a fork.

#include "tree.hpp"
#include "workers.hpp"

namespace {

std::uint64_t sum(node const* node) {
    if (!node) {
        return 0;
    }
    std::uint64_t left, right;
    tbb::parallel_invoke([&] { left = sum(node->left.get()); }, [&] { right = sum(node->right.get()); });
    return node->value + left + right;
}

workload const registered("tree", [](job const& job) {
    workers const workers(job);
    return measure_tree(job, [](node const& root) { return sum(&root); });
});

}  // namespace
