import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Decides how often to do the work, and measures. */
final class Harness {
    /** Does the work {@code n} times, checks the result and returns the nanoseconds of the work alone. */
    @FunctionalInterface
    interface Body {
        long run(int n) throws Exception;
    }

    /** On one core, where the compiler has to share it, the code is often not ready any sooner. */
    private static final int WARM_UP_RUNS = 4;

    /** Some code is compiled now and then for ever. */
    private static final int WARM_UP_RUNS_AT_MOST = 10;

    private static final OperatingSystemMXBean PROCESS =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private Harness() {}

    /** Warms up, finds how often the body must run for the time asked, and measures one such run. */
    static Measured measure(Job job, Body body) throws Exception {
        long target = TimeUnit.MILLISECONDS.toNanos(job.millis());
        long probe = Math.min(target / 20, TimeUnit.MILLISECONDS.toNanos(10));
        int n = 1;
        long elapsed = body.run(n);
        while (elapsed < probe) {
            n = scaled(n, 4);
            elapsed = body.run(n);
        }
        Compiler compiler = new Compiler(target);
        while (compiler.busy()) {
            n = scaled(n, 1.1 * target / elapsed);
            elapsed = body.run(n);
        }
        while (true) {
            n = scaled(n, 1.1 * target / elapsed);
            double cpu = cpuSeconds();
            elapsed = body.run(n);
            if (elapsed >= 0.9 * target) {
                return new Measured(n, elapsed, cpuSeconds() - cpu);
            }
        }
    }

    /** For work of a given size: repeats it until the time asked is over. An operation is one repetition. */
    static Measured measureWhole(Job job, int size, Body body) throws Exception {
        warmUp(job, size, body);
        long target = TimeUnit.MILLISECONDS.toNanos(job.millis());
        double cpu = cpuSeconds();
        long times = 0;
        long elapsed = 0;
        for (; elapsed < target; times++) {
            elapsed += body.run(size);
        }
        return new Measured(times, elapsed, cpuSeconds() - cpu);
    }

    /** For work of a given size that need not be repeated. Each of its {@code size} parts is an operation. */
    static Measured measureOnce(Job job, int size, Body body) throws Exception {
        warmUp(job, size, body);
        double cpu = cpuSeconds();
        long elapsed = body.run(size);
        return new Measured(size, elapsed, cpuSeconds() - cpu);
    }

    private static void warmUp(Job job, int size, Body body) throws Exception {
        Compiler compiler = new Compiler(TimeUnit.MILLISECONDS.toNanos(job.millis()));
        while (compiler.busy()) {
            body.run(Math.max(size / 100, 1));
        }
    }

    /** Tells whether the code that the measured run will use has been compiled. */
    private static final class Compiler {
        private final long target;
        private final long start = System.nanoTime();
        private long asked = start;
        private long compiled = compiledMillis();

        /** Measured runs are to last {@code target} nanoseconds: as many times that may pass before the first of them. */
        Compiler(long target) {
            this.target = target;
        }

        /** Whether it took more than a hundredth of the time since this was asked last. */
        boolean busy() {
            long now = System.nanoTime();
            long total = compiledMillis();
            boolean busy = TimeUnit.MILLISECONDS.toNanos(total - compiled) > (now - asked) / 100;
            asked = now;
            compiled = total;
            return now - start < WARM_UP_RUNS * target || busy && now - start < WARM_UP_RUNS_AT_MOST * target;
        }

        private static long compiledMillis() {
            return ManagementFactory.getCompilationMXBean().getTotalCompilationTime();
        }
    }

    private static int scaled(int n, double factor) {
        return (int) Math.min(Math.max(Math.ceil(n * factor), 1), Integer.MAX_VALUE);
    }

    /** Processor time of all threads, the collector's and compiler's too; on Linux in steps of 10 ms. */
    static double cpuSeconds() {
        return PROCESS.getProcessCpuTime() / 1e9;
    }

    static long residentBytes() throws IOException {
        return status("VmRSS:");
    }

    static long peakResidentBytes() throws IOException {
        return status("VmHWM:");
    }

    private static long status(String field) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith(field)) {
                String kilobytes = line.substring(field.length(), line.length() - " kB".length());
                return Long.parseLong(kilobytes.strip()) * 1024;
            }
        }
        throw new IOException("/proc/self/status has no " + field);
    }
}
