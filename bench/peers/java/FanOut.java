import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** One producer, many consumers that receive from one queue. */
final class FanOut implements Workload {
    @Override
    public Measured measure(Job job) throws Exception {
        Channel.Kind kind = switch (job.variant()) {
            case "rendezvous" -> job.channel(Channel.Kind.SYNCHRONOUS);
            case "buffered" -> job.channel(Channel.Kind.BUFFERED);
            default -> throw job.unsupported();
        };
        int consumers = job.parameter("consumers");
        return Harness.measure(job, n -> send(n, consumers, kind.open())).perSecond(1);
    }

    private static long send(int n, int consumers, Channel channel) throws InterruptedException {
        AtomicLong total = new AtomicLong();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < consumers; i++) {
            threads.add(Tasks.startVirtual(() -> total.addAndGet(consume(channel))));
        }
        AtomicLong start = new AtomicLong();
        threads.add(Tasks.startVirtual(() -> {
            start.set(System.nanoTime());
            for (int i = 0; i < n; i++) {
                channel.send(i);
            }
            for (int i = 0; i < consumers; i++) {
                channel.send(Channel.END);
            }
        }));
        Tasks.join(threads);
        long elapsed = System.nanoTime() - start.get();
        Tasks.check(total.get() == (long) n * (n - 1) / 2, "the sum of the messages");
        return elapsed;
    }

    private static long consume(Channel channel) throws InterruptedException {
        long sum = 0;
        for (long value = channel.receive(); value != Channel.END; value = channel.receive()) {
            sum += value;
        }
        return sum;
    }
}
