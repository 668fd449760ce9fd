import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** The request of the command line. */
record Job(String workload, String variant, int workers, long millis, Map<String, String> parameters) {
    static Job parse(String[] arguments) {
        if (arguments.length < 4) {
            throw new IllegalArgumentException("usage: WORKLOAD VARIANT WORKERS MILLIS [key=value ...]");
        }
        Map<String, String> parameters = new HashMap<>();
        for (String argument : Arrays.copyOfRange(arguments, 4, arguments.length)) {
            String[] pair = argument.split("=", 2);
            if (pair.length < 2) {
                throw new IllegalArgumentException("not of the form key=value: " + argument);
            }
            parameters.put(pair[0], pair[1]);
        }
        int workers = Integer.parseInt(arguments[2]);
        long millis = Long.parseLong(arguments[3]);
        return new Job(arguments[0], arguments[1], workers, millis, parameters);
    }

    Job longer(int times) {
        return new Job(workload, variant, workers, times * millis, parameters);
    }

    /** A number that is part of the case. */
    int parameter(String name) {
        String value = parameters.get(name);
        if (value == null) {
            throw new IllegalArgumentException("the parameter " + name + " is missing");
        }
        return Integer.parseInt(value);
    }

    /** The workload's own choice, or {@code channel=exchanger} and the like, to check that choice. */
    Channel.Kind channel(Channel.Kind fastest) {
        String asked = parameters.get("channel");
        return asked == null ? fastest : Channel.Kind.valueOf(asked.toUpperCase(Locale.ROOT));
    }

    Unsupported unsupported() {
        return new Unsupported(workload + " has no variant " + variant + " in Java");
    }
}
