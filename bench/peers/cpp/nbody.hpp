#pragma once

#include "loops.hpp"

#include <array>
#include <atomic>

// Bodies that attract each other, each all the others.
class nbody {
public:
    explicit nbody(job const& job)
        : steps(job.parameter("steps")), in_place_(job.variant == "in-place"), velocities_(job.parameter("bodies")) {
        numbers numbers;
        auto const next = [&] { return numbers.below(1 << 20) / double(1 << 20); };
        for (std::size_t i = 0; i < velocities_.size(); ++i) {
            body body;
            for (auto& axis : body.place) {
                axis = next();
            }
            body.mass = next();
            first_.push_back(body);
        }
    }

    std::uint64_t const steps;

    std::size_t count() const {
        return velocities_.size();
    }

    void reset() {
        bodies_ = first_;
        for (auto& velocity : velocities_) {
            velocity.set({0, 0, 0});
        }
    }

    // Changes the velocity of one by the pull of all others.
    void pull(std::size_t nth) {
        auto& velocity = velocities_[nth];
        vector const place = bodies_[nth].place;
        if (in_place_) {
            for (auto const& other : bodies_) {
                velocity.set(pulled(velocity.get(), place, other));
            }
        } else {
            vector own = velocity.get();
            for (auto const& other : bodies_) {
                own = pulled(own, place, other);
            }
            velocity.set(own);
        }
    }

    // A two-thousandth of the work.
    void end_step() {
        for (std::size_t i = 0; i < count(); ++i) {
            vector const velocity = velocities_[i].get();
            for (std::size_t axis = 0; axis < 3; ++axis) {
                bodies_[i].place[axis] += time_ * velocity[axis];
            }
        }
    }

    std::uint64_t result() const {
        checksum all;
        for (auto const& body : bodies_) {
            for (auto axis : body.place) {
                all.add(bits(axis));
            }
        }
        return all.sum();
    }

private:
    using vector = std::array<double, 3>;

    struct body {
        vector place;
        double mass;
    };

    // Atomic, so that a compiler which sees that nobody else has it writes it all the same.
    class velocity {
    public:
        vector get() const {
            return {own_[0].load(relaxed), own_[1].load(relaxed), own_[2].load(relaxed)};
        }

        void set(vector velocity) {
            for (std::size_t axis = 0; axis < 3; ++axis) {
                own_[axis].store(velocity[axis], relaxed);
            }
        }

    private:
        static constexpr auto relaxed = std::memory_order_relaxed;
        std::atomic<double> own_[3];
    };

    static constexpr double time_ = 0.001;

    static vector pulled(vector velocity, vector const& place, body const& other) {
        double const x = place[0] - other.place[0];
        double const y = place[1] - other.place[1];
        double const z = place[2] - other.place[2];
        double const square = x * x + y * y + z * z + 0.01;
        double const pull = time_ / (square * std::sqrt(square)) * other.mass;
        return {velocity[0] - x * pull, velocity[1] - y * pull, velocity[2] - z * pull};
    }

    bool const in_place_;
    std::vector<velocity> velocities_;
    std::vector<body> first_, bodies_;
};
