#pragma once

#include "loops.hpp"

// The Mandelbrot set, row by row.
class mandelbrot {
public:
    explicit mandelbrot(job const& job)
        : width(job.parameter("width")),
          height(job.parameter("height")),
          steps_(job.parameter("steps")),
          picture_(width * height) {}

    std::size_t const width, height;

    void reset() {}

    void row(std::size_t y) {
        double const wide = 3.0 / width;
        double const imaginary = y * (3.0 / height) - 1.5;
        for (std::size_t x = 0; x < width; ++x) {
            picture_[y * width + x] = escape(x * wide - 2.0, imaginary);
        }
    }

    std::uint64_t result() const {
        return checksum::of(picture_);
    }

private:
    std::uint16_t escape(double real, double imaginary) const {
        double x = 0, y = 0;
        std::uint16_t steps = 0;
        for (; steps < steps_; ++steps) {
            double const xx = x * x, yy = y * y;
            if (xx + yy > 4) {
                break;
            }
            y = 2 * x * y + imaginary;
            x = xx - yy + real;
        }
        return steps;
    }

    std::uint16_t const steps_;
    std::vector<std::uint16_t> picture_;
};
