import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** A run that was long enough, and its figures. */
record Measured(long operations, long nanoseconds, double cpuSeconds, List<Figure> figures, Long checksum) {
    record Figure(String name, double value, Double p99) {
        private String json() {
            String form = "{\"name\":\"%s\",\"value\":%.3f,\"p99\":%s}";
            return String.format(Locale.ROOT, form, name, value, p99);
        }
    }

    Measured(long operations, long nanoseconds, double cpuSeconds) {
        this(operations, nanoseconds, cpuSeconds, List.of(), null);
    }

    Measured perOperation() {
        return figure((double) nanoseconds / operations);
    }

    /** How many a second, where an operation stands for {@code each}. */
    Measured perSecond(int each) {
        return figure(operations * each * 1e9 / nanoseconds);
    }

    Measured figure(double value) {
        return figures(List.of(new Figure("", value, null)));
    }

    Measured figures(List<Figure> values) {
        return new Measured(operations, nanoseconds, cpuSeconds, values, checksum);
    }

    /** Adds the checksum, which the runner compares with the other systems'. */
    Measured checksum(long result) {
        return new Measured(operations, nanoseconds, cpuSeconds, figures, result);
    }

    String json() throws IOException {
        String form = "{\"figures\":[%s],\"operations\":%d,\"cpu_seconds\":%.6f,\"rss_bytes\":%d%s}";
        String list = figures.stream().map(Figure::json).collect(Collectors.joining(","));
        String sum = checksum == null ? "" : ",\"checksum\":" + checksum;
        return String.format(Locale.ROOT, form, list, operations, cpuSeconds, Harness.peakResidentBytes(), sum);
    }
}
