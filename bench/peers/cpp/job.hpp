#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

// A job that the library, or this program, cannot do.
struct unsupported : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The request of the command line.
struct job {
    std::string workload;
    std::string variant;
    unsigned workers;
    std::uint64_t millis;
    std::map<std::string, std::string> parameters;

    // A number that is part of the case.
    std::uint64_t parameter(std::string const& name) const {
        auto found = parameters.find(name);
        if (found == parameters.end()) {
            throw std::invalid_argument("the parameter " + name + " is missing");
        }
        return std::stoull(found->second);
    }

    unsupported no_variant() const {
        return unsupported(SYSTEM "'s program for " + workload + " has no variant " + variant);
    }
};
