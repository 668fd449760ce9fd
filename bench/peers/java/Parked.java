import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Many tasks wait at one channel. The figure is the memory that each of them takes. */
final class Parked implements Workload {
    private static volatile byte[] garbage;

    @Override
    public Measured measure(Job job) throws Exception {
        Channel.Kind kind = job.channel(Channel.Kind.SYNCHRONOUS);
        AtomicLong grown = new AtomicLong();
        touchYoungGeneration();
        Measured measured = Harness.measureOnce(job, job.parameter("tasks"), tasks -> {
            long start = System.nanoTime();
            grown.set(park(tasks, kind.open()));
            return System.nanoTime() - start;
        });
        return measured.figure((double) grown.get() / measured.operations());
    }

    private static long park(int tasks, Channel channel) throws Exception {
        AtomicLong total = new AtomicLong();
        List<Thread> threads = new ArrayList<>(tasks);
        long before = collectedBytes();
        for (int i = 0; i < tasks; i++) {
            threads.add(Tasks.startVirtual(() -> total.addAndGet(channel.receive())));
        }
        for (Thread thread : threads) {
            while (thread.getState() != Thread.State.WAITING) {
                Thread.sleep(1);
            }
        }
        long after = collectedBytes();
        for (int i = 0; i < tasks; i++) {
            channel.send(1);
        }
        Tasks.join(threads);
        Tasks.check(total.get() == tasks, "the number of tasks");
        return after - before;
    }

    private static long collectedBytes() throws Exception {
        System.gc();
        return Harness.residentBytes();
    }

    /** The collector keeps the young generation's pages. Used before, they do not count as growth. */
    private static void touchYoungGeneration() {
        long before = collections();
        while (collections() < before + 2) {
            garbage = new byte[1 << 16];
        }
    }

    private static long collections() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
                .mapToLong(GarbageCollectorMXBean::getCollectionCount)
                .sum();
    }
}
