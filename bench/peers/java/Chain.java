import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Numbers go from a producer through relays to a consumer, each a virtual thread. */
final class Chain implements Workload {
    @Override
    public Measured measure(Job job) throws Exception {
        Channel.Kind kind = switch (job.variant()) {
            case "rendezvous" -> job.channel(Channel.Kind.SYNCHRONOUS);
            case "buffered" -> job.channel(Channel.Kind.BUFFERED);
            default -> throw job.unsupported();
        };
        int relays = job.parameter("relays");
        return Harness.measure(job, n -> send(n, relays, kind)).perSecond(relays + 1);
    }

    private static long send(int n, int relays, Channel.Kind kind) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        Channel first = kind.open();
        Channel last = first;
        for (int i = 0; i < relays; i++) {
            Channel from = last;
            Channel to = kind.open();
            threads.add(Tasks.startVirtual(() -> relay(from, to)));
            last = to;
        }
        Channel from = last;
        AtomicLong start = new AtomicLong();
        AtomicLong end = new AtomicLong();
        threads.add(Tasks.startVirtual(() -> {
            consume(n, from);
            end.set(System.nanoTime());
        }));
        threads.add(Tasks.startVirtual(() -> {
            start.set(System.nanoTime());
            produce(n, first);
        }));
        Tasks.join(threads);
        return end.get() - start.get();
    }

    private static void produce(int n, Channel to) throws InterruptedException {
        for (int i = 0; i < n; i++) {
            to.send(i);
        }
        to.send(Channel.END);
    }

    private static void relay(Channel from, Channel to) throws InterruptedException {
        long value;
        do {
            value = from.receive();
            to.send(value);
        } while (value != Channel.END);
    }

    private static void consume(int n, Channel from) throws InterruptedException {
        long sum = 0;
        for (long value = from.receive(); value != Channel.END; value = from.receive()) {
            sum += value;
        }
        Tasks.check(sum == (long) n * (n - 1) / 2, "the sum of the messages");
    }
}
