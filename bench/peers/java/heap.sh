# java, classes, collector, and the arguments of a sample: WORKLOAD MEMORY WORKERS MILLIS [NAME=VALUE...].
#
# Runs the sample in a heap of a size that goes with its memory. The trees have 32 MiB alive at most, at depth 18. The tables of the
# pauses have some 1.0 GiB, and the cache some 0.1.
java=$1 classes=$2 collector=$3
shift 3
case "$1 $2" in
    "heap-trees small") size=96m ;;
    "heap-trees medium") size=160m ;;
    "heap-trees large") size=320m ;;
    "heap-lru small") size=256m ;;
    "heap-lru medium") size=384m ;;
    "heap-lru large") size=768m ;;
    "heap-pauses small") size=1536m ;;
    "heap-pauses medium") size=2g ;;
    "heap-pauses large") size=3g ;;
    *)
        echo "the size of Java's heap is not known for $1 $2" >&2
        exit 3
        ;;
esac
exec "$java" "$collector" "-Xmx$size" -XX:+ExitOnOutOfMemoryError -cp "$classes" Main "$@"
