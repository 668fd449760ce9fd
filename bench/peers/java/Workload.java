/** One piece of work to measure; its class is named after it. */
interface Workload {
    Measured measure(Job job) throws Exception;

    /** How many platform threads carry the virtual ones. */
    default int carriers(Job job) {
        return job.workers();
    }
}
