#pragma once

#include "harness.hpp"

#include <boost/fiber/all.hpp>

// Stacks for fibers that do little. With few fibers the size makes no difference; a million of the default
// 128 KB would not fit. Half of this is too little: the first call of a library's function, which the dynamic
// linker resolves on the fiber's stack, overflows it. The pooled allocator is no faster for few fibers and
// much slower for a million, as it writes to every stack of a block at once; nor may two threads share it.
inline boost::fibers::fixedsize_stack small_stacks() {
    return boost::fibers::fixedsize_stack(16 << 10);
}

// Says so when the fibers do not fit into memory, before the kernel kills the process.
inline void check_memory_for(std::uint64_t fibers) {
    constexpr std::uint64_t resident_of_each = 10 << 10;
    std::uint64_t const available = kernel_bytes("/proc/meminfo", "MemAvailable:");
    if (available < fibers * resident_of_each) {
        auto const megabytes = [](std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MB"; };
        throw std::runtime_error(std::to_string(fibers) + " fibers need about " +
                                 megabytes(fibers * resident_of_each) + " of memory, and only " +
                                 megabytes(available) + " are available");
    }
}
