// Command peer is the Go side of the benchmark: every workload as Go's own documentation would have it written.
//
//	peer [-pull] WORKLOAD VARIANT WORKERS MILLIS [key=value ...]
//
// With -pull the workloads about effects use iter.Pull rather than goroutines and channels.
// It prints one line of JSON. It exits with status 3 when it does not have the workload or the variant, and
// with status 1 when a run fails or its result is wrong.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A workload does one job and reports. A nil report prints nothing.
type workload func(job) (*report, error)

type variants map[string]workload

var workloads = map[string]variants{}

// register is called by the init function of each workload's file, so that a new workload is a new file.
func register(name string, v variants) { workloads[name] = v }

type job struct {
	workers int
	// atLeast is how long a measured run has to last.
	atLeast time.Duration
	params  map[string]string
}

func (j job) text(name string) (string, error) {
	value, ok := j.params[name]
	if !ok {
		return "", fmt.Errorf("the parameter %s is missing", name)
	}
	return value, nil
}

func (j job) count(name string, least int) (int, error) {
	value, err := j.text(name)
	if err != nil {
		return 0, err
	}
	count, err := strconv.Atoi(value)
	if err != nil || count < least {
		return 0, fmt.Errorf("%s=%s is not a number of at least %d", name, value, least)
	}
	return count, nil
}

type figure struct {
	Name  string   `json:"name"`
	Value float64  `json:"value"`
	P99   *float64 `json:"p99"`
}

type report struct {
	Figures    []figure `json:"figures"`
	Operations int      `json:"operations"`
	CPUSeconds float64  `json:"cpu_seconds"`
	RSSBytes   int      `json:"rss_bytes"`
	// The runner compares Checksum with the other systems' results, if it is there.
	Checksum *uint64 `json:"checksum,omitempty"`
}

// A span is the time of the timed part of a run: wall-clock time, and the CPU time of the whole process.
type span struct {
	elapsed, cpu time.Duration
}

type stopwatch struct {
	started time.Time
	cpu     time.Duration
}

// The clock is read inside of the two readings of the CPU time, which are system calls.
func start() stopwatch {
	cpu := cpuTime()
	return stopwatch{time.Now(), cpu}
}

func (s stopwatch) stop() span {
	elapsed := time.Since(s.started)
	return span{elapsed, cpuTime() - s.cpu}
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // Impossible with these arguments.
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// A body sets up untimed, does n operations timed, tears down, and checks the result.
type body func(n int) (span, error)

// A measured run. Values are computed from it.
type measured struct {
	operations int
	span
}

func nanosEach(m measured) float64 { return float64(m.elapsed.Nanoseconds()) / float64(m.operations) }

func perSecond(m measured) float64 { return float64(m.operations) / m.elapsed.Seconds() }

func (m measured) report(figures ...figure) *report {
	return &report{Figures: figures, Operations: m.operations, CPUSeconds: m.cpu.Seconds()}
}

// measure finds out how many operations take as long as the job wants, and measures one run of them.
func measure(j job, run body, value func(measured) float64) (*report, error) {
	n := 16
	enough := min(10*time.Millisecond, j.atLeast/20)
	took, err := run(n)
	for err == nil && took.elapsed < enough {
		n *= 4
		took, err = run(n)
	}
	for err == nil {
		n = max(1, int(float64(n)*1.1*float64(j.atLeast)/float64(took.elapsed)))
		took, err = run(n)
		if err == nil && float64(took.elapsed) >= 0.9*float64(j.atLeast) {
			m := measured{n, took}
			return m.report(figure{Value: value(m)}), nil
		}
	}
	return nil, err
}

// A fixed measurement has a size that is given. After a warm-up at a hundredth of the size, whole runs are
// repeated until they have lasted for atLeast: one run, when that is zero.
type fixed struct {
	size       int
	operations int // of one run
	atLeast    time.Duration
	run        body
	value      func(measured) float64
}

func (f fixed) measure() (*report, error) {
	if _, err := f.run(max(1, f.size/100)); err != nil {
		return nil, err
	}
	var m measured
	for m.operations == 0 || m.elapsed < f.atLeast {
		took, err := f.run(f.size)
		if err != nil {
			return nil, err
		}
		m.operations += f.operations
		m.elapsed += took.elapsed
		m.cpu += took.cpu
	}
	return m.report(figure{Value: f.value(m)}), nil
}

func expect[T int | uint64](what string, got, want T) error {
	if got != want {
		return fmt.Errorf("%s: got %d, want %d", what, got, want)
	}
	return nil
}

// sumBelow is 0 + 1 + ... + n-1, the sum that receivers of these numbers must have.
func sumBelow(n int) int { return n * (n - 1) / 2 }

var errUnsupported = errors.New("not in the Go program")

func execute(args []string) (*report, error) {
	if len(args) > 0 && args[0] == "-pull" {
		byPull = true
		args = args[1:]
	}
	if len(args) < 4 {
		return nil, errors.New("usage: peer [-pull] WORKLOAD VARIANT WORKERS MILLIS [key=value ...]")
	}
	run, ok := workloads[args[0]][args[1]]
	if !ok {
		return nil, fmt.Errorf("%s %s: %w", args[0], args[1], errUnsupported)
	}
	workers, err := strconv.Atoi(args[2])
	if err != nil || workers < 1 {
		return nil, fmt.Errorf("%s is not a number of workers", args[2])
	}
	millis, err := strconv.Atoi(args[3])
	if err != nil || millis < 0 {
		return nil, fmt.Errorf("%s is not a number of milliseconds", args[3])
	}
	params := map[string]string{}
	for _, arg := range args[4:] {
		key, value, ok := strings.Cut(arg, "=")
		if !ok {
			return nil, fmt.Errorf("%s is not key=value", arg)
		}
		params[key] = value
	}
	runtime.GOMAXPROCS(workers)
	return run(job{workers, time.Duration(millis) * time.Millisecond, params})
}

func main() {
	report, err := execute(os.Args[1:])
	if err == nil && report != nil {
		if report.RSSBytes, err = peakResident(); err == nil {
			err = json.NewEncoder(os.Stdout).Encode(report)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "peer:", err)
		if errors.Is(err, errUnsupported) {
			os.Exit(3)
		}
		os.Exit(1)
	}
}

func peakResident() (int, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kilobytes int
	if _, err := fmt.Sscanf(rest, "%d kB", &kilobytes); err != nil {
		return 0, fmt.Errorf("VmHWM in /proc/self/status: %w", err)
	}
	return kilobytes * 1024, nil
}
