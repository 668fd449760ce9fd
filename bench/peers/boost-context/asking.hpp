#pragma once

#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <cstdint>
#include <utility>

// A coroutine that asks, and goes on with the answer. `Body` is called with it, on its own stack.
template <typename Question, typename Answer, typename Body>
class asking {
public:
    template <typename Stacks>
    asking(Stacks&& stacks, Body body)
        : body_(std::move(body)),
          other_(std::allocator_arg, std::forward<Stacks>(stacks), [this](boost::context::fiber&& caller) {
              other_ = std::move(caller);
              body_(*this);
              has_ended_ = true;
              return std::move(other_);
          }) {}

    // The code on the stack refers to it.
    asking(asking const&) = delete;
    asking& operator=(asking const&) = delete;

    // Called by the body.
    Answer ask(Question question) {
        question_ = std::move(question);
        other_ = std::move(other_).resume();
        return std::move(answer_);
    }

    // Lets the body go on until it asks or ends: whether it asks.
    bool resume(Answer answer) {
        answer_ = std::move(answer);
        other_ = std::move(other_).resume();
        return !has_ended_;
    }

    Question const& question() const {
        return question_;
    }

private:
    Body body_;
    Question question_{};
    Answer answer_{};
    bool has_ended_ = false;
    boost::context::fiber other_;
};

// Runs `body` and answers all that it asks. The template arguments are given for lambdas to be generic.
template <typename Question, typename Answer, typename Stacks, typename Body, typename Clause>
void handle(Stacks&& stacks, Body body, Clause clause) {
    asking<Question, Answer, Body> handled(std::forward<Stacks>(stacks), std::move(body));
    for (bool asks = handled.resume(Answer{}); asks;) {
        asks = handled.resume(clause(handled.question()));
    }
}

// Stacks that are kept for the next coroutine.
inline boost::context::pooled_fixedsize_stack& stacks() {
    static boost::context::pooled_fixedsize_stack pool;
    return pool;
}
