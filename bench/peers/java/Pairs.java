import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Many pairs of virtual threads play ping-pong, all together. */
final class Pairs implements Workload {
    @Override
    public Measured measure(Job job) throws Exception {
        int pairs = job.parameter("pairs");
        Channel.Kind kind = job.channel(Channel.Kind.SYNCHRONOUS);
        return Harness.measure(job, n -> play(n, pairs, kind)).perSecond(2);
    }

    private static long play(int n, int pairs, Channel.Kind kind) throws InterruptedException {
        CountDownLatch begin = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        for (int pair = 0; pair < pairs; pair++) {
            int trips = n / pairs + (pair < n % pairs ? 1 : 0);
            Channel there = kind.open();
            Channel back = kind.open();
            threads.add(Tasks.startVirtual(() -> {
                for (int i = 0; i < trips; i++) {
                    back.send(there.receive());
                }
            }));
            threads.add(Tasks.startVirtual(() -> {
                begin.await();
                for (int i = 0; i < trips; i++) {
                    there.send(i);
                    Tasks.check(back.receive() == i, "the number that came back");
                }
            }));
        }
        long start = System.nanoTime();
        begin.countDown();
        Tasks.join(threads);
        return System.nanoTime() - start;
    }
}
