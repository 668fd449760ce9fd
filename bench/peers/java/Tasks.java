/** Starts threads that end the process when they fail: the others would wait for them for ever. */
final class Tasks {
    @FunctionalInterface
    interface Action {
        void run() throws Exception;
    }

    private Tasks() {}

    static Thread startVirtual(Action action) {
        return Thread.startVirtualThread(() -> guard(action));
    }

    static Thread startPlatform(Action action) {
        return Thread.ofPlatform().start(() -> guard(action));
    }

    /** Does all of it in a virtual thread and waits. */
    static void runVirtual(Action action) throws InterruptedException {
        startVirtual(action).join();
    }

    static void join(Iterable<Thread> threads) throws InterruptedException {
        for (Thread thread : threads) {
            thread.join();
        }
    }

    static void check(boolean right, String what) {
        if (!right) {
            throw new IllegalStateException("wrong result: " + what);
        }
    }

    private static void guard(Action action) {
        try {
            action.run();
        } catch (InterruptedException asked) {
            // An interrupt asks a task to end.
        } catch (Throwable failure) {
            failure.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }
}
