// A library of C++, measured: one sample for each process, its answer a line of JSON. SYSTEM is the library's name.

#include "harness.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>

namespace {

job parse(int count, char** arguments) {
    if (count < 5) {
        throw std::invalid_argument("usage: WORKLOAD VARIANT WORKERS MILLIS [key=value ...]");
    }
    job job{arguments[1], arguments[2], unsigned(std::stoul(arguments[3])), std::stoull(arguments[4]), {}};
    for (int i = 5; i < count; ++i) {
        std::string const argument = arguments[i];
        auto const equals = argument.find('=');
        if (equals == std::string::npos) {
            throw std::invalid_argument("not of the form key=value: " + argument);
        }
        job.parameters[argument.substr(0, equals)] = argument.substr(equals + 1);
    }
    return job;
}

void print(measured const& result) {
    std::printf("{\"figures\":[");
    char const* separator = "";
    for (auto const& figure : result.figures) {
        std::printf("%s{\"name\":\"%s\",", separator, figure.name.c_str());
        std::printf("\"value\":%.3f,\"p99\":", figure.value);
        if (std::isnan(figure.p99)) {
            std::printf("null}");
        } else {
            std::printf("%.3f}", figure.p99);
        }
        separator = ",";
    }
    std::printf("],\"operations\":%llu,\"cpu_seconds\":%.6f,\"rss_bytes\":%llu",
                static_cast<unsigned long long>(result.operations), result.cpu_seconds,
                static_cast<unsigned long long>(peak_resident_bytes()));
    if (result.checksum) {
        std::printf(",\"checksum\":%llu", static_cast<unsigned long long>(*result.checksum));
    }
    std::printf("}\n");
}

}  // namespace

int main(int count, char** arguments) try {
    job const job = parse(count, arguments);
    auto const found = workload::all().find(job.workload);
    if (found == workload::all().end()) {
        throw unsupported(SYSTEM " has no program for the workload " + job.workload);
    }
    print(found->second(job));
    return EXIT_SUCCESS;
} catch (unsupported const& reason) {
    std::fprintf(stderr, "%s\n", reason.what());
    return 3;
} catch (std::exception const& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return EXIT_FAILURE;
}
