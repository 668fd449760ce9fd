#pragma once

#include "loops.hpp"

// The product of two matrices, row by row.
class matmul {
public:
    explicit matmul(job const& job)
        : side(job.parameter("side")), left_(side * side), right_(side * side), product_(side * side) {
        numbers numbers;
        for (auto* matrix : {&left_, &right_}) {
            for (auto& number : *matrix) {
                number = numbers.below(100) / 7.0;
            }
        }
    }

    std::size_t const side;

    void reset() {}

    void row(std::size_t y) {
        double* __restrict product = &product_[y * side];
        std::fill(product, product + side, 0.0);
        for (std::size_t k = 0; k < side; ++k) {
            double const factor = left_[y * side + k];
            double const* right = &right_[k * side];
            for (std::size_t x = 0; x < side; ++x) {
                product[x] += factor * right[x];
            }
        }
    }

    std::uint64_t result() const {
        checksum all;
        for (auto number : product_) {
            all.add(bits(number));
        }
        return all.sum();
    }

private:
    std::vector<double> left_, right_, product_;
};
