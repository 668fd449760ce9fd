#pragma once

#include "frames.hpp"
#include "loops.hpp"

#include <cstdlib>
#include <memory>
#include <new>

// Streams that call functions of a game's engine in each frame, which return the chunk that they are given.
class calls {
public:
    struct stream {
        int* chunk;
        int* value;
    };

    explicit calls(job const& job)
        : function_(find(job)),
          size_(job.parameter("chunk")),
          in_a_row_(job.parameters.count("in-a-row") ? job.parameter("in-a-row") : 1),
          frames_(job) {
        for (std::size_t nth = 0; nth < job.parameter("streams"); ++nth) {
            memory_.emplace_back(allocate());
            streams.push_back({memory_.back().get(), nullptr});
            for (int i = 0; i < size_; ++i) {
                streams[nth].chunk[i] = at_first(nth, i);
            }
        }
    }

    std::vector<stream> streams;

    // Makes all calls that a stream makes in a frame.
    void in_a_row(stream& stream) const {
        for (std::uint64_t i = 0; i < in_a_row_; ++i) {
            stream.value = function_(stream.chunk, size_);
        }
    }

    // Frames, in each of which `frame` makes all calls.
    template <typename Frame>
    measured measure(Frame frame) {
        std::uint64_t first = 0;
        while (frames_.goes_on()) {
            stopwatch const watch;
            frame();
            frames_.note(watch.elapsed());
            if (frames_.count() == 1) {
                first = checked();
            }
        }
        auto result = frames_.outcome();
        checked();
        result.checksum = first;
        return result;
    }

private:
    using function = int* (*)(int*, int);

    struct release {
        void operator()(int* chunk) const {
            std::free(chunk);
        }
    };

    static int* none(int* chunk, int) {
        return chunk;
    }

    // The exclusive or keeps compilers from making one of several multiplications.
    static int* arith(int* chunk, int size) {
        std::uint32_t x = size;
        for (int i = 1; i <= size; ++i) {
            x = (x * size) ^ i;
        }
        asm volatile("" : : "r"(x));
        return chunk;
    }

    static int* memory(int* chunk, int size) {
        for (int i = 0; i < size; ++i) {
            chunk[i] = std::uint32_t(chunk[i]) * 2;
        }
        return chunk;
    }

    // The compiler does not know which it is: an engine is a program of its own.
    static function find(job const& job) {
        std::map<std::string, function> const all{{"none", none}, {"arith", arith}, {"memory", memory}};
        auto const found = all.find(job.variant);
        if (found == all.end()) {
            throw job.no_variant();
        }
        return found->second;
    }

    // Memory on cache lines of its own.
    int* allocate() const {
        std::size_t const line = 64, bytes = size_ * sizeof(int);
        void* const chunk = std::aligned_alloc(line, (bytes + line - 1) / line * line);
        if (!chunk) {
            throw std::bad_alloc();
        }
        return static_cast<int*>(chunk);
    }

    static int at_first(std::size_t nth, int i) {
        return int(nth) + i;
    }

    // Whether each stream has called as often as there were frames; a checksum of the last numbers of the chunks.
    std::uint64_t checked() const {
        std::uint64_t const doublings = function_ == memory ? frames_.count() * in_a_row_ : 0;
        std::uint32_t const factor = doublings < 32 ? std::uint32_t(1) << doublings : 0;
        checksum last;
        for (std::size_t nth = 0; nth < streams.size(); ++nth) {
            check(streams[nth].value == streams[nth].chunk, "the value of a stream");
            bool is_right = true;
            for (int i = 0; i < size_; ++i) {
                is_right &= std::uint32_t(streams[nth].chunk[i]) == at_first(nth, i) * factor;
            }
            check(is_right, "the numbers of a stream");
            last.add(std::uint32_t(streams[nth].chunk[size_ - 1]));
        }
        return last.sum();
    }

    function const function_;
    int const size_;
    std::uint64_t const in_a_row_;
    frames frames_;
    std::vector<std::unique_ptr<int, release>> memory_;
};
