#pragma once

#include "harness.hpp"

// The times of frames. The first is not counted; of the others there are ten, and tens more until the time asked for
// is over.
class frames {
public:
    explicit frames(job const& job) : target_(std::chrono::milliseconds(job.millis)) {}

    bool goes_on() const {
        return all_.empty() || all_.size() % ten_ != 0 || elapsed_ < target_;
    }

    // How many there have been, with the first.
    std::size_t count() const {
        return has_begun_ + all_.size();
    }

    void note(nanoseconds took) {
        if (has_begun_) {
            all_.push_back(took);
            elapsed_ += took;
        } else {
            has_begun_ = true;
            cpu_at_start_ = cpu_seconds();
        }
    }

    // The mean in milliseconds, and the worst of ten: where there are several tens, the mean of their worst.
    measured outcome() const {
        double const mean = elapsed_.count() / 1e6 / all_.size();
        std::vector<figure> const figures{{"mean", mean}, {"worst of ten", worst_of_tens().count() / 1e6}};
        return {all_.size(), elapsed_, cpu_seconds() - cpu_at_start_, figures};
    }

private:
    static constexpr std::size_t ten_ = 10;

    nanoseconds worst_of_tens() const {
        nanoseconds worst{0};
        for (auto ten = all_.begin(); ten != all_.end(); ten += ten_) {
            worst += *std::max_element(ten, ten + ten_);
        }
        return worst / (all_.size() / ten_);
    }

    nanoseconds const target_;
    bool has_begun_ = false;
    std::vector<nanoseconds> all_;
    nanoseconds elapsed_{0};
    double cpu_at_start_ = 0;
};
