import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/** A number goes to a partner and comes back, over a channel for each direction. */
final class PingPong implements Workload {
    /** The partner on a virtual thread has the only carrier to itself. */
    @Override
    public int carriers(Job job) {
        return job.variant().equals("task-and-thread") ? 1 : job.workers();
    }

    /** On one carrier spinning is in vain; between two, the exchanger's spinning saves most of the sleeps. */
    @Override
    public Measured measure(Job job) throws Exception {
        boolean alone = job.variant().equals("one-domain");
        Channel.Kind kind = job.channel(alone ? Channel.Kind.SYNCHRONOUS : Channel.Kind.EXCHANGER);
        return switch (job.variant()) {
            case "one-domain", "two-domains" -> measure(job, kind, Tasks::startVirtual, Tasks::startVirtual);
            case "task-and-thread" -> measure(job, kind, Tasks::startVirtual, Tasks::startPlatform);
            case "two-threads" -> measure(job, kind, Tasks::startPlatform, Tasks::startPlatform);
            default -> throw job.unsupported();
        };
    }

    private static Measured measure(Job job, Channel.Kind kind, Function<Tasks.Action, Thread> startPartner,
            Function<Tasks.Action, Thread> startSelf) throws Exception {
        return Harness.measure(job, n -> {
            Channel there = kind.open();
            Channel back = kind.open();
            AtomicLong elapsed = new AtomicLong();
            Thread partner = startPartner.apply(() -> answer(n, there, back));
            Thread self = startSelf.apply(() -> elapsed.set(ask(n, there, back)));
            self.join();
            partner.join();
            return elapsed.get();
        }).perOperation();
    }

    private static void answer(int n, Channel there, Channel back) throws InterruptedException {
        for (int i = 0; i < n; i++) {
            back.send(there.receive());
        }
    }

    private static long ask(int n, Channel there, Channel back) throws InterruptedException {
        long start = System.nanoTime();
        for (int i = 0; i < n; i++) {
            there.send(i);
            Tasks.check(back.receive() == i, "the number that came back");
        }
        return System.nanoTime() - start;
    }
}
