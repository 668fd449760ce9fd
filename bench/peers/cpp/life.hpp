#pragma once

#include "loops.hpp"

// The game of life on a torus. A cell is a byte, 1 if it lives.
class life {
public:
    explicit life(job const& job)
        : side(job.parameter("side")), generations(job.parameter("generations")), first_(side * side) {
        numbers numbers;
        for (auto& cell : first_) {
            cell = numbers.below(4) == 0;
        }
        next_ = first_;
    }

    std::size_t const side;
    std::uint64_t const generations;

    void reset() {
        now_ = first_;
    }

    // Makes the row of the next generation.
    void row(std::size_t y) {
        row(&now_[(y + side - 1) % side * side], &now_[y * side], &now_[(y + 1) % side * side], &next_[y * side]);
    }

    void end_generation() {
        std::swap(now_, next_);
    }

    std::uint64_t result() const {
        return checksum::of(now_);
    }

private:
    using cell = std::uint8_t;

    void row(cell const* above, cell const* here, cell const* below, cell* __restrict next) const {
        auto const one = [=](std::size_t left, std::size_t x, std::size_t right) {
            cell const around = above[left] + above[x] + above[right] + here[left] + here[right] + below[left]
                + below[x] + below[right];
            return cell((around | here[x]) == 3);
        };
        next[0] = one(side - 1, 0, 1);
        for (std::size_t x = 1; x < side - 1; ++x) {
            next[x] = one(x - 1, x, x + 1);
        }
        next[side - 1] = one(side - 2, side - 1, 0);
    }

    std::vector<cell> first_, now_, next_;
};
