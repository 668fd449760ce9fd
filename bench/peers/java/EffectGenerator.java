import java.util.function.LongConsumer;

/** A virtual thread walks a tree, and is parked after each of its numbers. */
final class EffectGenerator implements Workload {
    private record Node(Node left, long value, Node right) {
        static Node balanced(long first, long count) {
            if (count == 0) {
                return null;
            }
            long before = (count - 1) / 2;
            Node left = balanced(first, before);
            return new Node(left, first + before, balanced(first + before + 1, count - 1 - before));
        }
    }

    @Override
    public Measured measure(Job job) throws Exception {
        int nodes = job.parameter("nodes");
        Node tree = Node.balanced(1, nodes);
        Node small = Node.balanced(1, nodes / 100);
        Measured measured = Harness.measureWhole(job, nodes, size -> {
            long[] elapsed = new long[1];
            Tasks.runVirtual(() -> {
                long start = System.nanoTime();
                long sum = sum(size == nodes ? tree : small);
                elapsed[0] = System.nanoTime() - start;
                Tasks.check(sum == (long) size * (size + 1) / 2, "the sum of the tree");
            });
            return elapsed[0];
        });
        return measured.figure((double) measured.nanoseconds() / measured.operations() / nodes);
    }

    private static long sum(Node tree) {
        Asking<Long, Void> values = new Asking<>(emit -> walk(tree, emit::apply));
        long sum = 0;
        while (values.resume(null)) {
            sum += values.question();
        }
        return sum;
    }

    private static void walk(Node tree, LongConsumer emit) {
        if (tree != null) {
            walk(tree.left(), emit);
            emit.accept(tree.value());
            walk(tree.right(), emit);
        }
    }
}
