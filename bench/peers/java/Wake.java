import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** How long it takes a message of a plain thread to wake a task whose carrier has nothing else to do. */
final class Wake implements Workload {
    private static final long IDLE = TimeUnit.MICROSECONDS.toNanos(50);

    @Override
    public int carriers(Job job) {
        return 1;
    }

    @Override
    public Measured measure(Job job) throws Exception {
        Channel.Kind kind = job.channel(Channel.Kind.SYNCHRONOUS);
        long[][] latencies = new long[1][];
        Measured measured = Harness.measure(job.longer(3), n -> {
            latencies[0] = new long[n];
            return wake(latencies[0], kind.open());
        });
        Arrays.sort(latencies[0]);
        double p99 = quantile(latencies[0], 0.99);
        return measured.figures(List.of(
                new Measured.Figure("p50", quantile(latencies[0], 0.5), p99),
                new Measured.Figure("p99", p99, p99),
                new Measured.Figure("p99.9", quantile(latencies[0], 0.999), p99)));
    }

    private static long wake(long[] latencies, Channel channel) throws InterruptedException {
        AtomicInteger received = new AtomicInteger();
        Thread task = Tasks.startVirtual(() -> {
            for (int i = 0; i < latencies.length; i++) {
                long sent = channel.receive();
                latencies[i] = System.nanoTime() - sent;
                received.set(i + 1);
            }
        });
        long start = System.nanoTime();
        for (int i = 0; i < latencies.length; i++) {
            channel.send(System.nanoTime());
            while (received.get() <= i) {
                Thread.onSpinWait();
            }
            for (long idle = System.nanoTime(); System.nanoTime() - idle < IDLE; ) {
                Thread.onSpinWait();
            }
        }
        long elapsed = System.nanoTime() - start;
        task.join();
        return elapsed;
    }

    private static double quantile(long[] sorted, double part) {
        return sorted[(int) (part * (sorted.length - 1))];
    }
}
