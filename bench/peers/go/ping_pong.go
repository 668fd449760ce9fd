package main

import "runtime"

func init() {
	register("ping-pong", variants{
		"one-domain":      pingPong(task, task),
		"two-domains":     pingPong(task, task),
		"task-and-thread": pingPong(task, thread),
		"two-threads":     pingPong(thread, thread),
	})
}

// A side is how a goroutine runs. Goroutines cannot be placed: two-domains is one-domain with two workers, and
// the scheduler decides.
type side int

const (
	task side = iota
	// A plain OS thread in Go is a goroutine that is locked to its thread: the thread runs nothing else, and
	// the goroutine runs nowhere else. It still needs one of the GOMAXPROCS workers while it runs.
	thread
)

func (s side) begin() {
	if s == thread {
		runtime.LockOSThread()
	}
}

func (s side) end() {
	if s == thread {
		runtime.UnlockOSThread()
	}
}

// In Go, two unbuffered channels make an exchange: a send hands the value to a waiting receiver
// directly and makes it the next goroutine to run on this worker.
func pingPong(pinger, ponger side) workload {
	return func(j job) (*report, error) {
		return measure(j, func(n int) (span, error) {
			there, back := make(chan int), make(chan int)
			go pong(ponger, there, back)

			pinger.begin()
			defer pinger.end()
			sum := 0
			watch := start()
			for i := range n {
				there <- i
				sum += <-back
			}
			took := watch.stop()
			close(there)
			<-back // closed when the other side has ended
			return took, expect("sum of the integers that came back", sum, sumBelow(n))
		}, nanosEach)
	}
}

func pong(s side, there <-chan int, back chan<- int) {
	s.begin()
	defer s.end()
	defer close(back)
	for v := range there {
		back <- v
	}
}
