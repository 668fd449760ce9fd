// README: `javac -d OUT *.java`, then
// `java -XX:+UseParallelGC -cp OUT Main WORKLOAD VARIANT WORKERS MILLIS [key=value ...]`, of Java 21 or
// later. Workers are the carriers of virtual threads; the program itself sets how many there are.

import java.util.Arrays;
import java.util.stream.Collectors;

/** Java's virtual threads and java.util.concurrent: takes one sample and answers with a line of JSON. */
final class Main {
    public static void main(String[] arguments) throws Exception {
        Job job = Job.parse(arguments);
        try {
            Workload workload = find(job);
            limitCarriers(workload.carriers(job));
            System.out.println(workload.measure(job).json());
        } catch (Unsupported reason) {
            System.err.println(reason.getMessage());
            System.exit(3);
        }
    }

    /** The class of a workload has its name: {@code ping-pong} is {@code PingPong}. */
    private static Workload find(Job job) throws ReflectiveOperationException {
        String name = Arrays.stream(job.workload().split("-"))
                .map(word -> word.substring(0, 1).toUpperCase() + word.substring(1))
                .collect(Collectors.joining());
        try {
            return (Workload) Class.forName(name).getDeclaredConstructor().newInstance();
        } catch (ClassNotFoundException | ClassCastException | NoClassDefFoundError unknown) {
            throw new Unsupported("Java has no program for the workload " + job.workload());
        }
    }

    /** The scheduler reads these when the first virtual thread is made, so they overrule flags. */
    private static void limitCarriers(int carriers) {
        System.setProperty("jdk.virtualThreadScheduler.parallelism", Integer.toString(carriers));
        System.setProperty("jdk.virtualThreadScheduler.maxPoolSize", Integer.toString(carriers));
    }
}
