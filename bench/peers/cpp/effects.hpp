#pragma once

// The common parts of the programs about effects: the measurement of the suite's programs, and their inputs.

#include "harness.hpp"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// The programs of a library: each returns its result at a size.
using suite_program = std::uint64_t (*)(std::uint64_t);
using suite_programs = std::map<std::string, suite_program>;

inline measured measure_suite(job const& job, suite_programs const& programs) {
    auto const found = programs.find(job.variant);
    if (found == programs.end()) {
        throw unsupported(SYSTEM " has no program " + job.variant);
    }
    std::uint64_t const n = job.parameter("n");
    found->second(n > 100 ? n / 10 : std::max<std::uint64_t>(n - 4, 2));
    double const cpu = cpu_seconds();
    nanoseconds elapsed{0};
    std::uint64_t times = 0;
    std::uint64_t result = 0;
    for (; times == 0 || elapsed < std::chrono::milliseconds(job.millis); ++times) {
        stopwatch const watch;
        result = found->second(n);
        elapsed += watch.elapsed();
    }
    measured const all{times, elapsed, cpu_seconds() - cpu, {}};
    measured each = all.with(all.seconds() * 1e3 / all.operations);
    each.checksum = result;
    return each;
}

// Measures by how many bytes the process grows for each of `count` suspended computations that `keep` holds. It does so
// only once after the warm-up, since a second time would find the memory of the first.
template <typename Keep>
measured measure_suspended(std::uint64_t count, Keep keep) {
    keep((count + 99) / 100);
    double const cpu = cpu_seconds();
    stopwatch const watch;
    std::uint64_t const grown = keep(count);
    measured const all{count, watch.elapsed(), cpu_seconds() - cpu, {}};
    return all.with(double(grown) / count);
}

// Measures `sum`, which adds up a tree of numbers in order.
struct node {
    std::unique_ptr<node> left;
    std::uint64_t value;
    std::unique_ptr<node> right;
};

inline std::unique_ptr<node> balanced(std::uint64_t first, std::uint64_t count) {
    if (count == 0) {
        return nullptr;
    }
    std::uint64_t const before = (count - 1) / 2;
    auto left = balanced(first, before);
    auto right = balanced(first + before + 1, count - 1 - before);
    return std::unique_ptr<node>(new node{std::move(left), first + before, std::move(right)});
}

template <typename Sum>
measured measure_generator(job const& job, Sum sum) {
    std::uint64_t const nodes = job.parameter("nodes");
    auto const tree = balanced(1, nodes);
    auto const small = balanced(1, nodes / 100);
    auto const run = [&](std::uint64_t size) {
        stopwatch const watch;
        std::uint64_t const result = sum(size == nodes ? tree.get() : small.get());
        auto const elapsed = watch.elapsed();
        check(result == size * (size + 1) / 2, "the sum of the tree");
        return elapsed;
    };
    measured const all = measure_whole(job, nodes, run);
    return all.with(all.seconds() * 1e9 / (all.operations * nodes));
}

// The tree of the suite, whose halves are one and the same.
struct halves {
    std::unique_ptr<halves> half;
    std::uint64_t value;

    static std::unique_ptr<halves> of_height(std::uint64_t height) {
        return height == 0 ? nullptr : std::unique_ptr<halves>(new halves{of_height(height - 1), height});
    }
};

inline std::uint64_t suite_operator(std::uint64_t x, std::uint64_t y) {
    return std::llabs(std::int64_t(x) - 503 * std::int64_t(y) + 37) % 1009;
}

constexpr std::uint64_t newline = 10;
constexpr std::uint64_t dollar = 36;
constexpr std::uint64_t modulus = 1'000'000'007;

inline std::uint64_t hash(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    return (53 * a + 2'809 * b + 148'877 * c) % modulus;
}

inline std::vector<std::uint64_t> thousand() {
    std::vector<std::uint64_t> list;
    for (std::uint64_t number = 1001; number-- > 0;) {
        list.push_back(number);
    }
    return list;
}

// Keeps the compiler from making a loop of a recursion.
inline std::uint64_t opaque(std::uint64_t number) {
    asm volatile("" : "+r"(number));
    return number;
}

// Whether a queen in the next column is attacked by none before it, the last of which is the nearest.
inline bool is_safe(std::uint64_t row, std::vector<std::uint64_t> const& before) {
    std::uint64_t columns = 1;
    for (auto other = before.rbegin(); other != before.rend(); ++other, ++columns) {
        if (row == *other || row == *other + columns || row + columns == *other) {
            return false;
        }
    }
    return true;
}

// The choices that lead to one possibility: each is run anew from its beginning.
class path {
public:
    // Which of this many options to take now, and whether no run has taken it here before.
    std::pair<std::uint64_t, bool> choose(std::uint64_t options) {
        if (position_ == choices_.size()) {
            choices_.emplace_back(0, options);
        }
        std::uint64_t const option = choices_[position_++].first;
        return {option, position_ >= choices_.size()};
    }

    // Goes on to the next possibility; whether there is one.
    bool advance() {
        for (position_ = 0; !choices_.empty(); choices_.pop_back()) {
            if (++choices_.back().first < choices_.back().second) {
                return true;
            }
        }
        return false;
    }

private:
    std::vector<std::pair<std::uint64_t, std::uint64_t>> choices_;
    std::size_t position_ = 0;
};

inline std::uint64_t fibonacci(std::uint64_t n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

// chameneos: a colour is 0, 1 or 2; a creature meets `nobody` when there are no more meetings.
constexpr std::uint64_t nobody = 3;
constexpr std::uint64_t colours[] = {0, 1, 2, 1, 2, 0, 1, 2, 1, 0};

inline std::uint64_t changed(std::uint64_t own, std::uint64_t other) {
    return own == other ? own : 3 - own - other;
}

// The place of meetings. A creature that waits there is a `Who`, and `go_on(who, other)` lets it go on.
template <typename Who>
class mall {
public:
    explicit mall(std::uint64_t meetings) : left_(meetings) {}

    template <typename GoOn>
    void enter(Who who, std::uint64_t colour, GoOn go_on) {
        if (left_ == 0) {
            go_on(who, nobody);
        } else if (waits_) {
            --left_;
            waits_ = false;
            go_on(waiting_, colour);
            go_on(who, colour_);
        } else {
            waits_ = true;
            waiting_ = who;
            colour_ = colour;
        }
    }

    // When no creature can go on: lets the one go on that waits in vain. Whether there is one.
    template <typename GoOn>
    bool close(GoOn go_on) {
        left_ = 0;
        if (!std::exchange(waits_, false)) {
            return false;
        }
        go_on(waiting_, nobody);
        return true;
    }

private:
    std::uint64_t left_;
    bool waits_ = false;
    Who waiting_{};
    std::uint64_t colour_ = 0;
};

// The suite's programs that search are in a file of their own.
std::uint64_t nqueens(std::uint64_t n);
std::uint64_t triples(std::uint64_t n);
std::uint64_t tree_explore(std::uint64_t height);
